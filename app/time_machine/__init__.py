"""The time machine: the request of an answer as it was, and as today's notes would make it.

    answer ──→ machine ──→ the stored request ──┐
                  │                             ├─→ difference: by layer, source and line
                  └─→ a dry run with today's notes ─┘

    machine     Show a request of then or of today, and compare both.
    difference  Compare the texts of two requests.
    passages    The texts of notes that are kept; remove those of excluded and deleted notes.

This package may import `app.requests`, `app.sessions`, `app.errors`, chains, context and vault.
"""

__all__ = ["difference", "machine", "passages"]
