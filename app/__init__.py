"""Use-cases, and all that a program needs around them, without Qt.

`assistant.Assistant` is the one use-case object. The window (`ui`), the command line (`cli`) and
other programs (`rpc`) call it, and get values and streams of events, never widgets or printed text.

    __main__ → cli → wiring → Assistant → sessions → chains (a turn)
        └─→ startup → ui      rpc ──┘  └─→ library → vault (index, search)

    assistant   The use-cases: open a vault, index, search, ask, edit, show a request.
    wiring      Build the assistant from its parts, and open the vault of a run.
    startup     Start in two steps, so that the window is painted early.
    cli/        The command line: parse it, run a verb, print its result; Ctrl+C.
    rpc/        JSON-RPC over standard input and output.
    sessions/   Chats: their log on disk, turns, branches, transcripts.
    library/    The open vault with its index; attachments and instructions.
    customize/  The user's prompts, instructions and hooks.
    config/     The settings, their file, API keys and models.
    commands    Slash commands, as typed in the window.
    doctor      Check that everything Strata needs is in order.
    errors      The error tree, and the code and sentence of every error.
    faults      Log unexpected exceptions, whatever thread raises them.
    log         The log file, without note text and without keys.
    state_db    state.db: the last requests, the list of chats, large tool results.
    migrations  Bring state.db from an earlier version to the present one.
    durable     Writes that survive a crash, and file locks.
    paths       Where Strata keeps its own files.

May import: chains, context, vault, resources, third-party libraries. Must not: ui, PySide6; the one
exception is `__main__`, which starts the window. Heavy libraries are imported where they are first
used: `strata --version` loads the standard library and nothing else.

Always holds: a chat's file is only appended to, by one writer; what was acknowledged is on disk; a
key is in the keyring or the environment and nowhere else; a vault is read, never written; with
`--json`, standard output has one document and nothing else.
"""
