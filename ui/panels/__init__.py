"""The panels next to the chat: the sidebar on the left, docks on the right.

    controllers ──values──> panel ──signal──> controllers

    chats           the lists of chats and projects
    context         the context panel: a request's content, omissions and costs
    index           the state of the index: the sidebar's footer and a panel
    notes           the note tree, one note, sources and related notes
    docks           the right column: docks for context, sources, related notes and index
    pinned          the pinned answers in the sidebar, each with its rows
    pinned_question the dialog that asks for a question to pin
    judge_view      the dialog that judges every note: price, progress, table of verdicts
    past_view       a past request beside the one that today's notes would make
    rehearsal       asks again without some of what the model saw
    request_view    a read-only view of a complete request, for reading, searching and copying
    sidebar         the left column: vault, notes, answers, projects, chats and index, or a rail
    vault_switcher  the button with the open vault's name; its menu opens another vault

This package may import PySide6, `ui.actions`, `ui.widgets`, `ui.icons`, `ui.theme`, resources, and
the value types of `app`, `chains`, `context` and `vault`. It must not call the assistant or start
tasks. All numbers come from the request report. Rows are shown in the order in which the
controllers pass them.
"""

__all__ = [
    "docks",
    "judge_view",
    "past_view",
    "pinned",
    "pinned_question",
    "rehearsal",
    "request_view",
    "sidebar",
    "vault_switcher",
]
