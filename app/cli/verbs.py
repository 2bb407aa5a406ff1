"""Run command-line verbs: call the assistant, and print text or one JSON document.

`app.cli.search` contains the verb `search`, `app.cli.ask` the verb `ask`, `app.cli.sessions` the
verbs for chats, `app.cli.project` the verb `project`, `app.cli.backup` those for backups, and
`app.cli.settings` those for settings, API keys, instructions, skills, memories and costs.
"""

import argparse
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Final

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.interrupt import FAILED, ExitStatus, Interruptible, end_on_sigterm
from app.cli.output import Output, ProgressLine, complain, readable
from app.errors import StorageFailed, TurnFailed, VaultNotChosen
from app.hidden_characters import escape_text
from app.library.library import IndexFinished, Library
from app.log import open_log
from app.paths import Paths
from app.wiring import build, find_vault, open_vault
from context.json_codec import encode
from vault.errors import VaultError

Verb = Callable[[argparse.Namespace, Assistant, Output], int]

_log = logging.getLogger(__name__)
# The verbs that remove what has been in the bin for thirty days.
_WRITES_CHATS: Final = frozenset({"ask", "compact", "rpc"})


def run_verb(args: argparse.Namespace) -> int:
    """Run the verb of the parsed command line, and return its exit code."""
    output = Output(args.json, on_one_line=args.verb == "rpc")  # its clients read lines
    with ExitStatus(output) as status:
        with _report_as_turn(args):
            paths = Paths.find()
            open_log(paths)
            assistant = build(paths, args.overrides)
            if args.verb not in _BEARS_DAMAGE:
                assistant.settings.require_sound()
        _log.info("strata %s", args.verb)
        with closing(assistant):
            if args.verb in _WRITES_CHATS and not getattr(args, "dry_run", False):
                assistant.sessions.bin.remove_expired()
            status.code = _find_verb(args.verb)(args, assistant, output)
            for warning in assistant.take_warnings():
                complain(warning)
    return status.code


@contextmanager
def _report_as_turn(args: argparse.Namespace) -> Iterator[None]:
    """Convert any exception of the verb `ask` to that of a failed turn, which names the chat."""
    try:
        yield
    except Exception as error:
        if args.verb != "ask":
            raise
        raise TurnFailed(error, args.session) from error


def _find_verb(name: str) -> Verb:
    """Return the function that runs a verb. The modules of other verbs are not loaded."""
    if name == "ask":
        from app.cli.ask import ask

        return ask
    if name in ("compact", "context", "passages", "sessions"):
        from app.cli.sessions import SESSION_VERBS

        return SESSION_VERBS[name]
    if name == "project":
        from app.cli.project import run_project

        return run_project
    if name in ("backup", "restore"):
        from app.cli.backup import BACKUP_VERBS

        return BACKUP_VERBS[name]
    if name in ("judge", "pinned", "table"):
        return _find_answer_verb(name)
    if name in _VERBS:
        return _VERBS[name]
    from app.cli.settings import SETTINGS_VERBS

    return SETTINGS_VERBS[name]


def _find_answer_verb(name: str) -> Verb:
    """Return the function that runs a verb which answers from many notes at once."""
    if name == "judge":
        from app.cli.judge import judge

        return judge
    if name == "pinned":
        from app.cli.pinned import PINNED_VERBS

        return PINNED_VERBS[name]
    from app.cli.views import show_table

    return show_table


