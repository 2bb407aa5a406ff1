"""The open chat: transcript, messages and composer in the middle column.

    transcript items ──> transcript ──> message widgets ──> markdown.page
    composer ──signal──> controllers ──events──> transcript (the running turn)

    composer     where a message is written, with attachments and completion
    message      the widgets of one message: user message, answer, error, divider
    transcript   the messages of a session, kept in place while it grows
    middle       the middle column: the title and the open chat, or the welcome page

May import: PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`, and values of
`app`, `chains` and `context`. Must not: call the assistant, start tasks.
Holds always: streamed text is drawn within 33 ms, and final text is never drawn twice; the scroll
position and the selection stay while a text grows; nothing in a text is fetched or run.
"""

__all__ = ["middle"]
