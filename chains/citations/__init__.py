"""Citations: verify the numbers and quotations of an answer against its sources.

```
answer → parser → numbers and quotations → check → Citation, Unverified
sources ─────────────── quotes ──────────────┘
```

- `check`: links each number to its source, and looks each quotation up in it.
- `parser`: finds the numbers in brackets and the quotations of an answer, and pairs them.
- `quotes`: finds a quotation in a text, whatever its marks, dashes and escapes.
- `sentences`: splits a passage of Markdown into sentences without marks.
- `map_notes`: parses the notes of a map-reduce, and keeps the quotations that are in the text.

May import: context, vault; nothing else of chains.
Holds always: a quotation is verified only by the words that were sent to the model.
"""

__all__ = ["check", "map_notes", "quotes", "sentences"]
