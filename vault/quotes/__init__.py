"""Search steps for quoted answers, which need no model.

- `spelling`: corrects the spelling of a query, using the words in the notes.
- `sections`: measures how well passages support an answer, and finds the passages around them.

This package may import `vault.catalog`, `vault.embedding` and `vault.notes`.
"""

__all__ = ["sections", "spelling"]
