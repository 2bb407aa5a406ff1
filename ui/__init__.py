"""The window: Qt widgets over `app.assistant`, without rules and without I/O of their own.

    user ──> view ──signal──> controller ──task──> app.assistant
              ▲                   │ ▲                    │
              └───────calls───────┘ └───────events───────┘

    main         start: the Qt application, the first paint, then the notes
    frame        columns, panels and composer: what the first paint shows
    window       makes the controllers and connects the commands
    controllers  between views and assistant, one for each concern
    chat         the open chat: transcript, messages, composer
    panels       sidebar and right column: notes, sources, context, index
    settings     the settings dialog, made from the schema
    markdown     Markdown as a document with citations
    widgets      small widgets that all of these share
    tasks        threads: the only place where they meet Qt
    notify       toasts, also for unexpected exceptions
    actions      the table of commands and shortcuts;  palette finds them
    state        what the window remembers between two starts
    theme        colours, fonts and sizes, from the design tokens;  icons are drawn in them

A start has two steps. The first paint shows `frame` and imports nothing of the layers below but
`app.startup`; the rest is loaded and the notes are opened in a task, then `MainWindow.attach` makes
the controllers. So `panels`, `widgets` and the composer import types of the layers below for the
type checker alone; controllers, transcript and settings import them freely.

May import: PySide6, `app`, the events and values of `chains`, `context` and `vault`, `resources`.
Must not: open files, call a model, decide what a request contains.
Holds always: nothing blocks the interface for more than 50 ms; text from notes, models and
servers is shown as plain text; no widget outlives its window with a thread still running.
"""
