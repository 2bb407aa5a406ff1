"""Which notes are excluded, and by which rule.

    ignore_filters  Obsidian's "Excluded files", with bounds for those that come with somebody
                    else's vault.
    obsidian        What `.obsidian/app.json` says about a vault: read, never written.
    patterns        Exclude patterns, written as in a `.gitignore` file.
    rules           What keeps files out by their names: the user's patterns, and Obsidian's
                    filters.

May import: the standard library and `vault.errors`.
"""
