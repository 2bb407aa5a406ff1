"""Rules that exclude notes from the index and from models.

    obsidian  A vault's Obsidian settings, including "Excluded files".
    rules     The rules of a vault: the user's patterns, and Obsidian's filters.

This package may import `vault.notes` and `vault.errors`.
"""

__all__ = ["obsidian", "rules"]
