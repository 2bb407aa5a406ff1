"""Retrieval for a turn: passages for its user message, and excerpts or notes of its attachments.

```
user message → follow_up → query → search ─────→ passages ──┐
                  └─ listing: every note of a kind, in pages ┤→ segments of the turn
attachments → excerpts, or map_reduce → notes ──────────────┘
```

- `retrieve`: the step of a turn that chooses the query and searches the vault.
- `follow_up`: adds the words of the last turn to a follow-up question, or lets a model rewrite it.
- `listing`: recognizes a question for every note of a kind, and builds one page of the list.
- `passages`: builds numbered passages from hits, and merges those that touch.
- `attachments`: the step of a turn that fits attachments into their budget.
- `excerpts`: chooses excerpts of large attachments.
- `map_reduce`: reads large attachments part by part with a model, and reduces its notes.
- `map_reduce_plan`: plans a map-reduce without a model: parts, calls, tokens, price.

May import: `chains.request`, `chains.llm`, `chains.citations`, context, vault.
Holds always: attachments and passages take at most half of the budget; a selection is never cut.
"""

__all__ = [
    "attachments",
    "follow_up",
    "map_reduce",
    "map_reduce_plan",
    "passages",
    "retrieve",
]
