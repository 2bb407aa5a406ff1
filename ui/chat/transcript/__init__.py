"""The transcript: the messages of a session as widgets, kept in place while it grows.

    items ──> transcript ──> widgets ──> feed ──> scroller
    events ──> live ───────────┘

    empty_state       An empty chat: the number of notes, and suggested questions.
    feed              The messages of a chat, of which about 200 exist as widgets at a time.
    finder            Search in the open chat, including messages that have no widget at the
                      moment.
    instructions_bar  A bar above the chat: the vault's instructions, until the user accepts or
                      rejects them.
    live              The running turn: its user message, its steps, and its answer while it
                      streams.
    navigation        Keyboard navigation in a chat: one tab stop, arrow keys move between
                      messages.
    scroller          The scroll position of a chat: at its end while following, else where the
                      reader is.
    transcript        The transcript: the messages of a session in one column.
    widgets           Builds the widgets of messages from transcript items, and forwards their
                      actions.

May import: PySide6, `ui.chat.message`, `ui.chat.composer.attachment`, `ui.markdown`, `ui.widgets`,
`ui.notify`, and values of `app` and `chains`.
Holds always: a message keeps its place while others are added or removed above it.
"""

__all__ = ["finder", "instructions_bar", "transcript"]
