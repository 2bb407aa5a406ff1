"""Retrieve passages for a user message, and shorten large attachments.

```
user message → follow_up → query → search ─────→ passages ──┐
                  └─ listing_query → listing, in pages ─────┤→ segments of the turn
attachments → excerpts, or map_reduce → reading notes ──────┘
```

- `retrieve`: the step of a turn that chooses the query and searches the vault.
- `follow_up`: adds words of the last turn to a follow-up question, or asks a model to rewrite it.
- `listing_query`: converts a request for a list of notes or tasks to a query.
- `listing`: builds the pages of a list of notes or tasks.
- `totals`: tells a property, or adds up those of several notes or a column of tables.
- `table_rows`: finds the rows of tables, but for those that sum up other rows.
- `period_search`: finds the notes of a period, such as last week.
- `passages`: builds numbered passages from hits, and merges adjacent ones.
- `attachments`: the step of a turn that fits attachments into their budget.
- `excerpts`: chooses excerpts of large attachments.
- `map_reduce`: asks a model to read large attachments part by part and take notes.
- `map_reduce_plan`: plans a map-reduce without a model: parts, calls, tokens, price.

This package may import `chains.request`, `chains.extractive`, `chains.llm`, `chains.citations`, the
modules of chains, context and vault. Attachments and passages together take at most half of the
budget. A selection is never cut.
"""

__all__ = [
    "attachments",
    "follow_up",
    "listing",
    "listing_query",
    "map_reduce",
    "map_reduce_plan",
    "passages",
    "retrieve",
    "totals",
]
