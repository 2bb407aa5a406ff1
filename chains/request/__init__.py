"""What a turn starts from, and the steps up to its requests.

```
Ask + settings + session → Turn → open_turn: model, tools, project → draft: entries → Request
```

- `ask`: `Ask`, what the user wants, and the table of modes, which says how it is answered.
- `turn`: `Turn`, one message of the user with all that is needed to answer it.
- `open_turn`: looks up the model of a turn, chooses its tools, and opens models for its calls.
- `draft`: builds the entries of a turn, and prepares its requests.
- `project`: the names, outlines and texts of a project in the system message.
- `session`: the port for a session's log, and a read-only view of a session.
- `deferral`: decides which tools requests offer, and which the model has to search for.
- `epochs`: entries for a change of model or threshold, and for compactions that freed nothing.
- `wire_changes`: what differs between two bodies as they were sent, beyond what was prepared.
- `usage`: entries for the token usage that a provider reports.

This package may import `chains.claims`, `chains.extractive`, `chains.gguf`, `chains.llm`, the
modules of chains, context and vault. It builds the entries of a turn, and `chains.turn` stores them
in one write.
"""

__all__ = [
    "ask",
    "deferral",
    "draft",
    "epochs",
    "open_turn",
    "project",
    "session",
    "turn",
    "usage",
    "wire_changes",
]
