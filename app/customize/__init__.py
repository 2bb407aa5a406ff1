"""The user's customization of turns: prompts, commands, instructions and hooks.

    customization  Collect the user's prompts, instructions and hooks for a turn.
    memory         The note with the user's long-term memories.
    commands       The user's own commands: Markdown files with a message to send.
    skills         Folders that tell an agent how to do a certain task.
    hooks          Load hooks from installed packages and from the user's own files.

This package may import `app.config`, `app.library`, `resources.system`, `app.errors`, `app.paths`,
chains, context and vault. It never runs code from a vault.
"""

__all__ = ["commands", "customization", "hooks", "memory", "skills"]
