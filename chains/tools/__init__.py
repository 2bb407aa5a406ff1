"""The tools that an agent works with: what each takes, what it does, what the model reads of it.

```
registry        a call of the model → its tool → a result, whatever was asked
  ├── schema         arguments against what the tool says it takes
  ├── notes          search, read, list: what is read is numbered, so that it can be cited
  ├── sources        the numbers of one turn
  ├── runs           what the log keeps of a call beside its result
  ├── context_tools  the conversation itself: compact_context
  └── results        large results kept elsewhere, and read in pages
```

May import: context, vault and the ports of chains. Must not: app, ui, litellm.

Holds always: a call has exactly one result; a failure is a result that says what to do instead, and
ends nothing; only what a model may see of the notes is read.
"""
