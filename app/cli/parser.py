"""Parse the command line, then run a verb or open the window.

Only the standard library is imported at the top of this module, so that `--version` and `--help`
are fast and the window appears early.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from app.cli.arguments import (
    INTERRUPTED,
    ArgumentParser,
    Verbs,
    add_globals,
    add_group,
    add_verb,
    add_version,
    build_global_defaults,
    parse_move,
    parse_value,
)

if TYPE_CHECKING:
    from app.startup import Startup

_MOST_HITS = 1_000
Begin = Callable[[str], object]


def run(
    argv: Sequence[str],
    open_window: "Callable[[Startup], int]",
    begin: Begin = lambda _kind: None,
) -> int:
    """Run a verb, or open the window if none is given.

    Args:
        argv: the arguments after the program's name.
        open_window: shows the window and returns its exit code.
        begin: called with the verb, or with `window`, before anything else is loaded.

    Returns:
        The exit code.
    """
    try:
        args = build_parser().parse_args(argv)
        begin(args.verb or "window")
        if args.verb is None:
            return _start_window(args, open_window)
        if args.verb == "search":
            from app.cli.search import run_search as run_verb
        else:
            from app.cli.verbs import run_verb
    except KeyboardInterrupt:  # while the program is being loaded
        return _report_early_stop("--json" in argv)
    return run_verb(args)


def _report_early_stop(is_json: bool) -> int:
    """Report that Ctrl+C was pressed before the verb began, and return the exit code."""
    if is_json:
        import json

        print(json.dumps({"error": {"code": "cancelled", "message": "Stopped."}}, indent=2))
    else:
        sys.stderr.write("strata: Stopped.\n")
    return INTERRUPTED


def run_window(
    argv: Sequence[str],
    open_window: "Callable[[Startup], int]",
    begin: Begin = lambda _kind: None,
) -> int:
    """Open the window for `strata-gui`, and return the exit code.

    Args:
        argv: the arguments after the program's name.
        open_window: shows the window and returns its exit code.
        begin: called with `window` before anything else is loaded.
    """
    args = build_window_parser().parse_args(argv)
    begin("window")
    return _start_window(args, open_window)


def build_window_parser() -> argparse.ArgumentParser:
    """Build the argument parser of `strata-gui`."""
    found = ArgumentParser(prog="strata-gui", description=_ABOUT, allow_abbrev=False)
    found.set_defaults(
        verb=None, **build_global_defaults("middle"), **build_global_defaults("late")
    )
    add_version(found)
    add_globals(found, "early")
    found.add_argument("path", metavar="PATH", nargs="?", help="a folder of notes, or a note")
    return found


def build_parser() -> argparse.ArgumentParser:
    """Build the argument parser of `strata`."""
    found = ArgumentParser(
        prog="strata",
        description=_ABOUT,
        epilog="Without a command the window opens.",
        allow_abbrev=False,
    )
    found.set_defaults(**build_global_defaults("middle"), **build_global_defaults("late"))
    add_version(found)
    add_globals(found, "early")
    verbs = found.add_subparsers(dest="verb", metavar="COMMAND")
    add_verb(verbs, "index", "bring the index of a folder of notes up to date", _define_index)
    add_verb(verbs, "search", "find passages by words and by meaning", _define_search)
    add_verb(
        verbs, "related", "list the notes near a note, in meaning or by a link", _define_related
    )
    about = "print the tables of a base, or of the bases and queries in a note"
    add_verb(verbs, "table", about, _define_table)
    add_verb(verbs, "tick", "tick or untick a task in a note", _define_tick)
    add_group(verbs, "project", "list, show and change projects", _add_projects)
    about = "look after your notes: contradictions, broken links, copies, overdue tasks and more"
    add_verb(verbs, "review", about, _define_review)
    add_verb(verbs, "ask", "answer a question, citing the notes it rests on", _define_ask)
    _add_requests(verbs)
    add_group(verbs, "settings", "read and change the settings", _add_settings)
    _add_kept_things(verbs)
    about = "write chats, settings and everything else but keys and notes into one file"
    add_verb(verbs, "backup", about).add_argument("file", metavar="FILE", help="a new file")
    about = "put back what a backup holds, and overwrite nothing"
    add_verb(verbs, "restore", about, _define_restore, takes_vault=False)
    add_verb(verbs, "undo", "undo the edits of notes that a model made", _define_undo)
    add_verb(verbs, "vaults", "list the folder of notes, and the vaults that Obsidian knows")
    add_verb(verbs, "passages", "show what is kept of notes for past answers", _define_passages)
    add_verb(verbs, "spending", "show what was spent today and this month, and the limits")
    add_verb(verbs, "ledger", "list every call that left Strata, and the notes in it")
    add_verb(verbs, "updates", "look for a newer version, at the address of updates.address")
    add_verb(verbs, "selftest", "ask for your own notes, and tell how often search finds them")
    add_verb(verbs, "doctor", "check that everything Strata needs is in order")
    about = "serve another program: requests on standard input, one JSON object a line"
    add_verb(verbs, "rpc", about, prints_json=True)
    about = "let other programs search and read the notes, as an MCP server over standard input"
    add_verb(verbs, "mcp", about, prints_json=False)  # standard output has the protocol only
    return found


def _add_requests(verbs: "Verbs[ArgumentParser]") -> None:
    """Add the verbs for what models see of a chat."""
    add_verb(verbs, "context", "show what the model saw, or would see next", _define_context)
    about = "ask again what an answer answered, without some of what the model saw"
    add_verb(verbs, "rehearse", about, _define_rehearse)
    about = "replace all but the last turn of a chat by a summary, or mend the last summary"
    add_verb(verbs, "compact", about, _define_compact)


def _add_kept_things(verbs: "Verbs[ArgumentParser]") -> None:
    """Add the verbs for models, keys, chats, instructions, memories and kept answers."""
    about = "judge every note by a question, with a quotation for each yes"
    add_verb(verbs, "judge", about, _define_judge)
    about = "pin questions, and see what came and went in their answers"
    add_group(verbs, "pinned", about, _add_pinned)
    about = "list the models to choose from, also of servers on this computer"
    add_verb(verbs, "models", about).add_argument(
        "--forget",
        metavar="MODEL",
        help="send the usual requests to a model again, which refused them before",
    )
    about = "enter and remove keys of services and servers, kept in the system's keyring"
    add_group(verbs, "keys", about, _add_keys)
    about = "list, search, read, save, copy, rename, pin, archive and delete the chats"
    add_group(verbs, "sessions", about, _add_sessions)
    about = "show the instructions for models, and decide about the AGENTS.md of the notes"
    add_group(verbs, "instructions", about, _add_instructions)
    about = "list the skills that an agent may read, and decide about those of the notes"
    add_group(verbs, "skills", about, _add_skills)
    about = "list, edit and forget what models remember in all chats"
    add_group(verbs, "memory", about, _add_memory)


_ABOUT = "Chat with a folder of notes, and see exactly what the model saw."


def _start_window(args: argparse.Namespace, open_window: "Callable[[Startup], int]") -> int:
    """Open the window with the vault that the command line names, and return the exit code."""
    from app.cli.interrupt import ExitStatus
    from app.cli.output import Output
    from app.log import open_log
    from app.paths import Paths
    from app.startup import Startup

    with ExitStatus(Output(is_json=False), reports_stop=False) as status:
        _require_display()
        paths = Paths.find()
        open_log(paths)
        path = getattr(args, "path", None) or ""
        with closing(Startup(paths, args.overrides, args.vault, path)) as opening:
            opening.refuse_early()
            status.code = open_window(opening)
    return status.code


def _require_display() -> None:
    has_one = any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )
    from resources.system.calls import SYSTEM

    if SYSTEM == "linux" and not has_one:
        from app.errors import InvalidRequest

        raise InvalidRequest(
            "There is no display to open a window on.",
            hint='Ask without one: strata ask "…", or see strata --help.',
        )


def _define_index(verb: ArgumentParser) -> None:
    verb.add_argument("dir", metavar="DIR", nargs="?", help="the folder of notes")
    group = verb.add_mutually_exclusive_group()
    group.add_argument("--retry", action="store_true", help="look again at notes that failed")
    group.add_argument(
        "--rebuild", action="store_true", help="throw the index away and make it from the notes"
    )


def _define_search(verb: ArgumentParser) -> None:
    verb.add_argument("query", metavar="QUERY")
    verb.add_argument(
        "-k", type=_parse_count, metavar="N", help="how many passages, or notes a page"
    )
    verb.add_argument(
        "--all", action="store_true", help="list every note that fits, one line each, in pages"
    )
    verb.add_argument(
        "--offset",
        type=_parse_offset,
        metavar="N",
        default=0,
        help="with --all: go on behind so many",
    )
    _add_project(verb)
    verb.add_argument("--why-not", metavar="PATH", help="say why this note is not among them")


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        metavar="DIR",
        help="a folder of notes to stay in, in the folder of notes or outside it",
    )


def _define_related(verb: ArgumentParser) -> None:
    verb.add_argument("path", metavar="PATH", help="the note, from the folder of notes on")
    verb.add_argument("-k", type=_parse_count, metavar="N", default=8, help="how many notes")
    _add_project(verb)


def _define_table(verb: ArgumentParser) -> None:
    verb.add_argument("path", metavar="PATH", help="the base or note, from the folder of notes on")
    verb.add_argument("--view", metavar="NAME", help="only the view of this name")
    shown = "how many rows a view; without it 50, or all with --json"
    verb.add_argument("-k", type=_parse_count, metavar="N", help=shown)


def _define_tick(verb: ArgumentParser) -> None:
    verb.add_argument("path", metavar="PATH", help="the note, from the folder of notes on")
    verb.add_argument("line", metavar="LINE", type=_parse_count, help="the line of the task")


def _define_review(verb: ArgumentParser) -> None:
    from vault.review.findings import KINDS

    _add_project(verb)
    verb.add_argument(
        "--kind",
        choices=KINDS,
        action="append",
        default=[],
        help="show only findings of this kind; may be given again",
    )
    verb.add_argument(
        "--folder", metavar="PATH", default="", help="show only findings in this folder of notes"
    )
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--dismiss", metavar="KEY", help="hide a finding from now on")
    which.add_argument("--restore", metavar="KEY", help="show a hidden finding again")
    which.add_argument("--fix", metavar="KEY", help="list the fixes of a finding with their diffs")
    verb.add_argument("--choice", metavar="ID", help="with --fix: apply this fix")


def _define_ask(verb: ArgumentParser) -> None:
    verb.add_argument("question", metavar="QUESTION", help="- reads it from standard input")
    verb.add_argument(
        "--mode",
        choices=("chat", "vault", "project", "agent"),
        help="vault where not given, and project with --project",
    )
    _add_project(verb)
    verb.add_argument("--model", metavar="NAME", help="in place of the setting chat.model")
    verb.add_argument("--session", metavar="ID", help="the chat to go on with")
    verb.add_argument(
        "--parent", metavar="ENTRY", help="the entry to go on from (otherwise the last one)"
    )
    verb.add_argument(
        "--attach",
        metavar="PATH|URL",
        action="append",
        default=[],
        help="send a note, a folder, a file, an image or a web page along; may be given again",
    )
    verb.add_argument(
        "--selection",
        metavar="FILE:A-B",
        type=_parse_selection,
        action="append",
        default=[],
        help="send these lines of a file along; may be given again",
    )
    verb.add_argument(
        "--read-whole",
        action="store_true",
        help="have the model read what is attached and too large to be sent, part by part; "
        "what that takes is told first",
    )
    verb.add_argument(
        "--approve",
        choices=("never", "reads", "all"),
        help="what the tools of an agent may do without asking (otherwise a terminal is asked, "
        "and without one nothing is approved); reads: read, and fetch pages of hosts that the "
        "question names, but change nothing",
    )
    verb.add_argument("--no-index", action="store_true", help="leave the index as it is")
    verb.add_argument(
        "--dry-run", action="store_true", help="show what would be sent; send and store nothing"
    )


def _define_judge(verb: ArgumentParser) -> None:
    verb.add_argument(
        "question",
        metavar="QUESTION",
        nargs="?",
        help="what each note is judged by; filters in it are rules",
    )
    stored = verb.add_mutually_exclusive_group()
    stored.add_argument("--stored", action="store_true", help="list the questions with verdicts")
    stored.add_argument(
        "--forget",
        action="store_true",
        help="delete the stored verdicts on QUESTION, or on all questions, after asking",
    )
    verb.add_argument("--scope", metavar="FILTER", help="the notes to judge, as folder:Journal")
    _add_project(verb)
    verb.add_argument("--model", metavar="NAME", help="in place of the setting chat.model")
    verb.add_argument(
        "--first", metavar="N", type=int, help="judge N notes before asking (10; 0: only the price)"
    )
    verb.add_argument(
        "--yes", action="store_true", help="judge all notes, or delete verdicts, without asking"
    )
    verb.add_argument(
        "--sample-model",
        metavar="NAME",
        help="a stronger model that judges a sample again, which bounds the number of matches",
    )
    verb.add_argument("--sample", metavar="N", type=int, help="the notes of the sample (100)")
    verb.add_argument("--retry", action="store_true", help="judge notes again that have failed")
    verb.add_argument("--no-index", action="store_true", help="leave the index as it is")
    verb.add_argument("--csv", metavar="FILE", help="write the table into a file")
    verb.add_argument(
        "--note", metavar="PATH", nargs="?", const="", help="save the table as a note"
    )


def _add_pinned(actions: "Verbs[ArgumentParser]") -> None:
    add = add_verb(actions, "add", "pin a question that is answered without a model, or a search")
    which = add.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "question", metavar="QUESTION", nargs="?", help="such as: open tasks, or tag:recipe"
    )
    which.add_argument("--entry", metavar="ENTRY", help="an answer of a chat")
    add.add_argument("--session", metavar="ID", help="the chat of the answer")
    add.add_argument("--title", metavar="TITLE", help="the name to show (otherwise the question)")
    _add_project(add)
    add_verb(actions, "list", "list the pinned answers, with what came and went")
    about = "show the rows of a pinned answer, and take them as seen"
    show = add_verb(actions, "show", about)
    show.add_argument("id", metavar="ID")
    show.add_argument("--unseen", action="store_true", help="do not take them as seen")
    refresh = add_verb(actions, "refresh", "bring the index up to date, and find the answers again")
    refresh.add_argument("id", metavar="ID", nargs="?", help="only this one (otherwise all)")
    refresh.add_argument("--no-index", action="store_true", help="leave the index as it is")
    note = add_verb(actions, "note", "write a pinned answer into a base or note, or refresh it")
    note.add_argument("id", metavar="ID")
    note.add_argument("--path", metavar="PATH", help="the note or base (otherwise named after it)")
    note.add_argument("--yes", action="store_true", help="make the change without asking")
    rename = add_verb(actions, "rename", "give a pinned answer another title")
    rename.add_argument("id", metavar="ID")
    rename.add_argument("title", metavar="TITLE")
    add_verb(actions, "remove", "take a pinned answer off the list").add_argument(
        "id", metavar="ID"
    )


def _define_context(verb: ArgumentParser) -> None:
    verb.add_argument("--session", metavar="ID", help="the chat (otherwise the one used last)")
    when = verb.add_mutually_exclusive_group()
    when.add_argument("--last", action="store_true", help="the last request (as without this)")
    when.add_argument("--next", action="store_true", help="the next request, as it stands")
    when.add_argument(
        "--at-the-time", action="store_true", help="the request of an answer, as it was sent"
    )
    when.add_argument(
        "--today", action="store_true", help="the request that today's notes would make"
    )
    when.add_argument("--diff", action="store_true", help="what differs between then and today")
    verb.add_argument(
        "--entry", metavar="ENTRY", help="the request of this question or answer, not of the last"
    )
    verb.add_argument("--full", action="store_true", help="with the request itself")


def _define_rehearse(verb: ArgumentParser) -> None:
    verb.add_argument(
        "entry", metavar="ENTRY", nargs="?", help="the question or answer (otherwise the last)"
    )
    verb.add_argument("--session", metavar="ID", help="the chat (otherwise the one used last)")
    what = verb.add_mutually_exclusive_group()
    what.add_argument(
        "--without",
        metavar="KEYS",
        type=_parse_keys,
        help="leave out sources by number, turns and layers, such as 3,5,L4.2,L2",
    )
    what.add_argument(
        "--each", action="store_true", help="leave out every source in turn, in at most 12 calls"
    )
    verb.add_argument("--yes", action="store_true", help="agree to the price without being asked")


def _parse_keys(text: str) -> tuple[str, ...]:
    keys = (key.strip().removeprefix("[").removesuffix("]") for key in text.split(","))
    found = tuple(dict.fromkeys(key[:1].upper() + key[1:] for key in keys if key))
    if not found:
        raise argparse.ArgumentTypeError("name at least one source, turn or layer")
    return found


def _define_passages(verb: ArgumentParser) -> None:
    verb.add_argument(
        "--purge", action="store_true", help="remove what is kept of notes that are deleted"
    )


def _define_compact(verb: ArgumentParser) -> None:
    verb.add_argument("--session", metavar="ID", required=True, help="the chat")
    act = verb.add_mutually_exclusive_group()
    act.add_argument(
        "--instructions", metavar="TEXT", default="", help="what the summary should keep above all"
    )
    act.add_argument("--keep", metavar="FACT", help="add a fact that is gone to the last summary")
    act.add_argument(
        "--take-out", metavar="FACT", help="take a fact that nobody said out of the last summary"
    )
    act.add_argument("--edit", metavar="FILE", help="use the text of a file as the last summary")
    act.add_argument("--undo", action="store_true", help="undo the last change of the last summary")
    act.add_argument(
        "--check", action="store_true", help="search the notes for what the last summary lost"
    )


def _add_settings(actions: "Verbs[ArgumentParser]") -> None:
    add_verb(actions, "list", "show every setting with its value")
    add_verb(actions, "get", "show the value of a setting").add_argument("key", metavar="KEY")
    change = add_verb(actions, "set", "change a setting for good")
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE", type=parse_value)
    add_verb(actions, "path", "show where the settings are written")


def _add_keys(actions: "Verbs[ArgumentParser]") -> None:
    owner = "openai or another service, or an address (otherwise the one in use)"
    add_verb(actions, "show", "show where the key in use comes from")
    enter = add_verb(actions, "set", "enter a key; it is read from standard input, never shown")
    enter.add_argument("owner", metavar="OWNER", nargs="?", help=owner)
    enter.add_argument(
        "--plain-http",
        action="store_true",
        help="agree that the key goes to this address unencrypted",
    )
    test = add_verb(actions, "test", "call the model, and say whether it takes the key")
    test.add_argument("--model", metavar="NAME", help="the model (otherwise the one that is set)")
    add_verb(actions, "remove", "remove a key").add_argument(
        "owner", metavar="OWNER", nargs="?", help=owner
    )


_MARKS = (
    ("pin", "keep a chat at the top of the list in the window"),
    ("unpin", "list a chat by its day again"),
    ("archive", "take a chat off the list, until something is asked in it"),
    ("restore", "put an archived or deleted chat back on the list"),
)


def _add_sessions(actions: "Verbs[ArgumentParser]") -> None:
    listed = add_verb(actions, "list", "list the chats, the one used last first")
    listed.add_argument("--archived", action="store_true", help="those that were archived")
    listed.add_argument("--bin", action="store_true", help="those that were deleted")
    _add_project(listed)
    add_verb(actions, "show", "show a chat").add_argument("session", metavar="ID")
    search = add_verb(actions, "search", "find texts in all chats, the newest first")
    search.add_argument("text", metavar="TEXT", help='all of these words, or "a phrase" in quotes')
    _add_project(search)
    move = add_verb(actions, "move", "move a chat to a project, or out of its project")
    move.add_argument("session", metavar="ID")
    _add_project(move)
    export = add_verb(actions, "export", "print a chat as a document")
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", choices=("md", "json"), default="md", help="default: md")
    note = add_verb(actions, "save-note", "save a chat as a new note")
    note.add_argument("session", metavar="ID")
    note.add_argument("--entry", metavar="ENTRY", help="only this answer, with its question")
    note.add_argument(
        "--path", metavar="PATH", help="where to save it (otherwise named after the chat)"
    )
    _define_chat_memory(add_verb(actions, "memory", "show or change the memory of a chat"))
    fork = add_verb(actions, "fork", "begin a chat that is a copy of another up to an entry")
    fork.add_argument("session", metavar="ID")
    fork.add_argument("--at", metavar="ENTRY", help="the last entry to copy (otherwise the last)")
    rename = add_verb(actions, "rename", "give a chat a title")
    rename.add_argument("session", metavar="ID")
    rename.add_argument("title", metavar="TITLE", help="empty: the first question again")
    for name, help_ in _MARKS:
        add_verb(actions, name, help_).add_argument("session", metavar="ID")
    delete = add_verb(actions, "delete", "move a chat to the bin, from which it can be restored")
    delete.add_argument("session", metavar="ID")
    delete.add_argument("--now", action="store_true", help="for good; a terminal is asked first")
    empty = add_verb(actions, "empty-bin", "delete what is in the bin; a terminal is asked first")
    for action in (delete, empty):
        action.add_argument("--yes", action="store_true", help="do not ask")


def _add_projects(actions: "Verbs[ArgumentParser]") -> None:
    add_verb(actions, "list", "list the projects")
    shown = add_verb(actions, "show", "show a project's texts, members, chats and what L1 holds")
    add = add_verb(actions, "add", "open a folder as a project")
    remove = add_verb(actions, "remove", "take a project off the list, and keep everything")
    rename = add_verb(actions, "rename", "give a project a title; its folder keeps its name")
    change = add_verb(actions, "set", "change what a project uses")
    page = add_verb(actions, "add-page", "fetch a web page or read a transcript, and keep it")
    refresh = add_verb(actions, "refresh", "fetch what a project keeps again")
    gone = add_verb(actions, "remove-page", "keep a web page or transcript no longer")
    for action in (shown, add, remove, rename, change, page, refresh, gone):
        action.add_argument("dir", metavar="DIR", help="in the folder of notes or outside")
    rename.add_argument("title", metavar="TITLE", help="empty: the name of the folder again")
    change.add_argument("key", choices=("instructions", "include", "exclude", "model"))
    change.add_argument("values", metavar="VALUE", nargs="*", help="patterns, lines or a name")
    page.add_argument("address", metavar="ADDRESS", help="a web address, or a .vtt, .srt or .txt")
    refresh.add_argument("addresses", metavar="ADDRESS", nargs="*", help="(otherwise all)")
    gone.add_argument("address", metavar="ADDRESS", help="or its id, as `show` prints it")


def _define_chat_memory(memory: ArgumentParser) -> None:
    memory.add_argument("session", metavar="ID")
    memory.add_argument("--scratchpad", metavar="TEXT", help="replace the model's notes")
    memory.add_argument("--objective", metavar="TEXT", help="replace the current objective")
    memory.add_argument(
        "--phase",
        choices=("planning", "execution", "verification"),
        help="replace the phase of the work, which otherwise follows from the steps",
    )
    for name, field in (("--done", "completed"), ("--to-do", "pending")):
        help_ = f"replace the {field} steps; may be given again"
        memory.add_argument(name, metavar="STEP", action="append", help=help_)
    memory.add_argument(
        "--fact", metavar="TEXT", action="append", help="replace the facts; may be given again"
    )


def _add_instructions(actions: "Verbs[ArgumentParser]") -> None:
    shown = add_verb(actions, "show", "show your own, and the AGENTS.md with whether it is used")
    accepted = add_verb(actions, "accept", "give it to models from now on")
    refused = add_verb(actions, "refuse", "leave it out from now on")
    for action in (shown, accepted, refused):
        action.add_argument(
            "--project", metavar="DIR", help="those of a project, in the folder of notes or outside"
        )


def _add_skills(actions: "Verbs[ArgumentParser]") -> None:
    listed = add_verb(actions, "list", "list the skills, and whether each is used")
    shown = add_verb(actions, "show", "show the text of a skill, and its files")
    accepted = add_verb(actions, "accept", "give a skill of the notes to models, as it is now")
    refused = add_verb(actions, "refuse", "leave a skill of the notes out")
    for action in (shown, accepted, refused):
        action.add_argument("name", metavar="NAME", help="the name of the skill")
    for action in (listed, shown, accepted, refused):
        action.add_argument("--project", metavar="DIR", help="also those of a project")


def _define_restore(verb: ArgumentParser) -> None:
    verb.add_argument("file", metavar="FILE", help="a file that `strata backup` made")
    verb.add_argument(
        "--merge",
        action="store_true",
        help="also where Strata has stored something: chats, settings and memories are merged",
    )
    verb.add_argument(
        "--vault",
        dest="moved",
        action="append",
        default=[],
        type=parse_move,
        metavar="OLD=NEW",
        help="where a folder of notes or a project is now; can be repeated",
    )


def _define_undo(verb: ArgumentParser) -> None:
    which = verb.add_mutually_exclusive_group()
    which.add_argument("--run", metavar="ID", help="the run to undo (default: the last one)")
    which.add_argument("--edit", metavar="ID", help="one edit instead of a run")
    which.add_argument("--session", metavar="ID", help="the last run of this chat")


def _add_memory(actions: "Verbs[ArgumentParser]") -> None:
    listed = add_verb(actions, "list", "list the memories")
    edit = add_verb(actions, "edit", "replace a memory")
    forget = add_verb(actions, "forget", "remove a memory")
    for action in (edit, forget):
        action.add_argument("number", metavar="N", type=_parse_count, help="as the list counts")
    edit.add_argument("text", metavar="TEXT")
    path = add_verb(actions, "path", "print the file they are in")
    for action in (listed, edit, forget, path):
        action.add_argument("--project", metavar="DIR", help="those of a project")


def _parse_selection(text: str) -> tuple[str, int, int]:
    path, _, lines = text.rpartition(":")
    first, _, last = lines.partition("-")
    are_numbers = all(end.isascii() and end.isdigit() for end in (first, last))
    if not path or not are_numbers or not 1 <= int(first) <= int(last):
        raise argparse.ArgumentTypeError(f"{text} is not FILE:A-B, with lines counted from 1")
    return path, int(first), int(last)


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST_HITS:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {_MOST_HITS:,}")
    return int(text)


def _parse_offset(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 on")
    return int(text)
