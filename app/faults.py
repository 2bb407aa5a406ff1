"""Log unexpected exceptions from any thread.

```
sys.excepthook · sys.unraisablehook · threading.excepthook · the window's toolkit (ui.notify)
    → report_fault → the log, with the trace
                   → the listener, which informs the user (the window shows a toast)
```

An exception that repeats, such as one at every repaint, is logged and reported at most once a
minute.
"""

import logging
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

__all__ = [
    "FaultReporter",
    "install_fault_hooks",
    "log_bug",
    "report_fault",
    "set_fault_listener",
]

QUIET_S: Final = 60.0
_MOST_KNOWN = 256
_NO_FAULTS = (KeyboardInterrupt, SystemExit, GeneratorExit)

_log = logging.getLogger(__name__)


class FaultReporter:
    """Logs unexpected exceptions and calls a listener, at most once a minute per exception.

    The listener is called in the thread that reports the exception.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.listener: Callable[[], object] | None = None
        self._clock = clock
        self._lock = threading.RLock()  # garbage collection may cause a report during a report
        self._known: dict[str, tuple[float, int]] = {}

    def report(self, fault: BaseException | str, where: str) -> None:
        """Log an exception or message, and call the listener.

        Repeats within a minute are only counted.

        Args:
            fault: the exception, or a message from a library.
            where: the thread or callback in which it occurred.
        """
        if isinstance(fault, _NO_FAULTS):
            return
        repeats = self._count_repeats(_identify(fault))
        if repeats is None:
            return
        before = f" ({repeats} more of it before)" if repeats else ""
        if isinstance(fault, str):
            _log.error("Unexpected message in %s%s: %s", where, before, fault)
        else:
            _log.error("Unexpected exception in %s%s", where, before, exc_info=fault)
        if self.listener is not None:
            self.listener()

    def _count_repeats(self, key: str) -> int | None:
        """Return how many repeats of an exception were suppressed since it was last reported.

        Return None if this one must be suppressed too. `key` identifies the exception.
        """
        now = self._clock()
        with self._lock:
            told_at, repeats = self._known.get(key, (-QUIET_S, 0))
            if now - told_at < QUIET_S:
                self._known[key] = told_at, repeats + 1
                return None
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = now, 0
            return repeats


_reporter = FaultReporter()


def log_bug(error: BaseException) -> None:
    """Log an exception with its stack trace if it is a bug.

    The listener is not called, because the callers of this function inform the user themselves.
    """
    from app.errors import is_bug  # not needed for `strata --version`

    if is_bug(error):
        _log.error("A bug", exc_info=error)


def report_fault(fault: BaseException | str, where: str) -> None:
    """Log an unexpected exception or message, and inform the user if a window is open.

    Args:
        fault: the exception, or a message from a library.
        where: the thread or callback in which it occurred.
    """
    _reporter.report(fault, where)


def set_fault_listener(listener: Callable[[], object] | None) -> None:
    """Set the function that is called after each logged exception. None removes it."""
    _reporter.listener = listener


def install_fault_hooks() -> None:
    """Install exception hooks that report uncaught exceptions and then call the previous hooks."""
    if not hasattr(sys.excepthook, "is_strata"):
        _install_excepthook()
        _install_unraisablehook()
        _install_thread_hook()


def _install_excepthook() -> None:
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: object) -> None:
        report_fault(error, "the main thread")
        before(kind, error, trace)  # type: ignore[arg-type]

    hook.is_strata = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def _install_unraisablehook() -> None:
    before = sys.unraisablehook

    def hook(args: "sys.UnraisableHookArgs") -> None:
        if args.exc_value is not None:
            report_fault(args.exc_value, args.err_msg or "a destructor")
        before(args)

    sys.unraisablehook = hook


def _install_thread_hook() -> None:
    before = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            report_fault(args.exc_value, f"thread {args.thread.name if args.thread else '?'}")
        before(args)

    threading.excepthook = hook


def _identify(fault: BaseException | str) -> str:
    """Return the exception type and line of code, which identify repeated exceptions."""
    if isinstance(fault, str):
        return fault
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(fault).__name__} {place}"
