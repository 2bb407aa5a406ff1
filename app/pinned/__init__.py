"""Pinned answers: questions whose answers are kept in the sidebar, and found again by themselves.

    question → compute → rows → store            when it is pinned
    index has changed, or midnight → compute → store → changes → the sidebar

    answer    The values: a pinned answer, its rows, an answer of a model.
    answers   The use-cases: pin, find again, look at, rename, move, remove.
    block     Write a pinned answer as a marked block of a note; find such blocks.
    changes   Compare rows with those that were last looked at.
    compute   Understand a question, and find its rows in the index without a model.
    model_answers
              Pin an answer of a chat; what has changed in the sources of a model's answer.
    notes     Write pinned answers into the vault, after approval.
    store     The file of pinned answers of each vault.

This package may import the other packages of app, chains, context, vault and
`resources.system.files`. Nothing in it calls a model or loads one. Pins of messages and sources in
a chat are another thing, and in `context.history.pins`.
"""

__all__ = ["answer", "answers", "block", "changes", "model_answers", "notes"]
