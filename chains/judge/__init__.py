"""Judge notes one by one: whether each fulfils a question, with a quotation that proves a yes.

```
question → rules ──────────────────────────────────────────────→ Verdict
notes → blocks → calls: a model ─→ verdicts: with verified quotations ─↗
```

- `rules`: reads which notes a filter or a literal of the question decides.
- `blocks`: joins whole notes to blocks, divides long ones, and builds the request for a block.
- `proofs`: finds the words of a note that prove something: in one block, and not hidden.
- `verdicts`: the verdicts, read strictly from a reply. Whatever is missing or wrong has none.
- `sample`: draws a sample of the verdicts, and bounds the matches by what another model says of it.
- `calls`: has a model judge blocks, and asks once more for each note without a verdict.

This package may import `chains.retrieval`, `chains.request`, `chains.llm`, `chains.citations`, the
modules of chains, context and vault. A note without a usable reply fails. It is never guessed.
"""

__all__ = ["blocks", "calls", "proofs", "rules", "sample", "verdicts"]
