"""The open chat: transcript, messages and composer in the middle column.

    transcript items ──> transcript ──> message widgets ──> markdown.page
    composer ──signal──> controllers ──events──> transcript (the running turn)

    composer     The composer: message text, attachments, completion, mode and model.
    message      The widgets of one message: user message, answer, error or divider.
    transcript   The messages of a session, and the scroll position while the session grows.
    middle       The middle column: the title and the open chat, or the welcome page if no vault
                 is open.

May import: PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`, and values of
`app`, `chains`, `context` and `vault`. Must not: call the assistant, start tasks.
Holds always: streamed text is drawn every 33 ms, or less often if drawing is slow. Text that is
final is not written again while more arrives. The scroll position and the selection do not change
while an answer grows. Links and images in a text are never loaded, and code in it is never run.
"""

__all__ = ["middle"]
