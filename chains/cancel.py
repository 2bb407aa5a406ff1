"""Cancel tokens: the only way to stop running work.

The caller that starts work creates a token and passes it down. The work checks the token between
steps, waits on it instead of sleeping, or registers a callback that wakes a blocked call. A
cancelled token cannot be reset.
"""

import threading
from collections.abc import Callable

from chains.errors import Cancelled

__all__ = ["CancelToken", "Pause", "wait_or_cancel"]


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


# Waits between two attempts of a call.
Pause = Callable[[CancelToken, float], None]


def wait_or_cancel(cancel: CancelToken, seconds: float) -> None:
    """Wait for `seconds`, and raise `Cancelled` as soon as the token is cancelled."""
    cancel.wait(seconds)
    cancel.raise_if_cancelled()
