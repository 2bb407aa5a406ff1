"""The application without its window: use-cases, settings, chats, command line, RPC.

`assistant.Assistant` offers all use-cases to the window, the command line and other programs.

    __main__ ──→ cli ──→ wiring ──→ Assistant ──→ sessions ──→ chains (a turn)
        │         └─→ startup          ↑  └─→ library ──→ vault (index, search)
        └─→ ui (the window)      rpc ──┘

    assistant   The use-cases: open a vault, index, search, ask, edit, show a request.
    project_overview  Everything about a project: texts, members, chats, what L1 holds.
    wiring      Build the assistant from its components, and open the vault for a program run.
    startup     Start in two steps, so that the window appears early.
    cli/        The command line: parse it, run a verb, print its result, handle Ctrl+C.
    rpc/        JSON-RPC over standard input and output.
    backup/     Back up what Strata has stored, and restore it.
    relocation/ Keep what is stored by the path of a folder that was moved.
    sessions/   Chats: their log on disk, turns, branches, transcripts.
    requests/   Requests that were sent. time_machine/: one beside today's. rehearsal/: ask again.
    library/    The open vault with its index; projects, attachments, edits, review.
    judge/      Exhaustive answers: each note gets a verdict. pinned/: pinned answers.
    customize/  The user's prompts, instructions and hooks.
    config/     The settings, their file, API keys and models.
    hidden_characters  Escape characters that a terminal executes or that hide in a name.
    commands, doctor  Slash commands of the window; the checks of `strata doctor`.
    errors      This package's errors, converted to a code and a sentence. faults: log all others.
    crashes/    Record crashes, and report them. secret_text: recognise secrets in texts.
    log         The log file, without the text of notes and without keys.
    ledger      The file that lists every call that leaves Strata, written before the call.
    spending    What calls to models cost, and their limits. updates: look for a newer version.
    line_file   A file of JSON lines that several processes append to.
    state_db    The database state.db. request_images: the requests in it, each image once.
    migrations  Migrate state.db; open a newer release's home read-only. paths: Strata's folders.

This package may import chains, context, vault, resources, third-party libraries and, in `__main__`,
`ui.main`, which starts the window. It must not import PySide6. Heavy libraries are imported where
they are first used, so that `strata --version` loads only the standard library.

Entries are only appended to a chat's file, by one writer at a time; `sessions` names the
exceptions. A write is reported as done only when it is on disk. API keys are stored in the keyring
or the environment and nowhere else. Only `library.edits` writes into a vault.
"""
