"""Controllers for actions on whole chats, and on the versions of an answer.

    list of chats, header ──signal──> actions, bin ──task──> app.sessions
    message, header ────signal──> save_note ──task──> app.assistant.user_edits

    list of projects ──signal──> projects ──task──> app.library.projects

    actions     Search, rename, pin, archive and export.
    bin         Delete chats with undo, restore them, and empty the bin.
    compaction  Preview a compaction of the open chat, and let the user edit its summary.
    projects    List, open, rename and remove projects.
    save_note   Save a chat or an answer as a note, in a folder that the user confirms.
    quick_ask   A small window for a quick question, opened from the tray or by a command.
    rehearsal   Ask again without some of what the model saw.
    versions    Compare two versions of an answer, or have another model answer too.

This package may import the same packages as `ui.controllers`, and `ui.controllers`.
"""

__all__ = [
    "actions",
    "bin",
    "compaction",
    "projects",
    "quick_ask",
    "rehearsal",
    "save_note",
    "versions",
]
