"""The list of chats in the sidebar.

    session summaries ──> sessions (model and tree) ──signal──> controllers

    sessions  The list of chats, grouped by the time of their last use.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`.
"""

__all__ = ["sessions"]
