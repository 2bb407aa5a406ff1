"""Context rehearsal: ask again what an answer answered, without some of what the model saw.

    kept request ─ without parts ─ calls ─→ answer ─ sentences ─→ which sentences fell or changed
                        ↑                                              │
                        └──────────── plan: what to leave out next ←───┘

    sentences   Match the sentences of two answers, and say which of them differ.
    sources     Find which sources may carry a sentence: cited, or matched by its words.
    plan        Choose what to leave out next: notes in groups, then alone, then passages.
    table       What came of it: the ranked sources, and which source carried which sentence.
    calls       Send a kept request once more, without some parts.

The plan and the table are pure functions of the answers so far, so that a rehearsal that was
stopped continues where it was. What varies between two unchanged answers counts as noise.

This package may import `chains.claims`, `chains.citations`, `chains.request`, `chains.llm`,
`chains.providers`, `chains.events`, `chains.errors`, context and vault.
"""

__all__ = ["calls", "plan", "sentences", "table"]
