"""Handle Ctrl+C (SIGINT), SIGTERM and a closed terminal (SIGHUP), and compute exit codes.

Long-running verbs use `Interruptible`. The first signal cancels the operation, and the partial
result is kept and printed. A second signal raises `KeyboardInterrupt`. In other verbs, Ctrl+C
raises this exception immediately; in the servers, which use `end_on_sigterm`, SIGTERM does so too.
`ExitStatus` converts each outcome to an exit code.
"""

import contextlib
import logging
import signal
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from app.cli.arguments import INTERRUPTED
from app.cli.output import Output, OutputGone, complain
from app.errors import describe
from app.faults import log_bug
from chains.cancel import CancelToken
from resources.system.processes import HANGUP_SIGNALS

FAILED: Final = 1
OUTPUT_GONE: Final = 141  # the exit code that a shell shows for a program ended by SIGPIPE

_log = logging.getLogger(__name__)


class StoppedBySignal(KeyboardInterrupt):
    """Raised when a signal has ended a verb.

    Attributes:
        exit_code: the conventional exit code for the signal.
    """

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


def end_on_sigterm() -> None:
    """Raise `StoppedBySignal` on SIGTERM, so that chats are closed and child processes stopped."""
    signal.signal(signal.SIGTERM, _raise_stop)


def _raise_stop(number: int, _frame: object) -> NoReturn:
    raise StoppedBySignal(_exit_code_for(number))


def _exit_code_for(number: int) -> int:
    return 128 + number


class Interruptible:
    """A context manager that cancels the operation in its block on Ctrl+C, SIGTERM or SIGHUP.

    A second signal raises `StoppedBySignal`, except for SIGHUP: a terminal that is closed may send
    it several times. An operation that was cancelled without a result raises it too, with the
    operation's own exception as the cause.

    Attributes:
        cancel: the token that the first signal cancels.
        exit_code: the conventional exit code for the signal, or None if there was no signal.
    """

    def __init__(self) -> None:
        self.cancel = CancelToken()
        self.exit_code: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, *_list_hangups()):
            with contextlib.suppress(ValueError):  # only the main thread may set handlers
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        is_stopped = isinstance(error, Exception) and describe(error).code == "cancelled"
        if self.exit_code is not None and is_stopped:
            raise StoppedBySignal(self.exit_code) from error

    def _on_signal(self, number: int, frame: object) -> None:
        if self.exit_code is None:
            self.exit_code = _exit_code_for(number)
            self.cancel.cancel()
        elif number in (signal.SIGINT, signal.SIGTERM):
            _raise_stop(number, frame)


def _list_hangups() -> list[int]:
    """Return SIGHUP, or nothing on Windows, which has none, and for programs run with `nohup`."""
    return [number for number in HANGUP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


class ExitStatus:
    """A context manager that prints the error of a verb or the window, and keeps the exit code.

    Attributes:
        code: the exit code, which is 0 unless the block sets it or ends with an error.
    """

    def __init__(self, output: Output, *, reports_stop: bool = True) -> None:
        """Create the object.

        Args:
            output: prints the error.
            reports_stop: whether to print a message if a signal stopped the program.
        """
        self.code = 0
        self._output, self._reports_stop = output, reports_stop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, KeyboardInterrupt | Exception):
            return False
        try:
            self.code = self._report(error)
        except OutputGone as gone:
            self.code = FAILED if gone.reason else OUTPUT_GONE
            if gone.reason:
                complain(f"The result cannot be printed: {gone.reason}.")
        return True

    def _report(self, error: KeyboardInterrupt | Exception) -> int:
        """Print an error, log it if it is a bug, and return the exit code.

        Raises:
            OutputGone: the result or the error cannot be printed.
        """
        if isinstance(error, OutputGone):
            raise error
        if isinstance(error, KeyboardInterrupt):
            if self._reports_stop:
                self._output.print_failure(describe(error.__cause__ or error))
            return error.exit_code if isinstance(error, StoppedBySignal) else INTERRUPTED
        info = describe(error)
        log_bug(error)
        _log.info("failed: %s", info.code)
        self._output.print_failure(info)
        return INTERRUPTED if info.code == "cancelled" else FAILED
