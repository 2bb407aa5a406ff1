"""The user's customization of turns: prompts, instructions and hooks.

    customization  Collect the user's prompts, instructions and hooks for a turn.
    memory         The note with the user's long-term memories.
    hooks          Load hooks from installed packages and from the user's own files.

May import: `app.config`, `app.library`, chains, context. Invariant: no code in a folder
of notes is run.
"""

__all__ = ["customization", "hooks", "memory"]
