"""Judge notes one by one: whether each fulfils a question, with a quotation that proves a yes.

```
question → rules ──────────────→ verdicts without a model
notes → blocks → calls: a model ─→ replies: verdicts with verified quotations ─→ Verdict
```

- `verdict`: the values: a verdict, and the place of its quotation in the note.
- `rules`: reads which notes a filter or a literal of the question decides.
- `blocks`: joins whole notes to blocks, divides long ones, and builds the request for a block.
- `replies`: reads a model's reply strictly. Whatever is missing or wrong has no verdict.
- `calls`: has a model judge blocks, and asks once more for each note without a verdict.

This package may import `chains.retrieval`, `chains.llm`, `chains.citations`, the modules of chains,
context and vault. A note without a usable reply fails. Its verdict is never guessed.
"""

__all__ = ["blocks", "calls", "replies", "rules", "verdict"]
