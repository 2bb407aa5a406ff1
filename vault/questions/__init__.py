"""Read questions against a vault: what they ask for, and which filters they name.

    question → words (roles, by language) ─┐
    catalog → vocabulary (what there is) ──┴→ linker → reader → Reading: operation and query

- `words`: splits a question into words, and finds the roles of its phrases in all languages.
- `vocabulary`: looks up which tags, folders, notes and properties of a vault a phrase names.
- `tokens`: splits a question into phrases with a role, names of the vault, dates and other words.
- `function_words`: tells whether a word such as "a" names something of the vault.
- `days`: reads which days a question means, such as all days before a date.
- `date_links`: links the dates of a question.
- `linker`: links the words of a question to conditions, a time and tasks.
- `links`: what a question is linked to.
- `naming`: names the properties of a question as the notes name them that it asks for.
- `pieces`: cuts a message into its first question and the filters in it.
- `priority`: writes the priorities of tasks that a question names as filters.
- `surroundings`: tells what a word means by what stands around it.
- `values`: links the values of properties, such as "a rating above 3".
- `reader`: decides which operation a question asks for, and writes its query.

The phrases of each language are data, in `resources/questions`. A reading is certain only if each
word of the question is part of a filter, has a role or says nothing: only then may an answer say
"none", "all" or a count.

This package may import `vault.notes`, `vault.scope`, `vault.search`, `vault.catalog` and
`resources`.
"""

__all__ = ["reader", "vocabulary", "words"]
