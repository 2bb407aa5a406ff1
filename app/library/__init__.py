"""The open vault: its notes and index, attachments, and instructions for models.

    library       A vault with its index: update, search, read, watch.
    open_vault    The open vault, one at a time.
    projects      Projects: folders with their own instructions, patterns, model and memory.
    project_notes The notes of a project: a part of the vault, or an index of its own.
    attachments   Convert attachments to segments, and detect later changes of their files.
    edits         The edits of notes by models: their tools, their journal, undo.
    instructions  The vault's AGENTS.md with the user's decision about it.
    long_texts    Convert a message that is too long to a file, or split it.
    user_texts    The user's instructions and long-term memories, one file for each.

May import: `app.config`, `app.paths`, chains, vault. A vault is written to by `edits` alone.
"""

__all__ = [
    "attachments",
    "edits",
    "instructions",
    "library",
    "long_texts",
    "open_vault",
    "project_notes",
    "projects",
    "user_texts",
]
