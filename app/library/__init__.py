"""The open vault: its notes and index, attachments, and instructions for models.

    library       A folder of notes with its index: update, search, read, watch.
    open_vault    The folder that is open, one at a time.
    attachments   Resolve what the user attaches to segments, and what changed of it since.
    instructions  The user's instructions, and the AGENTS.md of the notes with the user's decision.
    long_texts    Turn a message that is too long into a file to attach, or into several messages.

May import: `app.config`, `app.paths`, chains, vault. Always holds: a vault is read, never written.
"""

__all__ = ["attachments", "instructions", "library", "long_texts", "open_vault"]
