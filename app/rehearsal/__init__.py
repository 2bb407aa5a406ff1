"""Context rehearsal: what an answer would have been without some of what the model saw.

    answer ─→ kept request ─→ rehearse ─→ model ─→ stored beside the tree ─→ result
                                 ↑                         │
                                 └───── known answers ─────┘

    rehearse    Say what can be left out and what it costs; ask again; ask for each source.
    answers     Rehearsed answers in the log of their chat.
    result      The values: an offer with its price, the progress, and what came of it.

A rehearsed answer is a log entry beside the tree of the chat, so that no request, no version of an
answer and no title can contain it. It is known by the hash of what was asked: what was asked once
is not paid for again, and a rehearsal that was stopped or killed continues where it was.

This package may import `app.time_machine`, `app.requests`, `app.sessions`, `app.errors`, chains and
context.
"""

__all__ = ["rehearse", "result"]
