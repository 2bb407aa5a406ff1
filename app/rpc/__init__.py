"""JSON-RPC and MCP over standard input and output, for other programs.

    standard input → requests → server → Assistant
                                  └→ jobs → wire → standard output

A request is defined and served in the module of its concept, which has a row for it:

    turns       ask, edit, regenerate, abort, approve
    chats       the list of chats and the bin
    entries     the entries of a chat: read, pin, label, branches, messages of other programs
    context     context reports, past requests, kept passages, compaction
    rehearsal   ask again without some of what the model saw, with the price and the progress
    search      search, related notes, tables, the index
    notes       review, fixes, tasks, saving as a note, undo
    judge       judge every note of a scope: progress, pause, the table
    pinned      pinned answers, and the event that tells which have changed
    projects    projects, and the web pages that they keep
    customization  memories, AGENTS.md, skills
    settings    settings, the state of the server, vaults, calls, spending, updates
    backup      a backup of everything, and a restore, with their progress

The others serve all requests:

    server      Serve requests until the input ends, or until Ctrl+C or SIGTERM.
    requests    What all requests have; parse and validate a line; quick and slow requests.
    client      The current chat, mode and model of the client.
    jobs        Run turns, searches and indexing while more requests are read.
    mcp_server  Serve the open vault's notes to other programs over MCP.
    wire        Write responses and events, with their names and fields, one JSON object per line.
    fixes       Word ways out of errors, and warnings, by requests and their fields.

This package may import the rest of app, chains, context and vault.
"""

__all__ = ["mcp_server", "server"]
