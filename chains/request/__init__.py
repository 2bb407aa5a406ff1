"""The first request of a turn, and the session as a turn sees it.

    epochs   What a chat keeps to from turn to turn: its epochs, and the breaker of its
             compactions.
    request  One turn up to its first request: the user message, its entries, the request made
             from them.
    session  A chat as a turn sees it: what it says so far, and where more of it is written.
    usage    What services count of the calls of a chat, as entries of its log.

May import: `chains.llm`, `chains.prompts`, context.
"""
