"""Review: find notes that need attention, by rules and without a model.

    review ──> duplicates, contradictions, faults, outdated ──> statements, texts, findings

    contradictions  Find pairs of notes that state different numbers for the same thing.
    duplicates      Find pairs of notes that have most of their text in common.
    faults          Find notes in which Git has left two versions of lines, or of whose front matter
                    something is lost.
    findings        The results of a review: a finding with its notes and its reason.
    outdated        Find notes that have not changed since their sources changed.
    review          Run all rules over the notes of an index: `review_notes`.
    statements      Find the sentences of a line that state quantities.
    texts           Read the notes of a catalog as lines of prose and as words.

The rules return only a few findings that are worth a look. Only notes that share rare words, rare
sequences of words or a link are compared, so the running time is proportional to the length of the
notes. Nothing is written.

This package may import `vault.catalog`, `vault.records`, `vault.notes`, `vault.exclude` and
`vault.errors`.
"""

__all__ = ["findings", "review", "statements"]
