"""The lists of chats and of projects in the sidebar.

    session summaries ──> sessions (model and tree) ──signal──> controllers
    projects ───────────> projects (model and tree) ────┘

    note      The dialog that asks for a new note's name and folder.
    projects  The list of projects.
    sessions  The list of chats, grouped by the time of their last use.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`.
"""

__all__ = ["note", "projects", "sessions"]
