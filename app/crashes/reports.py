"""Read what crashed processes have recorded, and check the chats after a crash."""

import os
import platform
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from app.assistant import Assistant
from app.crashes.recorder import is_in_use
from app.errors import AppError
from resources.system.calls import rename_path
from resources.system.files import open_file, remove_if_there

__all__ = ["WINDOW", "CrashReport", "check_chats", "find_reports", "list_crashes", "mark_as_told"]

WINDOW: Final = "window"
_MAX_BYTES: Final = 64_000
_TOLD: Final = "-told"


@dataclass(frozen=True)
class CrashReport:
    """What a crashed process has recorded.

    Attributes:
        file: the crash file.
        kind: `window`, or the verb of the command line that the process ran.
        started: when the process started.
        crashed: when it crashed.
        text: the calls of all threads at that moment.
        is_told: whether the user was already informed.
    """

    file: Path
    kind: str
    started: datetime
    crashed: datetime
    text: str
    is_told: bool = False

    @property
    def details(self) -> str:
        """The text to copy into a report of the crash: what happened where, and the versions."""
        what = "the window" if self.kind == WINDOW else f"strata {self.kind}"
        return (
            f"Strata {metadata.version('strata-notes')}, {what}: crashed at"
            f" {self.crashed.isoformat(timespec='seconds')}, started at"
            f" {self.started.isoformat(timespec='seconds')}\n"
            f"Python {platform.python_version()}, {platform.platform()}\n\n{self.text.strip()}\n"
        )


def find_reports(folder: Path) -> tuple[CrashReport, ...]:
    """Return the crashes of which the user was not informed yet, newest first.

    The empty files of processes that were killed are removed.
    """
    reports = []
    for report in list_crashes(folder):
        if not report.text:
            with suppress(OSError):  # the folder is read-only: the file is looked at again
                remove_if_there(report.file)
        elif not report.is_told:
            reports.append(report)
    return tuple(reports)


def list_crashes(folder: Path) -> tuple[CrashReport, ...]:
    """Return what processes that do not run any more have recorded, newest crash first.

    The text of a process that was killed by another one is empty.
    """
    with suppress(OSError):
        files = [path for path in folder.iterdir() if path.suffix == ".txt"]
        reports = [report for file in files if (report := _read(file)) is not None]
        return tuple(sorted(reports, key=lambda report: report.crashed, reverse=True))
    return ()


def mark_as_told(reports: Sequence[CrashReport]) -> None:
    """Remember that the user was informed of these crashes. Their files are kept."""
    for report in reports:
        with suppress(OSError):
            rename_path(report.file, report.file.with_stem(f"{report.file.stem}{_TOLD}"))


def check_chats(assistant: Assistant, since: datetime) -> tuple[str, ...]:
    """Return the titles of the chats that were written since a time and have damaged lines.

    Raises:
        AppError: the chats cannot be listed.
    """
    damaged = []
    for chat in assistant.list_sessions():
        try:
            changed = assistant.sessions.file(chat.session).stat().st_mtime
            is_damaged = changed >= since.timestamp() and bool(
                assistant.sessions.read(chat.session).problems
            )
        except (AppError, OSError):  # it cannot be read, or was deleted meanwhile
            is_damaged = assistant.sessions.is_stored(chat.session)
        if is_damaged:
            damaged.append(chat.title)
    return tuple(damaged)


def _read(file: Path) -> CrashReport | None:
    """Read a crash file. Return None if its process is running, or if it is something else."""
    try:
        stamp, _pid, kind = file.stem.removesuffix(_TOLD).split("-", maxsplit=2)
        started = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if is_in_use(file):
            return None
        with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
            changed = os.fstat(opened.fileno())
            text = opened.read(_MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    crashed = datetime.fromtimestamp(changed[stat.ST_MTIME], UTC)
    return CrashReport(file, kind, started, crashed, text, file.stem.endswith(_TOLD))
