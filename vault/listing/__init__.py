"""List everything that matches a query, page by page.

    notes   List every note that matches a query, one line per note.
    tasks   List every task that matches a query.
    inventory  List the files of a part of a vault with their versions, for work on every note.
    hidden_notes  List the notes that models may not read now, to find what a chat holds of them.

This package may import `vault.access`, `vault.catalog`, `vault.coverage`, `vault.errors`,
`vault.notes`, `vault.paths`, `vault.quotes`, `vault.records`, `vault.scan`, `vault.scope` and
`vault.search`.
A search returns the passages that match best, and a listing returns all.
"""

__all__ = ["hidden_notes", "inventory", "notes"]
