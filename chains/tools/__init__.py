"""The tools of an agent: their definitions, their arguments, their results.

```
call of the model → registry: tool, checked arguments → run → result, and its log entry
```

- `registry`: runs the calls of a model, checks arguments against JSON schemas, logs tool runs.
- `notes`: search_notes, read_note and list_folder; numbers what is read, so it can be cited.
- `context_tools`: read_result reads stored results in pages, compact_context frees space.

May import: `chains.request`, `chains.retrieval`, context, vault. Must not: app, ui, litellm.
Holds always: a call has exactly one result; a failure is a result that says what to do instead, and
ends nothing; only what a model may see of the notes is read.
"""

__all__ = ["context_tools", "notes", "registry"]
