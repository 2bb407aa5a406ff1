"""The window: PySide6 widgets over `app.assistant`, with no rules and no I/O of their own.

A click becomes a call of the assistant, run by `tasks` in a thread; what it yields comes back as
events, and each view refreshes by what an event names. Colours, fonts and sizes come from `theme`
alone, which reads the design tokens; icons from `icons`; every message to the user goes out
through `notify` or stands in place, in words.
`faults` logs unexpected exceptions and shows a toast; `garbage` collects reference cycles in the
interface's thread, since Qt crashes when a widget is destroyed in another one.

    main → frame (columns, panels, composer)                  painted first
         → window → presenter → chat | panels → kit → icons, theme, direction
                  → conversation, indexing → tasks
                  → settings_dialog, request_view, actions, notify, state
                  → searching → palette;  bringing → drops;  docking

A start has two steps. What the first paint shows (`frame` and what it imports) needs nothing of the
program but `app.startup.StartupInfo`; the program is loaded and the notes are opened beside it, in
a task, and `MainWindow.attach` brings the window to life. So the modules of `panels`, `kit`,
`middle` and the composer import types of the layers below for the type checker alone; flows,
transcript and settings import what they like.

May import: PySide6, `app`, the event and cancel types of `chains`, `resources`.
Must not: open files, speak to a model, decide what a request holds.
Holds always: nothing blocks the interface for more than 50 ms; text from notes, models and
servers is shown as plain text; no widget outlives its window with a thread still running.
"""
