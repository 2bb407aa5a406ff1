"""The use-cases of the program, its settings, chats, command line and RPC, all without Qt.

`assistant.Assistant` is the one use-case object. The window (`ui`), the command line (`cli`) and
other programs (`rpc`) call it. It returns values and streams of events, never widgets or text.

    __main__ → cli → wiring → Assistant → sessions → chains (a turn)
        └─→ startup → ui      rpc ──┘  └─→ library → vault (index, search)

    assistant   The use-cases: open a vault, index, search, ask, edit, show a request.
    wiring      Build the assistant from its parts, and open the vault of a run.
    startup     Start in two steps, so that the window appears early.
    cli/        The command line: parse it, run a verb, print its result; Ctrl+C.
    rpc/        JSON-RPC over standard input and output.
    sessions/   Chats: their log on disk, turns, branches, transcripts.
    library/    The open vault with its index; attachments and instructions.
    customize/  The user's prompts, instructions and hooks.
    config/     The settings, their file, API keys and models.
    commands    Slash commands, as typed in the window.
    doctor      The checks of `strata doctor`.
    errors      The errors of this package; map any error to a code, a sentence and a hint.
    faults      Log unexpected exceptions, whatever thread raises them.
    log         The log file, without note text and without keys.
    ledger      The list of all calls that leave Strata, written before each call.
    state_db    state.db: the last requests, the list of chats, large tool results.
    migrations  Migrate state.db to the current version.
    durable     Writes that survive a crash, and file locks.
    paths       The folders and files of Strata itself.

May import: chains, context, vault, resources, third-party libraries. Must not: ui, PySide6; the one
exception is `__main__`, which starts the window. Heavy libraries are imported where they are first
used: `strata --version` loads the standard library and nothing else.

Always holds: a chat's file is only appended to, by one writer at a time; an acknowledged write is
on disk; API keys are stored in the keyring or the environment only; only `library.edits` writes
into a vault; with `--json`, standard output is one JSON document.
"""
