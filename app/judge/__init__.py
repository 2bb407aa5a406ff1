"""Exhaustive answers: every note of a scope gets a verdict on a question, and the sum is proven.

    question, scope ──→ judging ──→ sorting: rules, stored verdicts, what is left
                           │              ↓
                           └──→ run: blocks of what is left, three at a time ──→ store
                                          ↓
                                       table: rows, counts, coverage ──→ Markdown, CSV

    judging  The use-cases: plan, judge, read the table, save it as a note.
    run      Judge what is left with a model: in parallel, pausable, stored call by call.
    sorting  Sort the notes of a scope by what decides about them; draw a sample of the judged ones.
    store    The file of the verdicts of a question, which survives a kill.
    kept     The stored verdicts on all questions: list and forget them.
    table    The values: rows, counts, cost, progress; the table as Markdown and CSV.

A table is a function of the notes, the rules and the stored verdicts, so that judging goes on where
it was stopped, and only changed notes are judged again. No text of a note is stored.

This package may import `app.config`, `app.errors`, `app.library`, `app.line_file`,
`app.pinned.block`, `app.sessions.turn_builder`, `app.paths`, chains, context, vault and
`resources.system`.
"""

__all__ = ["judging", "kept", "run", "store", "table"]
