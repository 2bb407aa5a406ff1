"""Run `strata pinned`: pin questions, and show what came and went in their answers."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.approvals import TerminalApprovals, format_proposal
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine, can_ask, complain, readable
from app.errors import InvalidRequest
from app.hidden_characters import escape_text
from app.library.library import IndexFinished
from app.pinned.answer import AnswerRow
from app.pinned.answers import ShownAnswer
from app.wiring import open_vault
from chains.cancel import CancelToken
from chains.tool import ApprovalRequest, Proposal
from vault.errors import IndexBusy

__all__ = ["PINNED_VERBS"]

_NOT_WRITTEN: Final = "Nothing was written. With --yes, the change is made without asking."
_NONE: Final = "No pinned answers yet. `strata pinned add QUESTION` pins one."


def run_pinned(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata pinned`, and return the exit code."""
    open_vault(assistant, args.vault)
    return _ACTIONS[args.action](args, assistant, output)


def _add(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    title, project = readable(args.title or ""), args.project
    if args.entry is not None:
        if args.session is None:
            raise InvalidRequest("Name the chat of the answer with --session ID.")
        added = assistant.pinned.add_answer(args.session, args.entry)
    else:
        added = assistant.pinned.add(readable(args.question), title=title, project=project)
    output.show(added.to_dict, [*_describe(added), *_list_rows(added)])
    return 0


def _list(_args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    return _show_all(assistant.pinned.refresh(), output)


def _show(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    assistant.pinned.refresh([args.id])
    shown = assistant.pinned.find(args.id) if args.unseen else assistant.pinned.look(args.id)
    output.show(shown.to_dict, [*_describe(shown), *_list_rows(shown)])
    return 0


def _refresh(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    line = ProgressLine()
    with Interruptible() as run:
        try:
            for event in () if args.no_index else assistant.index(run.cancel):
                if not isinstance(event, IndexFinished):
                    line.show_progress(event.progress)
        except IndexBusy as error:  # another Strata brings it up to date
            complain(f"{error} The answers are found in what was indexed before.")
    line.clear()
    ids = [args.id] if args.id else None
    found = assistant.pinned.refresh(ids)
    _show_all([one for one in found if ids is None or one.answer.id in ids], output)
    return run.exit_code or 0


def _write(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Show the change, and make it if it is approved. Return the exit code."""
    path = None if args.path is None else readable(args.path)
    planned = assistant.pinned_notes.plan(args.id, path)
    apply = partial(assistant.pinned_notes.apply, planned)
    proposal = Proposal("write", planned.sentence, apply, planned.plan.diff)
    if not output.is_json:
        output.print_lines(format_proposal(proposal))
    is_approved = args.yes
    if not is_approved and not output.is_json and can_ask():
        request = ApprovalRequest("", "", "write_pinned_answer", {}, proposal)
        is_approved = TerminalApprovals().decide(request, CancelToken()) == "once"
    run = apply() if is_approved else None
    message = f"Written. `strata undo --run {run}` undoes it." if run else _NOT_WRITTEN
    output.show(lambda: {**planned.to_dict(), "run": run}, [message])
    return 0 if is_approved else FAILED


def _rename(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    renamed = assistant.pinned.rename(args.id, readable(args.title))
    output.show(renamed.to_dict, _describe(renamed))
    return 0


def _remove(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    removed, _ = assistant.pinned.remove(args.id)
    output.show(lambda: {"id": removed.id}, [f"Removed {escape_text(removed.title)}."])
    return 0


def _show_all(found: Sequence[ShownAnswer], output: Output) -> int:
    lines = [line for shown in found for line in _describe(shown)]
    output.show(lambda: {"pinned": [shown.to_dict() for shown in found]}, lines or [_NONE])
    return 0


def _describe(shown: ShownAnswer) -> Iterator[str]:
    answer, mark = shown.answer, shown.changes.mark
    yield escape_text(f"{answer.id}  {answer.title}  {answer.total:,}{f'  {mark}' if mark else ''}")
    if answer.summary:
        yield f"   {escape_text(answer.summary)}"
    if shown.problem:
        yield f"   {escape_text(shown.problem)}"


def _list_rows(shown: ShownAnswer) -> Iterator[str]:
    """Format the rows: "+" before one that came, "-" before one that went, "~" if it was edited."""
    changes = shown.changes
    new, edited = set(changes.new), {one.after: one.before for one in changes.changed}
    for row in shown.answer.rows:
        if row in edited:
            yield f" ~ {_format(row)}"
            yield f"   before: {escape_text(edited[row].shown)}"
        else:
            moved = changes.moved.get(row.path)
            was = f"  (was {escape_text(moved)})" if moved else ""
            yield f" {'+' if row in new else ' '} {_format(row)}{was}"
    yield from (f" - {_format(row)}" for row in changes.gone)


def _format(row: AnswerRow) -> str:
    place = cli_text.place(row.path, (row.line, row.line))
    text = " / ".join(row.shown.split("\n"))
    return f"{place}  {escape_text(text)}"


_Action = Callable[[argparse.Namespace, Assistant, Output], int]
_ACTIONS: Final[Mapping[str, _Action]] = {
    "add": _add,
    "list": _list,
    "show": _show,
    "refresh": _refresh,
    "note": _write,
    "rename": _rename,
    "remove": _remove,
}
PINNED_VERBS: Final[Mapping[str, _Action]] = {"pinned": run_pinned}
