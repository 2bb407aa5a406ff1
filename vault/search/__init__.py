"""Search: from a query to ranked hits.

    query → scope → passages (keywords) and exact (vectors) → search (fuses) → boosts
          → staleness → hits → rerank → excerpts

    adhoc      Search texts that are not indexed, such as a note that is too large to be sent.
    boosts     Boosts for notes whose names, tags, folders, days or links a query names.
    exact      Find the nearest passages by an exact scan of the catalog's vectors.
    excerpts   Cut long passages to the few sentences that a query is about.
    explain    Explain why a note is or is not among the hits.
    grep       Find lines and links in the notes on disk, without the index.
    hits       The hits of a search.
    listing    List every note that matches a query, in pages.
    passages   Read passages of a catalog by keywords, hashes and ids.
    query      Parse the text of a query into words, phrases and filters.
    related    Find the notes related to a note by meaning or links.
    rerank     Rerank the best passages with a cross-encoder.
    scope      Apply a query's filters.
    search     Search by keywords and by vectors, and fuse both.
    selftest   Measure how well searching a vault finds its own notes.
    staleness  Check the found passages against the notes on disk.

May import: everything of vault but `vault.index` and `vault.indexing`.
"""

__all__ = [
    "adhoc",
    "exact",
    "excerpts",
    "explain",
    "grep",
    "hits",
    "listing",
    "passages",
    "query",
    "related",
    "rerank",
    "scope",
    "search",
    "selftest",
    "staleness",
]
