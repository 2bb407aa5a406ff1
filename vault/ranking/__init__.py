"""Ranking: the terms of a query, the scores of passages and notes, and their fusion.

    query → terms → keyword_scores (passages, whole notes) ─┐
                    cosines of the passages ────────────────┴→ fusion → scores from 0 to 1

    fitting         Choose the ranking weights for a vault, with questions built from its notes.
    fusion          Fuse the scores by words, by meaning and of whole notes; `RankingWeights`.
    keyword_scores  Score passages or whole notes by words: BM25 with Lucene's idf.
    questions       Build questions with known answers from a vault's notes.
    terms           Choose the terms of a query, with their weights.
    titles          Compare a query with the names of notes and with headings.

This package may import `vault.catalog`, `vault.embedding_versions`, `vault.records` and
`vault.notes`.
"""

__all__ = ["fitting", "fusion", "keyword_scores", "questions", "terms", "titles"]
