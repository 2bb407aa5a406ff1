"""Answer questions without a language model, by showing sections of notes.

```
question: what is asked for ──┐
sources → blocks → parts ──→ ranking → spans → sections → answerability → writer → answer
```

- `model`: the model port that answers with sections, or lists the notes that come closest.
- `question`: finds out what a question asks for: a fact, a list, instructions or a time.
- `period`: reads the period that a question is about, such as last week.
- `answer_type`: the type of answer that a question expects, such as a number or a temperature.
- `blocks`: splits a passage into paragraphs, items, tables and code.
- `parts`: splits a source into sentences, list items, table rows and code, which can be lit.
- `ranking`: ranks the parts by how well they answer the question.
- `spans`: chooses the sections that are shown, by the scores of their parts.
- `excerpts`: builds the shown form of a section, with the lines that are lit or folded.
- `sections`: finds the sections that answer a question, and chooses the parts to light.
- `answerability`: decides whether the lit parts are likely to answer the question.
- `differences`: tells where the sections of two notes say different figures of one thing.
- `words`: compares the words of a question with the words of a text.
- `writer`: writes the lines of a quotation as Markdown.

This package may import `chains.llm`, `chains.citations`, `chains.cancel`, `chains.events`,
`chains.turn_answer`, `context` and `vault`.
Every quotation occurs in the source that its citation number refers to.
"""

__all__ = ["model", "period", "question", "writer"]
