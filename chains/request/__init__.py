"""The inputs of a turn, and the steps up to its prepared request.

```
Chain + TurnRequest + session → TurnContext → draft: entries → PreparedTurn
```

- `chain`: `Chain`, its ports to the vault, and the limits of an agent.
- `request`: `TurnRequest`, the user message with its settings; `TurnContext`, the values that the
  steps of a turn share.
- `draft`: builds the entries of a turn, and prepares its requests.
- `project`: the names, outlines and texts of a project in the system message.
- `session`: the port for a session's log, and a read-only view of a session.
- `deferral`: decides which tools requests offer, and which the model has to search for.
- `epochs`: entries for a change of model or threshold, and for compactions that freed nothing.
- `usage`: entries for the token usage that a provider reports.

This package may import `chains.extractive`, `chains.gguf`, `chains.llm`, the modules of chains,
context and vault. It builds the entries of a turn, and `chains.turn` stores them in one write.
"""

__all__ = ["chain", "deferral", "draft", "epochs", "project", "request", "session", "usage"]
