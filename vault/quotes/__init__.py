"""The parts of search that only quotations need, which no model reads before they are shown.

- `spelling`: corrects the spelling of a query, using the words in the notes.
- `sections`: measures how well passages support an answer, and finds the passages around them.
- `lines`: chooses the lines of a passage that show best why it matches a query.

This package may import `vault.catalog`, `vault.embedding` and `vault.notes`.
"""

__all__ = ["lines", "sections", "spelling"]
