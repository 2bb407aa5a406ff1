"""The main window: Qt widgets that show the state of `app.assistant` and call its methods.

The widgets contain no domain logic. Only `state` and `instance` write files.

    user ──> view ──signal──> controller ──task──> app.assistant
              ▲                   │ ▲                    │
              └───────calls───────┘ └───────events───────┘

    main         starts the Qt application, shows the window, then opens the vault
    window       the main window: its views, commands, and how it opens notes and chats
    frame        what controllers know of it. early: what the user did before the vault was open
    wiring       creates the controllers, and passes each one the controllers that it needs
    controllers  connect views to the assistant, one controller for each concern
    chat         the open chat: transcript, messages, composer
    panels       sidebar and right column: notes, sources, context, index
    first_run    the first-run dialog: choose a folder and a model, ask a question
    settings     the settings dialog, generated from the settings schema
    markdown     renders Markdown with citations as a Qt text document
    widgets      small widgets that several views use
    tasks        runs functions in threads, and delivers their events in batches every 33 ms
    idle_work    collects garbage and loads slow modules while the window is idle
    crash_notice notices at the start: after a crash, and if stored data are only read
    notify       toasts, including those for unexpected exceptions; desktop notifications
    actions      the table of commands and their current keys
    palette      the command palette, which searches commands, notes and chats
    shortcuts    the Qt actions for the commands, and the list of shortcuts
    instance     ensures that each user has only one window
    state        the saved window state
    image_worker, formula_worker  child processes that decode images and draw formulas
    theme        colours, fonts and sizes from the design tokens
    icons        icons in the colours of the theme

The window is painted first, for which only `window` with its views and `app.startup` are imported.
Then a task lists the names of the notes, and the next one imports the other modules and opens the
vault. So `panels`, `widgets` and the composer import at their top only small value modules.

This package may import PySide6, `app`, `resources`, and the events and values of `chains`,
`context` and `vault`. It must not call a model, or choose what a request contains.
Nothing blocks the interface for more than 50 ms. Text from notes, models and servers is shown as
plain text. All threads have ended when the window is closed.
"""
