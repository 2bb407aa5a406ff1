"""List everything that matches a query, page by page.

    notes   List every note that matches a query, one line per note.
    tasks   List every task that matches a query.

This package may import `vault.catalog`, `vault.coverage`, `vault.notes`, `vault.quotes`,
`vault.scope` and `vault.search`. A search returns the passages that match best, and a listing
returns all.
"""

__all__ = ["notes"]
