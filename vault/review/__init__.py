"""Review: find notes that need care, by rules and without a model.

    review ──> duplicates, contradictions, outdated ──> figures, texts, findings

    contradictions  Find pairs of notes that say the same with another figure.
    duplicates      Find pairs of notes that have most of their text in common.
    figures         Find the statements with figures in a line of text.
    findings        What a review offers: a finding, its two notes, and its reason.
    outdated        Find notes that were not changed since the notes they rest on changed.
    review          Run all rules over the notes of an index: `review_notes`.
    texts           Read the notes of a catalog as lines of prose and as words.

The rules prefer few findings that are worth a look to many. The running time is proportional to
the length of the notes: only notes that share rare words, rare sequences of words or a link are
compared. Nothing is written.

May import: `vault.catalog`, `vault.records`, `vault.notes`, `vault.errors`.
"""

__all__ = ["findings", "review"]
