"""Faults in the window: the toast that tells of them, and the messages of Qt.

`watch_faults` is called once, where the window starts. Python's own hooks are in `app.faults`,
which writes the log.
"""

import logging
from pathlib import Path
from typing import Final

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    QUrl,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QDesktopServices

from app.faults import report_fault, set_fault_listener
from ui.notify import Notifier

__all__ = ["FaultNotice", "open_log_file", "watch_faults"]

WENT_WRONG: Final = "Something went wrong. Details are in the log."
_LEVELS = {QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.WARNING}

_log = logging.getLogger(__name__)


class FaultNotice(QObject):
    """Show a toast after a fault, one at a time, in whatever thread the fault was."""

    _reported = Signal()

    def __init__(self, notifier: Notifier, log: Path) -> None:
        super().__init__(notifier)
        self._notifier = notifier
        self._log_file = log
        # Queued also within the interface's thread: a fault may come out of painting.
        self._reported.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def tell(self) -> None:
        """Show the toast soon; may be called in any thread."""
        self._reported.emit()

    def _show(self) -> None:
        if WENT_WRONG not in self._notifier.texts():
            self._notifier.toast(WENT_WRONG, "Open log", lambda: open_log_file(self._log_file))


def watch_faults(notifier: Notifier, log: Path) -> None:
    """Log and tell every unexpected exception and every critical message of Qt from now on.

    Warnings of Qt are logged alone: a desktop causes some that no user can notice.
    """
    notice = FaultNotice(notifier, log)
    set_fault_listener(notice.tell)
    notice.destroyed.connect(lambda: set_fault_listener(None))
    qInstallMessageHandler(_take_message)


def open_log_file(log: Path) -> None:
    """Show the log in whatever program the desktop opens text files with."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log if log.exists() else log.parent)))


def _take_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Write a message of Qt to the log; debug messages are left out."""
    if kind in {QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}:
        report_fault(text, f"Qt ({context.category or 'default'})")
    elif kind in _LEVELS:
        _log.log(_LEVELS[kind], "Qt (%s): %s", context.category or "default", text)
