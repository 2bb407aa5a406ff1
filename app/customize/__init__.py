"""The user's customization of every turn: prompts, instructions and hooks.

    customization  Collect the user's prompts, the instructions and the hooks for a turn.
    hooks          Load hooks from installed packages and from the user's own files.

May import: `app.config`, `app.library`, chains, context. Always holds: no code runs from a folder
of notes.
"""

__all__ = ["customization", "hooks"]
