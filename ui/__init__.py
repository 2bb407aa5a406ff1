"""The window: Qt widgets over `app.assistant`, with neither domain logic nor I/O of their own.

    user ──> view ──signal──> controller ──task──> app.assistant
              ▲                   │ ▲                    │
              └───────calls───────┘ └───────events───────┘

    main         starts the Qt application, paints the window, then opens the vault
    frame        the window's columns, panels and composer, shown by the first paint
    window       the main window: connects commands, opens notes, chats and settings
    wiring       creates the controllers, and passes each one those it depends on
    controllers  connect views to the assistant, one controller for each concern
    chat         the open chat: transcript, messages, composer
    panels       sidebar and right column: notes, sources, context, index
    first_run    three steps to a folder of notes, a model and a first question
    settings     the settings dialog, made from the schema
    markdown     Markdown as a document with citations
    widgets      small widgets that several views use
    tasks        runs functions in threads, and delivers their events in batches every 33 ms
    idle_work    collects garbage and loads slow modules while the window is idle
    notify       toasts, including those for unexpected exceptions; desktop notifications
    actions      the table of commands and their current keys; palette searches it
    shortcuts    the Qt actions for the commands, and the list of shortcuts
    instance     ensures that each user has only one window
    state        the saved window state
    image_worker decodes images, scales and encodes them for models, in a process of `app.library`
    theme        colours, fonts and sizes from the design tokens;  icons uses the colours

Start-up has two steps. The first paint shows `frame` and imports only `app.startup` from the layers
below. A task then imports the other modules and opens the vault, and `MainWindow.attach` creates
the controllers. Therefore `panels`, `widgets` and the composer import types of the layers below for
the type checker only. Controllers, transcript and settings import them freely.

This package may import PySide6, `app`, `resources`, and the events and values of `chains`,
`context` and `vault`. It must not open files, call a model, or choose what a request contains.
Nothing blocks the interface for more than 50 ms. Text from notes, models and servers is shown as
plain text. When the window closes, no thread is still running.
"""
