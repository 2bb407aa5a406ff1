"""The composer: where a message is written, with its attachments and completions.

    attachment  What is sent along with a message, as the user named it.
    chips       What is sent along with a message, as chips above its text.
    completion  What may be completed while a message is written: notes, folders, tags and
                commands.
    composer    Where a message is written, with what goes along, what it is sent to and how full
                it gets.
    drops       What was dropped onto the window, sorted by what can be done with it.
    parts       The composer's small parts: the meter, what is the matter, the button that sends
                and stops.
    text        Where the message is written: as high as its text, up to twelve lines.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`.
"""
