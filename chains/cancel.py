"""Cancel tokens: the one way to stop running work.

Whoever starts work makes a token and hands it down. The work checks it between two steps, waits on
it in place of sleeping, or registers a callback that wakes a blocked call. A cancelled token stays
cancelled.
"""

import threading
from collections.abc import Callable

from chains.errors import Cancelled

__all__ = ["CancelToken", "Pause", "wait_or_cancel"]


class CancelToken:
    """Stops the work that it was handed to, once and from any thread."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop the work; a second call changes nothing."""
        with self._lock:
            if self._cancelled.is_set():
                return
            self._cancelled.set()
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` where `cancel` has been called."""
        if self.is_cancelled:
            raise Cancelled

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` once when the token is cancelled, at once if it already is.

        Args:
            callback: called in the thread that cancels; quick, and raising nothing.

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
        """Wait until cancelled, at most `timeout_s`, and return whether it is cancelled."""
        return self._cancelled.wait(timeout_s)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)


# Waits between two tries of a call.
Pause = Callable[[CancelToken, float], None]


def wait_or_cancel(cancel: CancelToken, seconds: float) -> None:
    """Wait, and raise `Cancelled` as soon as the token is cancelled."""
    cancel.wait(seconds)
    cancel.raise_if_cancelled()
