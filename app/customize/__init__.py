"""What the user adds to every turn: prompts, instructions and hooks.

    customization  What the user adds to each turn: prompts, instructions, the AGENTS.md of the
                   notes, hooks.
    hooks          Hooks: code of installed packages and of the user that is asked about each
                   turn.
    prompts        Prompts of the user's own, each in a file that takes the place of the one that
                   is shipped.

May import: `app.config`, `app.library`, chains, context.
"""
