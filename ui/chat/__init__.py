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

May import: PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`, and values of
`app`, `chains`, `context` and `vault`. Must not: call the assistant or start tasks. Focus and
scroll: the text that the user is reading does not move, and the cursor is placed where the user is
likely to type next. When a turn starts (send, suggested question, edit, regenerate), the chat
scrolls to its end and the cursor moves to the message box. Switching to another version of a
message does not move the message. If the cursor was in the message, it moves to the version
switcher. Opening the search puts the cursor into the search field and shows the first match from
the top of the view downwards. Closing the search returns the cursor to where it was in the chat, or
else to the message box. Closing the palette returns the cursor to its previous position. When a
chat is opened, the cursor is in the message box.

Always true: streamed text is drawn every 33 ms, or less often if drawing is slow. Finished text is
not rendered again while more arrives. The scroll position and the selection do not change while an
answer grows. Links and images in a text are never loaded, and its code is never run.
"""

__all__ = ["middle", "quick_ask", "versions"]
