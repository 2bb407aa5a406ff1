"""Answer questions without a language model, by quoting notes.

```
question: what is asked for ──────────────────┐
sources → blocks → parts of each source ──→ ranking → choice → answerability → writer → answer
```

- `model`: the model port that answers with quotations, or lists the notes that come closest.
- `question`: finds out what a question asks for: a fact, a list, instructions or a time.
- `period`: reads the period that a question is about, such as last week.
- `answer_type`: the type of answer that a question expects, such as a number or a temperature.
- `blocks`: splits a passage into paragraphs, items, tables and code.
- `part_builder`: builds the parts of a source that can be quoted.
- `parts`: defines a part: a sentence, a list item, a table row, a list or a section.
- `ranking`: ranks the parts by how well they answer the question.
- `choice`: chooses the parts to quote.
- `answerability`: decides whether the chosen parts are likely to answer the question.
- `words`: compares the words of a question with the words of a text.
- `writer`: writes the lines of a quotation as Markdown.

This package may import `chains.llm`, `chains.citations`, `chains.cancel`, `chains.events`,
`context` and `vault`.
Every quotation occurs in the source that its citation number refers to.
"""

__all__ = ["model", "period", "question"]
