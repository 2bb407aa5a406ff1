"""Which notes are excluded, and by which rule.

    obsidian  Obsidian's settings of a vault, and its "Excluded files".
    rules     The rules of a vault: the user's patterns, and Obsidian's filters.

May import: `vault.notes`, `vault.errors`.
"""

__all__ = ["obsidian", "rules"]
