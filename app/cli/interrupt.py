"""Ctrl+C (SIGINT) and SIGTERM on the command line, and the exit code of every run.

A verb that takes time runs within `Interruptible`: the first signal cancels it, so that what was
done so far is kept and printed; a second one raises `KeyboardInterrupt`. Without that, Ctrl+C
raises at once. `run_to_exit_code` turns any of these endings into an exit code. The RPC server
handles both signals itself (`app.rpc.server`).
"""

import contextlib
import logging
import signal
from collections.abc import Callable
from typing import Any, Final, Self

from app.cli.output import Output, OutputGone, complain
from app.errors import describe
from app.faults import log_bug
from chains.cancel import CancelToken

FAILED: Final = 1
INTERRUPTED: Final = 130
OUTPUT_GONE: Final = 141  # as a shell reports a program that SIGPIPE ended

_log = logging.getLogger(__name__)


class Interruptible:
    """Cancel the work within a `with` block on Ctrl+C or SIGTERM; a second signal raises.

    Attributes:
        cancel: the token that the signal cancels.
        exit_code: what the shell expects after such a signal; None where there was none.
    """

    def __init__(self) -> None:
        self.cancel = CancelToken()
        self.exit_code: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError):  # only the main thread may; others are not asked
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: object) -> None:
        if self.exit_code is not None:
            raise KeyboardInterrupt
        self.exit_code = 128 + number
        self.cancel.cancel()


def run_to_exit_code(work: Callable[[], int], output: Output, *, reports_stop: bool = True) -> int:
    """Run a verb or the window, report what ends it early, and return the exit code.

    Args:
        work: returns the exit code of a run that comes to its end.
        output: takes the report.
        reports_stop: whether Ctrl+C is reported too.
    """
    try:
        return work()
    except OutputGone as gone:
        if not gone.reason:
            return OUTPUT_GONE
        complain(f"The result cannot be printed: {gone.reason}.")
        return FAILED
    except KeyboardInterrupt as error:
        if reports_stop:
            output.failure(describe(error))
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the end of the line: reported, logged if a bug)
        info = describe(error)
        log_bug(error)
        _log.info("failed: %s", info.code)
        output.failure(info)
        return INTERRUPTED if info.code == "cancelled" else FAILED
