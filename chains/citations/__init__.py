"""Verify the citations and quotations of an answer against its sources.

```
answer → parser → citation numbers and quotations → check → Citation, Unverified
sources ──────────────────── quotes ──────────────────┘
```

- `check`: links each citation number to its source, and verifies each quotation.
- `changes`: finds cited notes that have changed since the answer.
- `parser`: finds the citation numbers and quotations of an answer, and pairs them.
- `quotes`: finds a quotation in a text, regardless of markup, dashes and escapes.
- `sentences`: splits a passage, or an answer, into sentences.
- `sections`: the sections that an answer without a model shows, and the citations of their lines.
- `pieces`: cuts a shown section at its folds, into pieces that are Markdown of their own.
- `answer_sources`: `Source`, which the report of an answer, its card and the panel share.
- `sources`: finds the sources of an answer whose model cites none.
- `matching`: compares the words of two sentences in their order.
- `map_notes`: parses the reading notes of a map-reduce, and verifies their quotations.

This package may import context and vault, but nothing else from chains. It verifies a quotation
only against text that was sent to the model.
"""

__all__ = [
    "answer_sources",
    "changes",
    "check",
    "map_notes",
    "matching",
    "parser",
    "pieces",
    "quotes",
    "sections",
    "sentences",
    "sources",
]