def _index(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    if args.dir is not None:
        args.vault = args.dir
    open_vault(assistant, args.vault)
    if assistant.library is not None and args.retry:
        assistant.library.vault.retry()
    if assistant.library is not None and args.rebuild:
        assistant.library.vault.rebuild()
    line = ProgressLine()
    with Interruptible() as run:
        for event in assistant.index(run.cancel):
            if isinstance(event, IndexFinished):
                line.clear()
                output.show(partial(encode, event.report), cli_text.index_report(event.report))
            else:
                line.show_progress(event.progress)
    return run.exit_code or 0


def _show_related(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata related`, and return the exit code."""
    from app.cli.search import rebuild_if_damaged

    open_vault(assistant, args.vault)
    library, path = _library(assistant), readable(args.path)
    library.vault.notes()
    rebuild_if_damaged(library)
    found = assistant.find_related(path, args.k, args.project)
    output.show(
        lambda: {"path": path, "notes": encode(found)},
        cli_text.list_related(found),
    )
    return 0


def _list_vaults(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata vaults`, and return the exit code."""
    from app.library.known_vaults import list_vaults

    found = list_vaults(assistant.settings.values.vault_path)
    lines = [escape_text(f"{'*' if one['open'] else ' '} {one['path']}") for one in found]
    output.show(lambda: {"vaults": found}, lines or ["No vault is known on this computer."])
    return 0


def _tick(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata tick`, and return the exit code."""
    open_vault(assistant, args.vault)
    task = assistant.user_edits.toggle_task(readable(args.path), args.line)
    line = f"[{task.status}] {task.text}  {task.path}:{task.line}"
    day = f" It is on {task.next_day}." if task.next_day else ""
    following = [f"The next task is in line {task.next_line}.{day}"] if task.next_line else []
    if task.next_day and not task.next_line:
        following = [f"It is open again, for {task.next_day}."]
    deleted = ["It was deleted, as its line says."] if task.is_deleted else []
    lines = [escape_text(line), *deleted, *following, f"`strata undo --run {task.run}` undoes it."]
    output.show(task.to_dict, lines)
    return 0


def _review(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata review`, and return the exit code."""
    from app.library.review import review_with
    from vault.review.findings import FindingFilter

    open_vault(assistant, args.vault)
    review = assistant.find_review(args.project)
    if args.fix is not None:
        return _fix(args, assistant, output)
    which = FindingFilter(frozenset(args.kind), args.folder)
    with Interruptible() as run:
        result = review_with(review, run.cancel, which, args.dismiss, args.restore)
    output.show(result.to_dict, cli_text.review(result, which))
    return run.exit_code or 0


def _rehearse(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata rehearse`, and return the exit code."""
    from app.cli.rehearse import rehearse

    return rehearse(args, assistant, output)


def _fix(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata review --fix`, and return the exit code."""
    from app.library.review import find_finding

    fixes = assistant.build_fixes(args.project)
    with Interruptible() as run:
        finding = find_finding(assistant.find_review(args.project), run.cancel, args.fix)
    if args.choice is None:
        found = fixes.list_fixes(finding)
        shown = {"key": finding.key, "fixes": [fix.to_dict() for fix in found]}
        output.show(lambda: shown, cli_text.list_fixes(finding.key, found))
        return run.exit_code or 0
    fixed = fixes.apply(finding, args.choice)
    lines = [
        f"{fixed.label}: {', '.join(fixed.paths)}",
        f"`strata undo --run {fixed.run}` undoes it.",
    ]
    output.show(fixed.to_dict, map(escape_text, lines))
    return run.exit_code or 0


def _library(assistant: Assistant) -> Library:
    if assistant.library is None:
        raise VaultNotChosen
    return assistant.library


def _selftest(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    open_vault(assistant, args.vault)
    if assistant.library is None:
        raise VaultNotChosen
    with Interruptible() as run:
        result = assistant.library.vault.self_test(lambda: run.cancel.is_cancelled)
    output.show(partial(encode, result), cli_text.self_test(result))
    return run.exit_code or 0


def _doctor(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    from app.doctor import check_up

    checks = check_up(assistant, find_vault(assistant, args.vault))
    is_ok = all(check.ok for check in checks)
    output.show(
        lambda: {"ok": is_ok, "checks": [check.to_dict() for check in checks]},
        cli_text.checks(checks),
    )
    return 0 if is_ok else FAILED


def _undo(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    if args.vault is not None or not (args.run or args.edit or args.session):
        open_vault(assistant, args.vault)
    undone = assistant.edits.undo(run=args.run, edit=args.edit, session=args.session)
    output.show(partial(encode, undone), [escape_text(undone.describe())])
    return 0


def _rpc(args: argparse.Namespace, assistant: Assistant, _output: Output) -> int:
    from app.rpc.server import serve_standard_streams

    try:
        open_vault(assistant, args.vault)
    except (VaultError, StorageFailed) as error:
        if args.vault is not None:
            raise
        _log.warning("The folder of the settings was not opened: %s", error)
    end_on_sigterm()
    serve_standard_streams(assistant)
    return 0


def _serve_mcp(args: argparse.Namespace, assistant: Assistant, _output: Output) -> int:
    from app.rpc.mcp_server import serve_notes

    open_vault(assistant, args.vault)
    end_on_sigterm()
    serve_notes(assistant)
    return 0


_VERBS: Mapping[str, Verb] = {
    "index": _index,
    "related": _show_related,
    "rehearse": _rehearse,
    "review": _review,
    "selftest": _selftest,
    "tick": _tick,
    "vaults": _list_vaults,
    "undo": _undo,
    "doctor": _doctor,
    "rpc": _rpc,
    "mcp": _serve_mcp,
}
# These verbs show or repair a damaged settings file; all others need a valid one.
_BEARS_DAMAGE = frozenset({"settings", "doctor", "backup", "restore"})
