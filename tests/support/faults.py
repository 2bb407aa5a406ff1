"""Faults that no assertion sees: exceptions in callbacks, Qt warnings, a blocked event loop."""

import faulthandler
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from types import TracebackType
from typing import Any, Self

from PySide6.QtCore import QMessageLogContext, QObject, QTimer, QtMsgType, qInstallMessageHandler

PACKAGES = ("app", "chains", "context", "ui", "vault")
LONGEST_BLOCK_S = 1.0
_BEAT_MS = 40
_THREADS = Path("/proc/self/task")


class Faults(logging.Handler):
    """Collects every fault while it is entered, each once, in the order of their coming."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: dict[str, str] = {}
        self.where: Callable[[], str] = lambda: ""

    def __enter__(self) -> Self:
        self._before: tuple[Any, ...] = (
            sys.excepthook,
            sys.unraisablehook,
            threading.excepthook,
            qInstallMessageHandler(self._take_message),
        )
        sys.excepthook = lambda _kind, error, _trace: self.take(error)
        sys.unraisablehook = lambda args: self.take(args.exc_value)
        threading.excepthook = lambda args: self.take(args.exc_value)
        for name in PACKAGES:
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        sys.excepthook, sys.unraisablehook, threading.excepthook, messages = self._before
        qInstallMessageHandler(messages)
        for name in PACKAGES:
            logging.getLogger(name).removeHandler(self)

    def take(self, error: BaseException | None) -> None:
        """Keep an exception."""
        if error is not None:
            self.note("".join(traceback.format_exception(error)))

    def note(self, text: str) -> None:
        """Keep a fault in words, with what was pressed last."""
        self.found.setdefault(text, self.where())

    def report(self) -> str:
        """Return every fault with the presses before it; an empty text where there is none."""
        return "\n\n".join(f"after {where}:\n{text}" for text, where in self.found.items())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what our own code logs as an error."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.note(f"logged: {record.getMessage()}\n{trace}")

    def _take_message(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        quiet = kind in {QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg}
        if not quiet and not text.startswith("This plugin does not support "):
            stack = "".join(traceback.format_stack(limit=6))
            self.note(f"Qt: {text}\n{stack}")


class Heartbeat(QObject):
    """Notices when the event loop stands still for too long, and says in which call it did.

    Time in which the machine gave the process no processor is not counted.
    """

    def __init__(self, faults: Faults, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.longest_s = 0.0
        self._faults = faults
        self._main = threading.get_ident()
        self._last_s, self._waited_s = monotonic(), _waited_s()
        self._stack = ""
        self._is_over = threading.Event()
        self._timer = QTimer(self, interval=_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Listen no longer."""
        self._timer.stop()
        self._is_over.set()
        self._watcher.join()

    def _beat(self) -> None:
        now_s, waited_s = monotonic(), _waited_s()
        waited_now_s = max(0.0, waited_s - self._waited_s)  # less where a thread has ended
        blocked_s = now_s - self._last_s - waited_now_s
        self._last_s, self._waited_s = now_s, waited_s
        self.longest_s = max(self.longest_s, blocked_s)
        if blocked_s > LONGEST_BLOCK_S:
            self._faults.note(f"the event loop stood still for {blocked_s:.1f} s\n{self._stack}")
        self._stack = ""

    def _watch(self) -> None:
        """Keep the stack of a call that has lasted long, from beside it."""
        while not self._is_over.wait(0.2):
            if monotonic() - self._last_s > LONGEST_BLOCK_S / 2:
                self._stack = _stack_of(self._main)


def _stack_of(thread: int) -> str:
    """Return the calls of a thread, the newest first.

    Its frames are not touched: whoever holds one keeps a painter alive that the call has ended.
    """
    with TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        parts = file.read().split("\n\n")
    return next((part for part in parts if f"{thread:x}" in part.splitlines()[0]), "")[:2_000]


def _waited_s() -> float:
    """How long threads of this process were ready and had no processor; 0 where nobody counts it.

    All threads count: the one that holds the interpreter's lock lets the others wait with it.
    """
    waited_ns = 0
    for thread in _THREADS.glob("*/schedstat"):
        with suppress(OSError, IndexError):  # it has ended meanwhile
            waited_ns += int(thread.read_text().split()[1])
    return waited_ns / 1e9
