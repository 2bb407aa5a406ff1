"""Controllers: each one connects some views to the assistant and keeps them up to date.

    user ──signal──> controller ──task──> app.assistant
                         │ <──── events ───┘
                         └──calls──> views

    session       the open chat: opens it, runs turns, shows their events; the bases of controllers
    turns         the state of a running turn: the message that was sent, the results so far
    chats         a package: acts on whole chats, and saves them as notes
    composer      the unsent message; decides whether it is sent, queued or run as a command
    agent         a package: proposals that wait for a decision, and edits to notes
    commands      runs slash commands
    drafts        unsent messages, one for each chat
    attachments   chooses attachments, reads them, counts their tokens; models that see images
    queue         the message that will be sent when the current answer is complete
    map_reduce    the offer to read large attachments in parts (map-reduce)
    long_message  attaches a message that is too long as a file, or splits it into parts
    context       the context panel (the next, the last or an older request) and its pins
    messages      actions of single messages and of errors
    navigation    fills the lists of chats and projects, and owns the palette and the search in a
                  chat
    vault         the open vault and its instructions for models
    notes         opens a vault, and lists its notes
    reading       a package: shows a note, follows links, goes back and forward
    index         runs index updates, watches for changes, updates the index panel
    judging       judges every note by a question, in a dialog
    pinned        the pinned answers in the sidebar
    related       related notes, and why a note was sent to the model or not
    updates       tells of a newer version of Strata, if an address to look at is set

`ui.wiring` creates the controllers and passes each one the controllers it depends on. A controller
connects itself to their signals. A controller has a signal only if several other controllers listen
to it. Otherwise, it calls another controller or a view directly.

This package may import the rest of `ui` except `ui.window`, `app`, `resources.system`, and the
events and values of `chains`, `context` and `vault`. Slow calls of the assistant run in a task,
never in the GUI thread.
"""

__all__ = [
    "agent",
    "attachments",
    "chats",
    "composer",
    "context",
    "drafts",
    "index",
    "judging",
    "messages",
    "navigation",
    "notes",
    "pinned",
    "reading",
    "related",
    "session",
    "turns",
    "updates",
    "vault",
]
