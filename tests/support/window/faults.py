"""Collect faults that no assertion sees: exceptions in callbacks, Qt warnings, blocked loops."""

import faulthandler
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, thread_time
from types import TracebackType
from typing import Any, Self

from PySide6.QtCore import QMessageLogContext, QObject, QTimer, QtMsgType, qInstallMessageHandler

PACKAGES = ("app", "chains", "context", "ui", "vault")
LONGEST_BLOCK_S = 1.0
# So many rounds of an empty loop take so long on the machine that the limit was set on. A machine
# that does less in the same time has more of it: its host may slow it down for minutes.
_ROUNDS = 200_000
_USUAL_S = 0.011
_BEAT_MS = 40
_WATCHED_EVERY_S = 0.05
_THREADS = Path("/proc/self/task")


class Faults(logging.Handler):
    """A context manager that collects every fault, once each, in order of occurrence."""

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
        """Record an exception."""
        if error is not None:
            self.note("".join(traceback.format_exception(error)))

    def note(self, text: str) -> None:
        """Record a fault by a text, together with the last clicks and keys."""
        self.found.setdefault(text, self.where())

    def report(self) -> str:
        """Return all faults, each with the presses before it; empty if there is none."""
        return "\n\n".join(f"after {where}:\n{text}" for text, where in self.found.items())

    def emit(self, record: logging.LogRecord) -> None:
        """Record what Strata's own code logs as an error."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.note(f"logged: {record.getMessage()}\n{trace}")

    def _take_message(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        quiet = kind in {QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg}
        if not quiet and not text.startswith("This plugin does not support "):
            stack = "".join(traceback.format_stack(limit=6))
            self.note(f"Qt: {text}\n{stack}")


class Heartbeat(QObject):
    """Detects when the event loop is blocked for too long, and records the call that blocked it.

    Time in which the operating system did not run the process is not counted, and on a slow machine
    the limit is longer.
    """

    def __init__(self, faults: Faults, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.longest_s = 0.0
        self._faults = faults
        self._main = threading.get_ident()
        self._waits = WaitingTime()
        self._last_s, self._waited_s = monotonic(), self._waits.measure_s()
        self._used_s = thread_time()
        self._stack = ""
        self._is_over = threading.Event()
        self._timer = QTimer(self, interval=_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Stop watching the event loop."""
        self._timer.stop()
        self._is_over.set()
        self._watcher.join()

    def _beat(self) -> None:
        now_s, waited_s, used_s = monotonic(), self._waits.measure_s(), thread_time()
        present_s = now_s - self._last_s - (waited_s - self._waited_s)
        # Threads that waited side by side count twice, and what the loop's thread used is certain.
        blocked_s = max(present_s, used_s - self._used_s)
        self._last_s, self._waited_s, self._used_s = now_s, waited_s, used_s
        self.longest_s = max(self.longest_s, blocked_s)
        if blocked_s > LONGEST_BLOCK_S and blocked_s > LONGEST_BLOCK_S * measure_slowness():
            self._faults.note(f"the event loop stood still for {blocked_s:.1f} s\n{self._stack}")
        self._stack = ""

    def _watch(self) -> None:
        """In another thread, record the stack of a call that has taken long."""
        while not self._is_over.wait(_WATCHED_EVERY_S):
            self._waits.measure_s()  # before a thread ends, and its time with it
            if monotonic() - self._last_s > LONGEST_BLOCK_S / 2:
                self._stack = _stack_of(self._main)


def _stack_of(thread: int) -> str:
    """Return the calls of a thread, the newest first.

    No frame objects are kept, since a frame would keep a painter alive after its call has ended.
    """
    with TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        parts = file.read().split("\n\n")
    return next((part for part in parts if f"{thread:x}" in part.splitlines()[0]), "")[:2_000]


def measure_slowness() -> float:
    """Return how many times slower than usual this machine is now, at least 1."""
    started_s = thread_time()
    for _ in range(_ROUNDS):
        pass
    return max(1.0, (thread_time() - started_s) / _USUAL_S)


class WaitingTime:
    """Measures how long the threads of this process have waited for a processor.

    All threads count: if the one that holds the interpreter's lock waits, so do the others. The
    system forgets the time of a thread when it ends, so what was measured before is kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total_ns = 0
        self._by_thread: dict[str, int] = {}

    def measure_s(self) -> float:
        """Return the seconds, which never decrease. They are 0 if the system does not tell them."""
        with self._lock:
            known, self._by_thread = self._by_thread, dict(_read_waits_ns())
            self._total_ns += sum(
                max(0, waited_ns - known.get(thread, 0))
                for thread, waited_ns in self._by_thread.items()
            )
            return self._total_ns / 1e9


def _read_waits_ns() -> Iterator[tuple[str, int]]:
    """Yield for each thread how many nanoseconds it has waited for a processor in its life."""
    for thread in _THREADS.glob("*/schedstat"):
        with suppress(OSError, IndexError):  # the thread has ended meanwhile
            yield str(thread), int(thread.read_text().split()[1])
