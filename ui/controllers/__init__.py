"""Controllers: each one connects some views to the assistant, and keeps them in step.

    user ──signal──> controller ──task──> app.assistant
                         │ <──── events ───┘
                         └──calls──> views

    session       the open chat: opening it, running turns, showing their events
    turns         the values of a turn: what was asked, what has come back
    composer      the message that is being written, and sending it
    commands      slash commands
    drafts        unsent messages, one for each chat
    attachments   choosing, reading and counting attachments
    map_reduce    the offer to read large attachments whole
    long_message  a message that is too long: as a file, or in parts
    context       the context panel: next, last or older request, pins
    messages      actions on single messages; compaction on request
    error_actions the actions that errors offer
    navigation    the list of chats, the palette, the search in the chat
    vault         the open folder and its instructions for models
    notes         listing the notes, opening one, following links
    index         indexing, watching for changes, the index panel
    related       related notes, and why a note was given to the model

`ui.window` makes the controllers in this order and gives each one those it depends on; a
controller connects itself to their signals. A signal exists only where several controllers
listen; otherwise a controller calls another one, or the view, directly.

May import: `ui.frame`, `ui.tasks`, `ui.notify`, the views, `app`, the events and values of
`chains`, `context` and `vault`. Must not: `ui.window`.
Holds always: the assistant is called in a task, never in the interface's thread.
"""

__all__ = [
    "attachments",
    "composer",
    "context",
    "drafts",
    "error_actions",
    "index",
    "messages",
    "navigation",
    "notes",
    "related",
    "session",
    "vault",
]
