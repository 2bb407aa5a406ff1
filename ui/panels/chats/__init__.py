"""The lists of chats and projects in the sidebar.

    session summaries ──> chats_model ──> sessions ──signal──> controllers
    projects ───────────> projects (model and tree) ────┘

    chats_model  The rows of the list of chats: headings, chats, and the hits of a search.
    projects  The list of projects.
    save_note The dialog that asks for a new note's name and folder.
    sessions  The list of chats, grouped by the time of their last use.

This package may import PySide6, `ui.widgets`, `ui.theme`, `ui.icons`, and the value types of `app`.
"""

__all__ = ["chats_model", "projects", "save_note", "sessions"]
