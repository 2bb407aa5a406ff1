"""JSON-RPC and MCP over standard input and output, for other programs.

    standard input → requests → server → Assistant
                                  └→ jobs → wire → standard output

    server      Serve requests until the input ends, or until Ctrl+C or SIGTERM.
    requests    The types of requests; parse and validate a line.
    chats       Serve requests about the list of chats, the bin, and the entries of a chat.
    backup      Serve requests for a backup of everything and for a restore, with their progress.
    notes       Serve requests about notes, the memory of a chat, and the outgoing calls.
    pinned      Serve requests about pinned answers, and tell which have changed.
    projects    Serve requests about projects, and the web pages that they keep.
    jobs        Run turns, searches and indexing while more requests are read.
    mcp_server  Serve the open vault's notes to other programs over MCP.
    wire        Write responses and events, one JSON object per line.
    fixes       Word ways out of errors, and warnings, by requests and their fields.

This package may import the rest of app, chains, context and vault.
"""

__all__ = ["mcp_server", "server"]
