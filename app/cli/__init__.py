"""The command-line interface.

    argv → parser ─→ verbs, ask, sessions, settings → Assistant → text → output → standard output
                ├─→ search → OpenVault → text → output
                └─→ the window
    interrupt: Ctrl+C and the exit code of each verb

    arguments  The parser class, the global options, and functions that add verbs.
    parser     Define verbs, options and arguments; run a verb or open the window.
    search     Run search, without the rest of the assistant.
    verbs      Find the function of a verb; run index, related, review, selftest, doctor, rpc, mcp.
    ask        Ask a question and print the answer as it arrives.
    approvals  Show what a tool would do and ask in the terminal.
    sessions   List, search, show, copy, change and delete chats; the bin; show a request.
    past       Show the request of an answer as it was, and as it would be today.
    rehearse   Ask again what an answer answered, without some of what the model saw.
    judge      Judge every note by a question, and print the table.
    pinned     Pin questions, and show what came and went in their answers.
    project    List, show and change projects, and the web pages that they keep.
    views      Print what the bases and queries of a note show.
    backup     Back up what Strata has stored, and restore it.
    settings   Show and change settings, API keys, instructions and memories; list models.
    interrupt  Handle Ctrl+C, SIGTERM and SIGHUP, and compute the exit code of each verb.
    output     Print one JSON document or text; print messages and progress on standard error.
    text       Format results as text.

This package may import the rest of app, chains, context, vault and `resources.system`.
With `--json`, it prints exactly one JSON document to standard output.
"""

__all__ = ["arguments", "parser"]
