"""Ranking: the terms of a query, the scores of passages and notes, and their fusion.

    query → terms → keyword_scores (passages, whole notes) ─┐
                    cosines of the passages ────────────────┴→ fusion → scores from 0 to 1

    fitting         Choose the ranking weights for a vault, with questions built from its notes.
    fusion          Fuse keyword, semantic and whole-note scores; `RankingWeights`.
    keyword_scores  Compute keyword scores of passages or whole notes: BM25 with Lucene's idf.
    questions       Build questions with known answers from a vault's notes.
    terms           Choose the terms of a query, with their weights.
    titles          Compare a query with the names of notes and with headings.

This package may import `vault.catalog`, `vault.embedding_versions`, `vault.records` and
`vault.notes`.
"""

__all__ = ["fitting", "fusion", "keyword_scores", "questions", "terms", "titles"]
