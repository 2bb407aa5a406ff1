"""Run `strata judge`: judge every note of a scope by a question, and print the table."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine, can_ask, complain, confirm, readable
from app.errors import InvalidRequest, storage_errors
from app.hidden_characters import escape_text
from app.judge.judging import FIRST_NOTES, JudgeFinished
from app.judge.store import JudgedQuestion, count_stored, say_stored
from app.judge.table import DEFAULT_SAMPLE, JudgeRequest, JudgeRow, JudgeTable, write_csv
from app.library.library import IndexFinished
from app.wiring import open_vault
from chains.errors import Cancelled
from context.fixes import Command, Fix
from resources.system.files import write_atomically
from vault.coverage import name_count
from vault.errors import IndexBusy

__all__ = ["judge"]

_NONE_STORED: Final = "No verdicts are stored."
_RUN_OPTIONS: Final = (
    *("vault", "scope", "project", "first", "sample_model", "sample"),
    *("retry", "no_index", "csv", "note"),
)
_AGAIN: Final = "Verdicts so far are kept. The same command goes on."


def judge(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata judge`, and return the exit code."""
    if args.stored or args.forget:
        return _show_stored(args, assistant, output)
    if args.question is None:
        raise InvalidRequest(
            "There is no question to judge notes by.",
            hint=Fix("Write it behind {}, in quotation marks.", Command("judge")),
        )
    open_vault(assistant, args.vault)
    first = FIRST_NOTES if args.first is None else args.first
    request = JudgeRequest(
        readable(args.question),
        readable(args.scope or ""),
        args.project,
        args.model,
        first,
        args.retry,
        args.sample_model,
        DEFAULT_SAMPLE if args.sample is None else args.sample,
    )
    run = _JudgeRun(assistant, output)
    if not args.no_index:
        run.update_index(request)
    table = assistant.judging.read(request)
    if table.cost.notes or args.retry:
        run.show_cost(table)
        table = run.judge(replace(request, first=None) if args.yes else request)
        if first and table.cost.notes and not args.yes and run.may_go_on(table):
            table = run.judge(replace(request, first=None, retries=False))
        if table.sample is not None and table.cost.notes and run.may_judge_sample(args, table):
            table = run.judge(replace(request, first=None, retries=False))
    if not output.is_json:  # the verdicts are shown even if they cannot be written
        output.print_lines(_list_lines(table))
    written = _write(args, assistant, table)
    output.show(lambda: {**table.to_dict(), **written}, _say(written))
    return run.exit_code


