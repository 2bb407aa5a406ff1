"""Sessions (chats): the logs on disk, and the use-cases that read and write them.

    Ask → ask → chains.turn → session → file
    file → store → session → transcript_reader → transcript

    store              List, open, create and delete chats; one writer at a time.
    bin                Deleted chats: restore them, or delete them for good after thirty days.
    bin_folder         The files in the bin, whose names say when each chat was deleted.
    session_info       The list entries of chats: title, times, marks.
    search             Search the text of all chats.
    session            One chat: its log in memory, its file lock, and its data in state.db.
    file               Read a log, repair a cut-off last line, migrate an older version, find
                       copies of it.
    ask                Run a turn: ask, edit, regenerate; preview a request.
    agent              Build a turn's agent, and let a person approve its proposals.
    mcp                Approve, start and list the MCP servers in the settings.
    turn_builder       Build a turn from a question, the settings and the vault.
    user_messages      User messages: read their recorded mode, restore their attachments.
    branches           Select, fork and summarise branches; label and pin entries; rename, pin,
                       archive and compact chats.
    abandoned_memory   Long-term memories whose message was edited away.
    titles             Let a model name a chat after its first answer.
    request_history    Past requests (the JSON of `strata context`), why a note was or was not sent,
                       and a chat's transcript and export.
    rebuild            Rebuild a past request with the vault and the project of its chat.
    export             A chat as a Markdown document or a note.
    transcript         The values that make up a chat's transcript, for display.
    transcript_reader  Build a chat's transcript from its log.

This package may import `app.customize`, `app.library`, `app.config`, `app.errors`, `app.faults`,
`app.spending`, `app.secret_text`, `app.paths`, `app.request_images`, `app.requests`,
`app.state_db`, chains, context, vault and `resources.system`.
Until a chat is deleted for good, entries are only ever appended to its file, except that a file of
an older version is rewritten once. A write is reported as done only when it is on disk.
"""

__all__ = [
    "abandoned_memory",
    "agent",
    "ask",
    "bin",
    "branches",
    "export",
    "file",
    "mcp",
    "rebuild",
    "request_history",
    "search",
    "session",
    "session_info",
    "store",
    "titles",
    "transcript",
    "turn_builder",
    "user_messages",
]
