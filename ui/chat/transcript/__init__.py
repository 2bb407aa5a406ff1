"""The transcript: a chat's messages as widgets, with a stable scroll position.

    items ──> transcript ──> widgets ──> feed ──> scroller
    events ──> live ───────────┘

    empty_state       An empty chat: the number of notes, and suggested questions.
    feed              The messages of a chat, of which at most about 200 have widgets at a time.
    finder            Search in the open chat, including messages that have no widget.
    instructions_bar  A bar above the chat that asks whether to use the vault's instructions.
    live              The running turn: its user message, its steps, and its answer while it
                      streams.
    navigation        Keyboard navigation in a chat: one tab stop, arrow keys move between
                      messages.
    scroller          The scroll position of a chat: it follows the end, or stays at the message
                      being read.
    transcript        The transcript: the messages of a session in one column.
    widgets           Builds the widgets of messages from transcript items, and forwards their
                      actions.

This package may import PySide6, `ui.chat.message`, `ui.chat.composer.attachment`, `ui.markdown`,
`ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`, and data types of `app`, `chains` and
`context.layers`. The messages in the viewport do not move while others are added or removed above
them.
"""

__all__ = ["empty_state", "finder", "instructions_bar", "live", "transcript", "widgets"]
