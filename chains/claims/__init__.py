"""Check the claims of an answer against what was sent, without a model.

```
log of a turn → turns → ClaimEvidence ─────────────────────────────────────┐
answer → facts: sentences, figures, dates, names, paths → finder, totals, ─┴→ check → ClaimReport
                                                          differences, acts
```

- `check`: walks through the sentences of an answer, and gives each claim its verdict.
- `turns`: gathers what an answer can rest on from the log of its turn, and stores its changes.
- `evidence`: the texts that an answer can rest on, with an index of their figures and dates.
- `facts`: finds what a sentence claims, and whether it is hedged.
- `finder`: finds where a figure, date, name or path stands in what was sent.
- `totals`: checks sums, differences and equations that the answer computes itself.
- `differences`: finds sources that say another figure of one thing, or the opposite.
- `opposites`: finds words that a source has another one for, such as another weekday or name.
- `acts`: checks what the answer says that it did, against the notes at the end of the turn.
- `note_acts`: the notes that a sentence names, and what it says was done with each.
- `summaries`: reads the facts of a chat's messages, and finds what a summary has changed of them,
  and what of its losses the notes say.
- `report`: the claims with their verdicts and places, and which sentence rests on which source.

A claim is supported, unsupported, contradicted or not checkable. A check that accuses wrongly is
worse than none: in doubt, a claim is unsupported, which says only that it is not in what was sent,
or not checkable. Numbers, dates and sentences are read by `vault.review`, `vault.notes` and
`chains.citations`, as everywhere.

This package may import `chains.cancel`, `chains.citations`, context, vault and resources. It reads
no notes: all that an answer is checked against was sent or is in the log, so that it has the same
report when notes change. Only what summaries lost is searched for in the notes as they are.
"""

__all__ = ["acts", "check", "evidence", "facts", "report", "summaries", "turns"]
