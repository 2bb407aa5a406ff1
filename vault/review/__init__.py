"""Review: find notes that need attention, by rules and without a model.

    review ──> contradictions, duplicates, faults, links, neglect, outdated ──> texts, findings

    comparison      Compare two notes line by line and word by word, for reading side by side.
    contradictions  Find pairs of notes that state different figures for the same thing.
    disagreement    Decide whether two sentences state different figures or days of one thing.
    duplicates      Find pairs of notes that have most of their text in common, or one title.
    faults          Find notes in which Git has left two versions of lines, or of whose front matter
                    something is lost.
    findings        The results of a review: a finding with its notes and its reason.
    links           Find links and embeds that lead nowhere, and notes without links.
    neglect         Find overdue tasks, and drafts that were not changed for a year.
    outdated        Find notes that have not changed since their sources changed.
    review          Run all rules over the notes of an index: `review_notes`.
    statements      Find the sentences of a line that state quantities.
    texts           Read the notes of a catalog as lines of prose and as words.

Answers also use `disagreement`. The rules return only what is worth a look. Only notes that share
rare words, rare sequences of words or a link are compared, so the running time is proportional to
the length of the notes. Nothing is written.

This package may import `vault.catalog`, `vault.records`, `vault.notes`, `vault.exclude` and
`vault.errors`.
"""

__all__ = ["comparison", "disagreement", "findings", "review", "statements"]
