"""The turn: from a user message to the stored, checked answer.

```
run_turn: run_hooks → retrieve → fit_attachments → prepare → store → stream → check → finish
                                                                        │
                                                     AnswerStream, or AgentLoop with tools
```

- `run`: the story of a turn; also preview, rebuild, compact and cost of reading for a session.
- `answer`: streams one answer, stores it however it ends, builds the result of the turn.
- `agent`: the loop of an agent: ask the model, run the tools that it calls, ask again.
- `compact`: compaction as a step of a turn, and the summaries that a model makes for it.
- `hooks`: runs the user's hooks on messages, answers and tool results.
- `regenerate`: drafts the last turn again, for another answer.

May import: all other sub-packages and modules of chains.
Holds always: each message is on disk before its event; a stop or a failure keeps what has arrived.
"""

__all__ = ["agent", "compact", "regenerate", "run"]
