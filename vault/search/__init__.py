"""Search: from a query to ranked hits.

    query → filters → vault.ranking (keywords) and exact (vectors) → search (fuses) → boosts
          → staleness → hits → rerank → excerpts

    adhoc      Search texts that are not indexed, such as a note that is too large to be sent, or
               the pages that a project keeps.
    boosts     Boost passages of notes whose names, tags, folders, days or links match a query.
    conditions The conditions of a query on notes, and the notes that fulfil them.
    copies     Rank the copies of notes behind their originals.
    exact      Find the nearest passages by an exact scan of the catalog's vectors.
    excerpts   Cut long passages to the few sentences that match a query.
    explain    Explain why a note is or is not among the hits.
    filter_kinds  The table of filters: how each is read, fulfilled and described.
    filters    Choose the passages to search, by a query's filters and a scope.
    grep       Find lines and links in the notes on disk, without the index.
    hits       The hits of a search.
    metadata   Read the names, headings and dates of passages.
    passages   Read a catalog's passages by hash and by id.
    query      Parse the text of a query into words, phrases and filters.
    related    Find the notes related to a note, by semantic similarity or links.
    rerank     Rerank the best passages with a cross-encoder.
    search     Combine keyword search and semantic search.
    selftest   Measure how well a vault's notes are found. An idle `Vault` fits its ranking
               with it.
    task_tags  Tell which tasks have a tag: their own, or that of their note.
    staleness  Check the passages that were found against the notes on disk.

This package may import all of vault except `vault.vault` and `vault.indexing`.
"""

__all__ = [
    "adhoc",
    "conditions",
    "exact",
    "excerpts",
    "explain",
    "filter_kinds",
    "filters",
    "grep",
    "hits",
    "metadata",
    "passages",
    "query",
    "related",
    "rerank",
    "search",
    "selftest",
    "staleness",
    "task_tags",
]
