"""What each verb does: a use-case of the assistant, printed for a person or as one document."""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, redirect_stdout
from functools import partial
from typing import Any

from app.assistant import Assistant
from app.cli import (
    instructions as cli_instructions,
)
from app.cli import (
    keys as cli_keys,
)
from app.cli import (
    map_reduce as cli_reading,
)
from app.cli import (
    search as cli_search,
)
from app.cli import (
    sessions as cli_sessions,
)
from app.cli import (
    text as cli_text,
)
from app.cli.output import Interruptible, Output, OutputGone, complain
from app.cli.run import FAILED, INTERRUPTED, fail, open_vault, run_settings, vault_folder
from app.cli.search import readable
from app.cli.turn import TurnPrinter
from app.doctor import check_up
from app.errors import (
    AppError,
    NotFound,
    SessionMissing,
    StorageFailed,
    TurnFailed,
    VaultNotChosen,
    describe,
)
from app.library.attachments import Selection
from app.library.library import IndexFinished
from app.log import open_log
from app.paths import Paths
from app.sessions.ask import AskRequest
from app.wiring import build, folder_of
from chains.events import CompactionEnded, CompactionStarted
from context.report.markdown import envelope_markdown, report_markdown
from vault.errors import VaultError

_log = logging.getLogger(__name__)
OUTPUT_GONE = 141  # as a shell reports a program that SIGPIPE ended


def run_verb(args: argparse.Namespace) -> int:
    """Do what a verb says, and return the exit code."""
    output = Output(args.json)
    try:
        paths = Paths.find()
        open_log(paths)
        assistant = build(paths, run_settings(args))
        if args.verb not in _BEARS_DAMAGE:
            assistant.settings.require_sound()
        _log.info("strata %s", args.verb)
        with closing(assistant):
            code = _VERBS[args.verb](args, assistant, output)
            for said in assistant.take_warnings():
                complain(said)
            return code
    except OutputGone as gone:
        if not gone.reason:
            return OUTPUT_GONE
        complain(f"The result cannot be printed: {gone.reason}.")
        return FAILED
    except KeyboardInterrupt as error:
        output.failure(describe(error))
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the end of the line: it is told, and logged if a bug)
        return fail(output, error)


