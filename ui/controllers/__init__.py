"""Controllers: each one connects some views to the assistant and keeps them up to date.

    user ──signal──> controller ──task──> app.assistant
                         │ <──── events ───┘
                         └──calls──> views

    session       the open chat: opens it, runs turns, shows their events
    turns         a running turn: the message sent and the results so far
    composer      the unsent message: its text, attachments, mode, model, and sending it
    agent         a package: proposals that wait for a decision, and the edits of a turn
    commands      slash commands
    drafts        unsent messages, one for each chat
    attachments   chooses attachments, reads them, and counts their tokens
    map_reduce    the offer to read attachments whole that are too large to be sent
    long_message  sends a message that is too long as a file or in parts
    context       the context panel: the next, last or an older request, and pins
    messages      actions of single messages; compaction on request
    error_actions the actions that errors offer
    navigation    the lists of chats and projects, the palette, and the search in the open chat
    vault         the open vault and its instructions for models
    notes         lists the notes, opens a note, follows links
    index         runs index updates, watches for changes, updates the index panel
    related       related notes, and why a note was sent to the model or not

`ui.window` creates the controllers and passes each one the controllers it depends on. A
controller connects itself to their signals. There is a signal only if several controllers listen
to it; otherwise a controller calls another controller or a view directly.

May import: `ui.frame`, `ui.tasks`, `ui.notify`, the views, `app`, the events and values of
`chains`, `context` and `vault`. Must not: `ui.window`.
Holds always: slow calls of the assistant run in a task, never in the GUI thread.
"""

__all__ = [
    "agent",
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
