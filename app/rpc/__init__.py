"""JSON-RPC over standard input and output, for other programs.

    jobs      What an RPC does while it goes on listening: turns, searches, indexing.
    requests  What may be asked over RPC: one JSON object a line, checked before anything is done
              with it.
    server    The assistant for other programs: requests on standard input, responses and events
              on its output.
    wire      The way out of an RPC: responses and events, one JSON object a line, never two in
              one another.

May import: the rest of app, chains, context, vault.
"""
