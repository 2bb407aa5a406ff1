"""What a turn is made from, up to its prepared request.

```
Chain + TurnRequest + session → TurnContext → draft: entries → PreparedTurn
```

- `chain`: `Chain`, the ports to the vault that it uses, and the limits of an agent.
- `request`: `TurnRequest`, the user message with its settings; `TurnContext`, the values that the
  steps of a turn share.
- `draft`: builds the entries of a turn, and prepares its first and each further request.
- `session`: the port for a session's log, and a view of a session that stores nothing.
- `epochs`: entries for a change of model or threshold, and the log of compactions without effect.
- `usage`: entries for the usage that a provider counted.

May import: `chains.llm`, `chains.model`, `chains.models`, `chains.prompts`, context, vault.
Holds always: the entries of a turn are built here, and stored by the turn in one write.
"""

__all__ = ["chain", "draft", "epochs", "request", "session", "usage"]
