"""Use-cases, and all that a program needs around them, without Qt.

`assistant.Assistant` is the one use-case object: the window (`ui`) and the command line (`cli`)
both call it, and get back values and streams of events, never widgets or printed text. Around it
stand the things a program owns: where files lie (`paths`), what the user set (`settings` is the
schema, `settings_file` the file), keys (`secrets`), chats on disk (`session_store`, `session`,
`session_file`), what was sent last (`state_db`, `migrations`), the open notes (`library`), the log
(`log`), the check-up (`doctor`), writes that survive a crash (`durable`), and the one place where
an error becomes a code and a sentence (`errors`).

    __main__ → cli → wiring.build → Assistant → chains (a turn) · vault (index, search) · sessions
        └────→ ui.main (the window) ──┘

May import: chains, context, vault, resources, third-party libraries. Must not: ui, PySide6; the one
exception is `__main__`, which starts the window. Heavy libraries are imported where they are first
used: `strata --version` loads the standard library and nothing else.

Holds always: a session file is only ever appended to, by one writer, and what was acknowledged is
on the disk; a key is in the keyring or the environment and nowhere else; a vault is read, never
written; with `--json` one document is on standard output and nothing beside it.
"""
