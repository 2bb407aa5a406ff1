"""The door for what comes back from model servers: whatever arrives becomes clean pieces.

```
response → event_stream → chat_stream → pieces ┐
LiteLLM's chunks → chunks ─────────────────────┴→ answer_reader → model events
                                                  text_pieces, thinking, tool_calls
```

- `chunks`: reads the answers of other protocols from LiteLLM's chunks.
- `event_stream`: splits the bytes of a response into events, whatever their line ends.
- `chat_stream`: reads the answer of a chat completions endpoint, as a stream or one document.
- `pieces`: converts the deltas of a stream to pieces with text, reasoning, tool calls and usage.
- `response`: reads the body of a response, limits its size, and refuses web pages.
- `text_pieces`: joins streamed text, also where each delta holds all the text so far.
- `thinking`: finds the model's thinking in its text.
- `tool_calls`: assembles tool calls from pieces, and defines which names and ids are valid.
- `answer_reader`: converts the pieces of an answer to the events of the model's port.
- `patience`: limits how long a server may keep its client waiting.

This package may import `chains.concurrency`, `chains.errors`, `chains.events`, `chains.llm.port`,
`context.layers` and `vault.notes.text`. Nothing in here raises Python's own errors for what a
server sends: what cannot be read is skipped and noted, and an answer that cannot be read at all is
one `AnswerError`.
"""

__all__ = [
    "answer_reader",
    "chat_stream",
    "chunks",
    "event_stream",
    "patience",
    "pieces",
    "response",
    "text_pieces",
    "thinking",
    "tool_calls",
]
