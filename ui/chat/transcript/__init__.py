"""The transcript: the messages of a session as widgets, kept in place while it grows.

    empty_state       A chat that has not begun: how many notes there are, and what is worth
                      asking.
    feed              The messages of a chat, of which only some two hundred are widgets at any
                      time.
    finder            Looking for words in the open chat, also in messages that are put away.
    instructions_bar  What the notes want models to do, shown above the chat until the user has
                      decided about it.
    live              The turn that is running: its question, its steps, its answer as it arrives.
    make_widgets      From what is known of a chat to the widgets that show it, and what those ask
                      for.
    scroller          Keeps a chat in its place: at its end while it is followed, else where the
                      reader is.
    transcript        The chat as it is read: messages in one column, followed while an answer
                      arrives.
    walker            Walking through a chat by keyboard: one stop, arrows go from message to
                      message.

May import: PySide6, `ui.chat.message`, `ui.markdown`, `ui.widgets`.
"""
