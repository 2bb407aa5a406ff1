"""The verbs `backup` and `restore`.

Both show their progress on standard error, and Ctrl+C stops them between two files. A backup that
was stopped leaves no file. A restore that was stopped can be run again, and continues.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from app.assistant import Assistant
from app.backup.archive import ArchiveWriter, BackupReport, FileProgress
from app.backup.restore import Restorer, RestoreReport
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine
from app.hidden_characters import escape_text


def back_up(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata backup`, and return the exit code."""
    writer = ArchiveWriter(assistant.paths, assistant.settings, assistant.sessions.state)
    with Interruptible() as run:
        report = _follow(writer.write(Path(args.file).absolute(), run.cancel))
    assert isinstance(report, BackupReport)
    output.show(report.to_dict, _describe_backup(report))
    return run.exit_code or (FAILED if report.left_out else 0)


def restore(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata restore`, and return the exit code."""
    chats = assistant.sessions
    restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)
    with Interruptible() as run:
        source = Path(args.file).absolute()
        moved = {old: Path(new) for old, new in args.moved}
        events = restorer.restore(source, merges=args.merge, cancel=run.cancel, moved=moved)
        report = _follow(events)
    assert isinstance(report, RestoreReport)
    assistant.remove_excluded()  # an older backup may have their text
    output.show(report.to_dict, _describe_restore(report))
    return run.exit_code or (FAILED if report.failed else 0)


def _follow(events: Iterable[object]) -> object:
    """Show how many files are done, and return the report, which is the last event.

    Args:
        events: the progress and the report of a backup or a restore.
    """
    line, event = ProgressLine(), None
    for event in events:
        if isinstance(event, FileProgress):
            line.show_long(f"{event.done:,} of {event.total:,} files")
    line.clear()
    return event


def _describe_backup(report: BackupReport) -> Iterator[str]:
    size = f"{report.size / 1_000_000:,.1f} MB"
    yield escape_text(
        f"{report.path}: {_count(report.files, 'file')}, {_count(report.chats, 'chat')}, {size}."
    )
    yield "It has no API keys: those stay in the system's keyring. The index is built anew."
    for name, reason in report.left_out:
        yield escape_text(f"Left out: {name}. {reason}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _describe_restore(report: RestoreReport) -> Iterator[str]:
    counts = report.counts
    yield (
        f"{_count(counts['restored'], 'file')} restored, {counts['merged']:,} merged with what was "
        f"here, {counts['unchanged']:,} the same already."
    )
    for path in report.aside:
        yield escape_text(f"It differs from what is here, so it was put aside: {path}")
    if report.hooks_off:
        yield (
            "The backup brought hooks, so hooks were switched off. Look at them, then switch "
            "them on: `strata settings set hooks.enabled true`."
        )
    for name, reason in report.failed:
        yield escape_text(f"Not restored: {name}. {reason}")
    for folder in report.missing:
        yield escape_text(folder.describe())
    if any(folder.can_be_placed for folder in report.missing):
        yield "To say where a folder is now: `strata restore FILE --merge --vault OLD=NEW`."
    if not report.failed:
        yield "Enter the API keys again: `strata keys set`. `strata index` builds the index."


BACKUP_VERBS: Final[Mapping[str, Callable[[argparse.Namespace, Assistant, Output], int]]] = {
    "backup": back_up,
    "restore": restore,
}
