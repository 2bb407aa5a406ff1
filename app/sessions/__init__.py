"""Sessions (chats): their log on disk, and the use-cases that read and extend it.

    AskRequest → ask → chains.turn → session → file
    file → store → session → transcript_reader → transcript

    store              List, open, create and delete chats; one writer at a time.
    search             Search the text of all chats.
    session            One chat: its log in memory, its lock, and its data in state.db.
    file               Read a log, repair a cut-off last line, migrate an older version.
    ask                Run a turn: ask, edit, regenerate; compact a chat; preview a request.
    agent              Build the agent of a turn, and know who decides about its proposals.
    mcp                Approve, start and list the MCP servers of the settings.
    turn_builder       Build a turn and its chain from a question, the settings and the vault.
    user_messages      User messages: their mode, their attachments, and restoring these.
    branches           Select, fork and summarise branches; label and pin entries; rename chats.
    request_history    Show past requests, and why a note was or was not sent.
    export             A chat as a Markdown document.
    transcript         A chat as values for display.
    transcript_reader  Build a transcript from a log.

May import: `app.customize`, `app.library`, `app.config`, `app.state_db`, chains, context. Always
holds: a file is only appended to until the chat is deleted, except that a file of an older version
is rewritten once; an acknowledged write is on disk.
"""

__all__ = [
    "agent",
    "ask",
    "branches",
    "export",
    "file",
    "mcp",
    "request_history",
    "search",
    "store",
    "transcript",
    "turn_builder",
    "user_messages",
]
