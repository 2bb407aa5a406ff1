"""What happens between the assistant and the views, each flow with its own state.

    notes         which folder is open, what is in it, reading one note; offers, to complete from it
    indexing      bringing the index up to date, one run at a time; pausing it, making it anew
    watching      what changes in the folder, taken up as it changes
    tending       what the index panel shows, and what is asked there
    relating      which notes stand beside the one that is read
    explaining    why a note was given to the model for the last answer, or why not
    conversation  one chat: asking, stopping, what each event means; turns, one question of it
    chats         the list of chats, and the way from one to the next
    drafting      the message that is being written: attaching (what goes along), reading (whether
                  all of it is read), overlong (a message that does not fit), commanding (slash
                  commands), drafts (what comes back with its chat)
    branches      single messages: other words, other answers, other versions, a copy, a pin
    contexts      which request the context panel shows, and what can be done about it
    compacting    summing up the open chat when the user asks for it
    instructing   what the notes want models to do, asked about once
    hook_switch   the user's own hooks off, where one failed, and on again
    presenter     conversation → transcript, composer, context and sources; ways_out of its errors
    librarian     notes, indexing, watching → sidebar, footer, welcome, note and index panel

A flow starts tasks and turns what they yield into signals that name what happened. Only presenter
and librarian know many views; contexts, drafting, tending, relating and
explaining know one each.

May import: `ui.tasks`, `app`, the events and values of `chains`, `context`, `vault`; those two also
`ui.chat`, `ui.panels`, `ui.chat.column` and `ui.notify`.
Holds always: the assistant is called in a task, never in the interface's thread.
"""
