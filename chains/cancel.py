"""Cancel tokens: the only way to stop running work.

The caller that starts work creates a token and passes it down. The work checks the token between
steps, waits on it instead of sleeping, or registers a callback that wakes a blocked call. A
cancelled token cannot be reset.
"""

import math
import threading
import time
from collections.abc import Callable
from typing import Final

from chains.errors import Cancelled

__all__ = ["CancelToken", "Pause", "TimeLimit", "wait_or_cancel"]

# Calls that are made just before the end of a time limit have this long.
GRACE_S: Final = 2.0
# How long a tool has to report itself that its time is over, which says more.
REPORT_S: Final = 1.0


class CancelToken:
    """A thread-safe flag for cancelling work."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def is_cancelled(self) -> bool:
        """Whether the token has been cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the token and run its callbacks. A second call has no effect."""
        with self._lock:
            if self._cancelled.is_set():
                return
            self._cancelled.set()
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if the token is cancelled."""
        if self.is_cancelled:
            raise Cancelled

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when the token is cancelled, or immediately if it already is.

        Args:
            callback: runs in the thread that cancels. It must be quick and must not raise.

        Returns:
            A function that removes the callback.
        """
        with self._lock:
            if not self._cancelled.is_set():
                key = self._next
                self._next += 1
                self._callbacks[key] = callback
                return lambda: self._forget(key)
        callback()
        return lambda: None

    def wait(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` seconds for the token to be cancelled. Return whether it is."""
        return self._cancelled.wait(timeout_s)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


class TimeLimit:
    """The time that the tools of a turn have. It is unlimited until it is started.

    Attributes:
        cancel: the token of the tools. It is cancelled with the turn, or when the time is over.
        waited_s: the seconds in which the turn waited for the user.
    """

    def __init__(self) -> None:
        self.cancel = CancelToken()
        self.waited_s = 0.0
        self._clock: Callable[[], float] = time.monotonic
        self._until_s = self._calls_until_s = math.inf

    def start(self, limit_s: float, turn: CancelToken, clock: Callable[[], float]) -> None:
        """Start the time.

        Args:
            limit_s: the time limit.
            turn: the cancel token of the turn.
            clock: returns the current time in seconds.
        """
        turn.on_cancel(self.cancel.cancel)
        self._clock = clock
        self._until_s = self._calls_until_s = clock() + limit_s

    def begin_calls(self) -> None:
        """Give the next calls a short time even if the time is over."""
        self._calls_until_s = max(self._until_s, self._clock()) + GRACE_S

    def extend(self, seconds: float) -> None:
        """Extend the time, because the user was waited for."""
        self.waited_s += seconds
        self._until_s += seconds
        self._calls_until_s += seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over, so that no new call may be requested."""
        return self._clock() >= self._until_s

    @property
    def left_s(self) -> float:
        """The seconds that the calls that were begun still have, or 0."""
        return max(0.0, self._calls_until_s - self._clock())

    def measure_rest(self) -> float:
        """Return for how many more seconds to wait for the calls that were begun."""
        return self._calls_until_s + REPORT_S - self._clock()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait until a condition is notified, or for at most the given time."""
        condition.wait(timeout_s if timeout_s < threading.TIMEOUT_MAX else None)


# Waits between two attempts of a call.
Pause = Callable[[CancelToken, float], None]


def wait_or_cancel(cancel: CancelToken, seconds: float) -> None:
    """Wait for `seconds`, and raise `Cancelled` as soon as the token is cancelled."""
    cancel.wait(seconds)
    cancel.raise_if_cancelled()
