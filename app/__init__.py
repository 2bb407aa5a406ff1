"""Use-cases, and all that a program needs around them, without Qt.

`assistant.Assistant` is the one use-case object: the window (`ui`), the command line (`cli`) and
other programs (`rpc`) call it, and get back values and streams of events, never widgets or printed
text. Around it stand the things a program owns:

- what the user set and where things lie: `paths`, `settings` (the schema), `settings_file`,
  `secrets` (keys), `model_choices`;
- what is typed with a slash: `commands`;
- what the user adds to each turn: `additions`, out of `prompts`, `instructions` (the user's
  own and AGENTS.md) and `hooks`;
- the assistant's work: `asking` (turns, with `asked` and `reattaching`), `branching` (the tree of a
  chat), `looking_back`, `open_notes`;
- chats: `session_store` (all of them), `session` (one), `session_file` (its bytes),
  `session_migration`, `transcript` with `transcript_items` (how it reads), `state_db` with
  `migrations` (what was sent last), `snapshots` (what was counted);
- notes: `library` (the open folder and its index), `index_options` (what the settings say of it),
  `attachments`, `long_texts` (messages that
  do not fit);
- the program itself: `wiring` (puts the parts together), `opening` (in two steps, for the window),
  `errors` (the one place where an error becomes a code and a sentence), `log`, `faults`
  (unexpected exceptions, logged in one place), `doctor`, `durable` (writes that survive a crash);
- the command line: `cli` (what may be typed), `cli_verbs` and `cli_window` (what is done),
  `cli_run` (what those share), `cli_turn`, `cli_text` and `cli_output` (how it is printed),
  `cli_sessions`, `cli_instructions`, `cli_keys`, `cli_reading`;
- other programs: `rpc` (who asks what of whom), `rpc_requests` (what may be asked), `rpc_jobs`
  (what takes its time), `rpc_wire` (what is said).

    __main__ → cli → wiring.build → Assistant → chains (a turn) · vault (index, search) · sessions
        └──→ opening → ui.main (window) ──┘

May import: chains, context, vault, resources, third-party libraries. Must not: ui, PySide6; the one
exception is `__main__`, which starts the window. Heavy libraries are imported where they are first
used: `strata --version` loads the standard library and nothing else.

Holds always: a session file is only ever appended to, by one writer (one of an older version is
rewritten once, the original beside it), and what was acknowledged is on the disk; a key is in the
keyring or the environment and nowhere else; a vault is read, never written; with `--json` one
document is on standard output and nothing beside it.
"""
