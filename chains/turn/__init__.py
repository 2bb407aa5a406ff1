"""Run a turn: from a user message to the stored, checked answer.

```
run_turn: run_hooks → retrieve → fit_attachments → prepare → store → stream → check → finish
                                                                        │
                                                     AnswerStream, or AgentLoop with tools
```

- `run`: the steps of a turn in order. It also builds previews, and computes reading costs.
- `answer`: streams one answer, and stores it even if it fails.
- `partial_answer`: the part of an answer that has arrived.
- `result`: ends a turn after its answer, and builds its result.
- `agent`: the loop of an agent: call the model, run its tool calls, call the model again.
- `approved_calls`: runs the tool calls that need approval: propose, ask the user, apply.
- `calls`: single calls outside of an answer, which test a model or write a chat title.
- `compact`: compacts the history as a step of a turn, with summaries written by a model.
- `overflow`: shortens a request that a service rejected as too long.
- `summariser`: writes a summary with a model, in pieces if the turns are too long for it.
- `hooks`: runs the user's hooks on messages, answers and tool results.
- `regenerate`: drafts the last turn again, with its attachments as they are now.
- `continuation`: continues an answer that broke off, and joins its texts.

This package may import the rest of chains, context, `vault.coverage` and `vault.vault`. Each
message is on disk before its event is yielded. A partial answer is kept after a cancel or an error.
"""

__all__ = [
    "agent",
    "approved_calls",
    "calls",
    "compact",
    "continuation",
    "hooks",
    "regenerate",
    "run",
]
