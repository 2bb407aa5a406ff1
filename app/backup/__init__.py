"""Back up what Strata has stored, and restore it on the same or another machine.

    folders of Strata ── contents ──→ archive (a ZIP file) ──→ restore ──→ folders of Strata

    contents         The files that belong in a backup, and where each of them lies.
    archive          Write an archive, and read it after all of it was checked.
    restore          Put files back. What exists is kept, and merged if possible.
    merge            Merge files with independent entries: memories, the journal of edits, pins.
    missing_folders  Find the folders that this computer does not have, and place them.
    text_copies      Merge the copies of settings and memories that a sync program made.

A backup has neither API keys, which are in the system's keyring, nor the index, which is built anew
from the notes, nor the notes themselves. Nothing that exists is ever overwritten: a file that
differs and cannot be merged is put into a folder of its own.

This package may import `app.config`, `resources.system`, `app.errors`, `app.library`,
`app.line_file`, `app.paths`, `app.relocation`, `app.sessions`, `app.state_db`, `chains.cancel`,
`context.fixes`, `vault.edits`, `vault.errors` and `vault.paths`.
"""

__all__ = ["archive", "contents", "merge", "missing_folders", "restore", "text_copies"]
