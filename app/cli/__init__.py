"""The command line: parse it, run a verb of the assistant, print its result.

    argv → parser ─→ verbs, ask, sessions, settings → Assistant → text → output → standard output
                └─→ the window
    interrupt: Ctrl+C and the exit code of all of them

    parser     Define verbs, options and arguments; run a verb or open the window.
    verbs      Run index, search, related, selftest, doctor and rpc; the table of all verbs.
    ask        Ask a question and print the answer as it arrives.
    sessions   List, show, fork and compact chats; show a request.
    settings   Settings, API keys, and instructions for models.
    interrupt  Ctrl+C (SIGINT) and SIGTERM, and the exit code of every run.
    output     Print one JSON document, or text for a person; messages on standard error.
    text       Format results for a person; escape what a terminal must not receive.

May import: the rest of app, chains, context, vault. Always holds: with `--json`, standard output
has one document and nothing else.
"""

__all__ = ["parser"]
