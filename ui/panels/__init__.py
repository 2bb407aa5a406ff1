"""The panels beside the chat: sidebar on the left, docks on the right.

    controllers ──values──> panel ──signal──> controllers

    chats         the list of chats
    context       the context panel: what a request holds, leaves out and costs
    index         the state of the index: a line in the sidebar, and a panel
    notes         the note tree, one note, sources and related notes
    docks         The right column: panels for context, sources, note, related notes and index,
                  as docks.
    request_view  A read-only view of a whole request: to read, search and copy it.
    sidebar       The left column: vault, notes, chats and index; as a rail of icons if it is
                  narrow.

May import: PySide6, `ui.widgets`, `ui.icons`, `ui.theme`, and values of the layers below. Must not:
call the assistant, start tasks.
Holds always: figures are those of the report; rows keep their order.
"""

__all__ = ["docks", "request_view", "sidebar"]
