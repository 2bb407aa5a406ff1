"""Keep what is stored by the path of a folder when the folder gets another path.

    folder was moved ──→ files (copied to their new names) ──→ folders (the move is recorded)

    files    Carry over pinned answers, dismissed findings, and projects with their pages.
    folders  Remember the new paths of folders, and find a folder by a former path.
    merge    Merge lists, lines and patterns, whose entries are independent.

A folder is known to be moved if its index was taken over, or if the user said so when restoring a
backup. What is stored is never overwritten: two files with the same name are merged, or both stay.
It stays under the former path too, unless the folder itself was renamed on its drive: a vault that
comes back with its drive has lost nothing.

This package may import `app.errors`, `app.paths` and `resources.system`.
"""

__all__ = ["files", "folders", "merge"]