def _index(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    if args.dir is not None:
        args.late_vault = args.dir
    open_vault(args, assistant)
    if assistant.library is not None and args.retry:
        assistant.library.retry()
    if assistant.library is not None and args.rebuild:
        assistant.library.rebuild()
    line = cli_text.ProgressLine()
    with Interruptible() as run:
        for event in assistant.index(run.cancel):
            if isinstance(event, IndexFinished):
                line.clear()
                output.show(event.report.to_dict, cli_text.index_report(event.report))
            else:
                line.show(cli_text.progress(event.progress))
    return run.exit_code or 0


def _ask(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    request = AskRequest(
        question=_question(args.question),
        mode=args.mode,
        model=args.model,
        session=args.session,
        dry_run=args.dry_run,
        update_index=not args.no_index,
        attach=tuple(args.attach),
        selections=tuple(Selection(*lines) for lines in args.selection),
        parent=args.parent,
        reads_whole=args.read_whole,
    )
    _open_vault_to_ask(args, assistant)
    is_read = args.read_whole and not args.dry_run
    if is_read and not cli_reading.is_agreed(assistant, request, output.is_json):
        return FAILED
    if not (output.is_json or args.dry_run):
        cli_instructions.ask_once(assistant)
    printer = TurnPrinter(output, args.dry_run)
    # What a hook prints goes to standard error: the answer has standard output to itself.
    with Interruptible() as run, redirect_stdout(sys.stderr):
        for event in assistant.ask(request, run.cancel):
            printer.show(event)
    return run.exit_code or 0


def _open_vault_to_ask(args: argparse.Namespace, assistant: Assistant) -> None:
    """Open the notes where they are needed, or where something of them may be attached."""
    is_needed = args.mode != "chat" or args.attach or args.selection
    if not is_needed and args.session is None and vault_folder(args) is None:
        return
    try:
        open_vault(args, assistant, args.session)
    except (AppError, VaultError) as error:
        if is_needed:
            raise TurnFailed(error, args.session) from error
        _log.info("The notes of the chat are not open: %s", error)


def _compact(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    try:
        open_vault(args, assistant, args.session)
    except (AppError, VaultError) as error:
        _log.info("The notes of the chat are not open: %s", error)
    line = cli_text.ProgressLine()
    with Interruptible() as run:
        for event in assistant.compact(args.session, run.cancel, readable(args.instructions)):
            match event:
                case CompactionStarted():
                    line.show("Summing up…")
                case CompactionEnded(result):
                    line.clear()
                    output.show(partial(dict, result), cli_text.compaction(result))
    return run.exit_code or 0


def _context(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    session = args.session or assistant.sessions.newest()
    if args.next:
        open_vault(args, assistant, session)
        found: Mapping[str, Any] | None = assistant.preview(session, full=args.full)
    elif session is None:
        raise SessionMissing("There is no chat yet.", hint='Begin one with strata ask "…".')
    else:
        found = assistant.last_context(session, args.full)
    if found is None:
        raise NotFound(f"Nothing has been asked in the chat {session} yet.")
    output.show(lambda: found, _context_text(found))
    return 0


def _context_text(found: Mapping[str, Any]) -> Iterator[str]:
    if found["rebuilt"]:
        yield "(rebuilt: the request itself is not kept any more)\n"
    body = found.get("request_body")
    text = report_markdown(found) if body is None else envelope_markdown(found, body)
    yield cli_text.plain(text)


def _settings(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    store = assistant.settings
    match args.action:
        case "list":
            listing = store.listing()
            output.show(lambda: {"settings": listing}, cli_text.setting_lines(listing))
            for key in store.unknown:
                complain(f"{key} in settings.toml is not known here.")
        case "get":
            found = store.get(args.key)
            output.show(lambda: {"key": args.key, "value": found}, [cli_text.value(found)])
        case "set":
            held = store.set(args.key, args.value)
            text = f"{args.key} = {cli_text.value(held)}"
            output.show(lambda: {"key": args.key, "value": held}, [text])
        case _:
            output.show(lambda: {"path": str(store.path)}, [str(store.path)])
    return 0


def _keys(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    return cli_keys.run(args, assistant, output)


def _instructions(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    open_vault(args, assistant)
    return cli_instructions.run(args, assistant, output)


def _selftest(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    open_vault(args, assistant)
    if assistant.library is None:
        raise VaultNotChosen
    with Interruptible() as run:
        result = assistant.library.self_test(run.cancel)
    output.show(result.to_dict, cli_text.self_test(result))
    return run.exit_code or 0


def _doctor(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    checks = check_up(assistant, folder_of(assistant, vault_folder(args)))
    is_ok = all(check.ok for check in checks)
    output.show(
        lambda: {"ok": is_ok, "checks": [check.to_dict() for check in checks]},
        cli_text.checks(checks),
    )
    return 0 if is_ok else FAILED


def _rpc(args: argparse.Namespace, assistant: Assistant, _output: Output) -> int:
    from app.rpc.server import serve_standard_streams

    try:
        open_vault(args, assistant)
    except (VaultError, StorageFailed) as error:
        if vault_folder(args) is not None:
            raise
        _log.warning("The folder of the settings was not opened: %s", error)
    serve_standard_streams(assistant)
    return 0


def _question(text: str) -> str:
    if text != "-":
        return readable(text)
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n")


_VERBS: Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int]] = {
    "index": _index,
    "search": cli_search.search,
    "related": cli_search.related,
    "ask": _ask,
    "compact": _compact,
    "context": _context,
    "settings": _settings,
    "sessions": cli_sessions.run,
    "instructions": _instructions,
    "keys": _keys,
    "selftest": _selftest,
    "doctor": _doctor,
    "rpc": _rpc,
}
# These look at a damaged settings file, or mend it; all others need it sound.
_BEARS_DAMAGE = frozenset({"settings", "doctor"})
