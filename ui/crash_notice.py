"""Notices at the start: after a crash, and if the stored data are only read.

After a crash: when Strata closed, whether the chats are complete, details to copy.

start of the window ──task──> app.crashes.reports: crashes, then a check of the chats
<──────── notice above the chat, until it is dismissed
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.assistant import Assistant
from app.crashes.reports import WINDOW, CrashReport, check_chats, find_reports, mark_as_told
from app.errors import AppError
from ui.frame import WindowFrame
from ui.tasks import TaskRunner
from ui.widgets.buttons import DISMISS, ButtonText
from ui.widgets.formatting import count, name_moment
from ui.widgets.surfaces import Notice

__all__ = ["CrashNotice", "show_read_only"]

_COPY = ButtonText("Copy details", "Copy what Strata was doing at that moment, to report it")
_COPIED: Final = "The details are copied."
_ALL: Final = "All that was stored is here."
_NOT_CHECKED: Final = "The chats could not be checked."
_RESET: Final = (
    "Because it closed so several times in a row, it began with a new chat and its first layout. "
    "The chat that was open is in the list."
)
_ONLY_READ: Final = "Nothing is stored in this window"
_MOST_NAMED = 3


@dataclass(frozen=True)
class _Found:
    """The crashes that the user was not informed of, newest first, and the damaged chats.

    If the chats could not be checked, `damaged` is None.
    """

    reports: tuple[CrashReport, ...] = ()
    damaged: tuple[str, ...] | None = ()


class CrashNotice(QObject):
    """Shows a notice above the chat if Strata crashed since the window was last started.

    Args:
        assistant: reads the chats.
        runner: runs the check in a thread.
        frame: the views of the main window.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner, frame: WindowFrame) -> None:
        super().__init__(frame.window)
        self._assistant, self._runner, self._frame = assistant, runner, frame
        self.notice: Notice | None = None

    def look(self) -> None:
        """Look for crashes and check the chats, then show the notice if there was a crash."""
        task = self._runner.call(self._find)
        task.yielded.connect(self._on_found)
        task.start()

    def _find(self) -> _Found:
        reports = find_reports(self._assistant.paths.crashes)
        if not reports:
            return _Found()
        since = min(report.started for report in reports)
        try:
            return _Found(reports, check_chats(self._assistant, since))
        except AppError:
            return _Found(reports, None)

    def _on_found(self, found: _Found) -> None:
        if not found.reports:
            return
        if self.notice is None:
            self.notice = Notice()
            self._frame.middle.add_notice(self.notice)
        copy = partial(self._copy, "\n".join(report.details for report in found.reports))
        actions = ((_COPY, copy), (DISMISS, self.notice.hide))
        text = describe_check(found.damaged)
        if self._frame.places.is_reset:
            text = f"{text} {_RESET}"
        self.notice.show_notice("amber", describe_crashes(found.reports), text, actions)
        mark_as_told(found.reports)

    def _copy(self, details: str) -> None:
        QGuiApplication.clipboard().setText(details)
        self._frame.notifier.toast(_COPIED)


def show_read_only(frame: WindowFrame, why: str) -> Notice:
    """Show above the chat that nothing can be stored, until the notice is dismissed.

    Args:
        frame: the views of the main window.
        why: sentences that say why.
    """
    notice = Notice()
    frame.middle.add_notice(notice)
    notice.show_notice("amber", _ONLY_READ, why, ((DISMISS, notice.hide),))
    return notice


def describe_crashes(reports: Sequence[CrashReport], now: datetime | None = None) -> str:
    """Return the title of the notice, such as "Strata closed unexpectedly at 20:02".

    Args:
        reports: the crashes, newest first.
        now: the current time, or None to read the clock.
    """
    when = name_moment(reports[0].crashed.isoformat(), now)
    kinds = {report.kind for report in reports}
    name = "Strata" if len(kinds) > 1 or WINDOW in kinds else f"The command strata {kinds.pop()}"
    if len(reports) == 1:
        return f"{name} closed unexpectedly {when}"
    return f"{name} closed unexpectedly {count(len(reports))} times, the last time {when}"


def describe_check(damaged: Sequence[str] | None) -> str:
    """Return what the check of the chats found: that all is there, or which chats are damaged.

    Args:
        damaged: the titles of the damaged chats, or None if the chats could not be checked.
    """
    if damaged is None:
        return _NOT_CHECKED
    if not damaged:
        return _ALL
    named = ", ".join(f"“{title}”" for title in damaged[:_MOST_NAMED])
    others = len(damaged) - _MOST_NAMED
    more = f" and {count(others)} more" if others > 0 else ""
    return f"{named}{more}: some lines cannot be read. All else that was stored is here."
