"""The list of chats in the sidebar.

    sessions  The chats, grouped by when they were last used.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`.
"""
