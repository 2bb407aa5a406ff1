"""The open chat: transcript, messages and composer in the middle column.

    transcript items ──> transcript ──> message widgets ──> markdown.page
    composer ──signal──> controllers ──events──> transcript (the running turn)

    composer     The composer: message text, attachments, completion, mode and model.
    message      The widgets of one message: user message, answer, error or divider.
    transcript   The chat's messages, and a stable scroll position while the chat grows.
    quick_ask    The small window for a quick question.
    versions     The dialog with two versions of an answer side by side.
    middle       The middle column: the title and the open chat, or the welcome page if no vault
                 is open.

This package may import PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.actions`,
`ui.notify`, and data types of `app`, `chains`, `context` and `vault`. It must not call the
assistant or start tasks.

The text that the user is reading does not move. New text scrolls the chat only while its end is in
view. When a turn starts, the chat scrolls to its end and the message box gets the focus. Opening a
chat focuses the message box too.

An approval card gets the focus if the end of the chat is in view and the user is not writing.
Otherwise a toast leads to the card. Switching to another version of a message does not move the
message. If the focus was in the message, it moves to the version switcher. Opening the search
focuses the search field and shows the first match below the top of the viewport. Closing the search
or the command palette restores the focus.

Streamed text is drawn every 33 ms (`ui.markdown.page.view`), or less often if drawing is slow.
Finished text is not rendered again. The scroll position and the selection do not change while an
answer grows. Links and images are never loaded, and code in a message is never run.
"""

__all__ = ["middle", "quick_ask", "versions"]