def _show_stored(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """List the questions with stored verdicts, or delete those that the options choose."""
    _refuse_options(args)
    kept = assistant.kept_verdicts
    question = None if args.question is None else readable(args.question)
    model = None if args.model is None else readable(args.model)
    found = kept.find(question, model)
    lines = [escape_text(one.sentence) for one in found] or [_NONE_STORED]
    is_agreed = bool(args.forget and found) and _may_forget(args, output, found)
    gone = kept.forget(question, model) if is_agreed else ()
    verdicts, failures = count_stored(gone)
    if is_agreed:
        lines = [f"{say_stored(verdicts, failures)} deleted."]
    result = {"questions": [one.to_dict() for one in found], "forgotten": verdicts}
    output.show(lambda: {**result, "failures": failures}, lines)
    return FAILED if args.forget and found and not is_agreed else 0


def _refuse_options(args: argparse.Namespace) -> None:
    """Refuse the options that have no meaning for stored verdicts."""
    verb = "--forget" if args.forget else "--stored"
    given = [
        f"--{name.replace('_', '-')}"
        for name in _RUN_OPTIONS
        if getattr(args, name) is not None and getattr(args, name) is not False
    ]
    if given:
        raise InvalidRequest(
            f"{' and '.join(given)} cannot be given with {verb}, which takes only a question and "
            "--model.",
        )


def _may_forget(args: argparse.Namespace, output: Output, found: Sequence[JudgedQuestion]) -> bool:
    """Return whether to delete stored verdicts, asking the user."""
    if args.yes:
        return True
    stored = say_stored(*count_stored(found))
    if output.is_json or not can_ask():
        complain(f"Nothing is deleted: {stored}. With --yes, nothing is asked before.")
        return False
    sys.stderr.write("".join(f"{escape_text(one.sentence)}\n" for one in found))
    return confirm(f"Delete {stored}? To judge these notes again costs the calls again.")


class _JudgeRun:
    """Judges notes, with their progress on standard error.

    Attributes:
        exit_code: the exit code of a signal that stopped the run, or 0.
    """

    def __init__(self, assistant: Assistant, output: Output) -> None:
        self._assistant, self._output = assistant, output
        self._line = ProgressLine()
        self.exit_code = 0

    def update_index(self, request: JudgeRequest) -> None:
        """Bring the index of the notes up to date, unless another Strata does so."""
        try:
            with Interruptible() as run:
                for event in self._assistant.judging.update(request, run.cancel):
                    if not isinstance(event, IndexFinished):
                        self._line.show_progress(event.progress)
        except IndexBusy as error:
            complain(f"{error} The notes are judged as they were indexed before.")
        self._line.clear()

    def judge(self, request: JudgeRequest) -> JudgeTable:
        """Judge notes, and return the table. After Ctrl+C, it has the verdicts so far."""
        judging = self._assistant.judging
        try:
            with Interruptible() as run, closing(judging.judge(request, run.cancel)) as events:
                for event in events:
                    if isinstance(event, JudgeFinished):
                        self._line.clear()
                        return event.table
                    self._line.show_long(event.sentence)
        except KeyboardInterrupt as stopped:
            if not isinstance(stopped.__cause__, Cancelled):
                raise
            self._line.clear()
            self.exit_code = run.exit_code or 0
            complain(f"Stopped. {_AGAIN}")
            return judging.read(request)
        except Exception:
            self._line.clear()
            complain(_AGAIN)
            raise
        raise AssertionError("a run ends with its table")

    def show_cost(self, table: JudgeTable) -> None:
        """Print what judging the notes takes, on standard error."""
        if table.cost.notes:
            complain(table.cost.sentence)

    def may_judge_sample(self, args: argparse.Namespace, table: JudgeTable) -> bool:
        """Return whether to judge the sample, whose price is shown."""
        if not args.yes:
            return self.may_go_on(table)
        self.show_cost(table)
        return not self.exit_code

    def may_go_on(self, table: JudgeTable) -> bool:
        """Return whether to judge the other notes too, asking the user."""
        if self._output.is_json or not can_ask() or self.exit_code:
            complain(f"{table.cost.sentence} With --yes, they are judged without asking.")
            return False
        sys.stderr.write("".join(f"{line}\n" for line in (*_list_lines(table), "")))
        others = name_count(table.cost.notes, "other note")
        return confirm(f"{table.cost.sentence}\nJudge the {others} too?")


def _write(
    args: argparse.Namespace, assistant: Assistant, table: JudgeTable
) -> Mapping[str, object]:
    """Write the table to where the options say, and return what was written."""
    written: dict[str, object] = {}
    if args.csv is not None:
        file = Path(args.csv)
        with storage_errors(file):
            write_atomically(file, write_csv(table).encode("utf-8-sig", "backslashreplace"))
        written["csv"] = str(file)
    if args.note is not None:
        path, run = assistant.judging.save(table, readable(args.note) or None)
        written |= {"note": path, "run": run}
    return written


def _list_lines(table: JudgeTable) -> Iterator[str]:
    """Format the rows except those judged no, and the coverage."""
    yield from (_format(row) for row in table.rows if row.verdict not in ("no", "waiting"))
    yield escape_text(table.coverage)


def _format(row: JudgeRow) -> str:
    quote_or_reason = f"“{' '.join(row.quote.split())}”" if row.quote else row.reason
    place = cli_text.place(row.path, row.lines)
    return f"{row.shown_verdict:<12} {place}  {escape_text(quote_or_reason)}".rstrip()


def _say(written: Mapping[str, object]) -> Iterator[str]:
    if "csv" in written:
        yield escape_text(f"Written: {written['csv']}")
    if "note" in written:
        yield escape_text(
            f"Saved as {written['note']}. `strata undo --run {written['run']}` undoes it."
        )
