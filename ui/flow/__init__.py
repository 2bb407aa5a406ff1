"""What happens between the assistant and the views, each flow with its own state.

    notes         which folder is open, what is in it, reading one note
    indexing      bringing the index up to date, one run at a time
    conversation  one chat: asking, stopping, what each event means
    contexts      which request the context panel shows, and what can be done about it
    compacting    summing up the open chat when the user asks for it
    presenter     conversation → transcript, composer, context and sources
    librarian     notes, indexing → sidebar, footer, welcome, note panel

A flow starts tasks and turns what they yield into signals that name what happened. Only presenter
and librarian know views.

May import: `ui.tasks`, `app`, the events and values of `chains`, `context`, `vault`; those two also
`ui.chat`, `ui.panels`, `ui.middle` and `ui.notify`.
Holds always: the assistant is called in a task, never in the interface's thread.
"""
