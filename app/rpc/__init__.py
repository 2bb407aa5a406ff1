"""JSON-RPC and MCP over standard input and output, for other programs.

    standard input → requests → server → Assistant
                                  └→ jobs → wire → standard output

    server      Serve requests until the input ends; Ctrl+C and SIGTERM end it too.
    requests    The types of requests; parse and check a line.
    jobs        Run turns, searches and indexing while requests are still read.
    mcp_server  Serve the open notes to other programs over MCP.
    wire        Write responses and events, one JSON object a line.

May import: the rest of app, chains, context, vault.
"""

__all__ = ["mcp_server", "server"]
