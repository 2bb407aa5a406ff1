"""Keep what is stored by the path of a folder when the folder gets another path.

    folder was moved ──→ stored_files (moved to their new names) ──→ moved_folders (recorded)

    moved_folders  Remember the new paths of folders, and find a folder by a former path.
    stored_files   Move pinned answers, dismissed findings, and projects with their pages.
    merge          Merge lists and lines of files whose entries are independent.

A folder is known to be moved if its index was taken over, or if the user said so when restoring a
backup. What is stored is never overwritten: two files with the same name are merged, or both stay.

This package may import `app.errors`, `app.paths` and `resources.system`.
"""

__all__ = ["merge", "moved_folders", "stored_files"]
