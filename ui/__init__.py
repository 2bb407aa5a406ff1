"""The window: Qt widgets over `app.assistant`, without rules and without I/O of their own.

    user ──> view ──signal──> controller ──task──> app.assistant
              ▲                   │ ▲                    │
              └───────calls───────┘ └───────events───────┘

    main         starts the Qt application, shows the first paint, then opens the vault
    frame        columns, panels and composer, which the first paint shows
    window       makes the controllers and connects the commands
    controllers  connect views to the assistant, one controller for each concern
    chat         the open chat: transcript, messages, composer
    panels       sidebar and right column: notes, sources, context, index
    settings     the settings dialog, made from the schema
    markdown     Markdown as a document with citations
    widgets      small widgets that all views share
    tasks        runs work in threads; the only module that uses both threads and Qt
    notify       toasts, including those for unexpected exceptions
    actions      the table of commands and shortcuts;  palette searches it
    state        the window state that is saved between runs
    theme        colours, fonts and sizes from the design tokens;  icons uses these colours

Start-up has two steps. The first paint shows `frame` and imports only `app.startup` from the
layers below. A task then imports the other modules and opens the vault, and `MainWindow.attach`
creates the controllers. Therefore `panels`, `widgets` and the composer import types of the layers
below for the type checker only; controllers, transcript and settings import them freely.

May import: PySide6, `app`, the events and values of `chains`, `context` and `vault`, `resources`.
Must not: open files, call a model, decide what a request contains.
Holds always: nothing blocks the interface for more than 50 ms; text from notes, models and
servers is shown as plain text; no widget outlives its window with a thread still running.
"""
