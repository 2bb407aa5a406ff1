"""Run asyncio code from threads, using one event loop in a daemon thread.

This is used for libraries that support only asyncio, and for network calls that need a total time
limit. When a call is cancelled or times out, its task is cancelled too, so that no connection is
leaked.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from functools import cache
from typing import Any, TypeVar

from chains.cancel import CancelToken
from chains.errors import Cancelled

__all__ = ["EventLoop", "get_event_loop"]

T = TypeVar("T")


class EventLoop:
    """An asyncio event loop in a daemon thread, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        cancel: CancelToken,
        timeout_s: float,
    ) -> T:
        """Run a coroutine and return its result.

        Args:
            work: creates the coroutine. It is called in the thread of the event loop.
            cancel: the token that cancels the coroutine.
            timeout_s: the time limit.

        Raises:
            Cancelled: the token was cancelled before the coroutine ended.
            TimeoutError: the coroutine took longer than `timeout_s`.
        """

        async def limit() -> T:
            async with asyncio.timeout(timeout_s):
                return await work()

        future = self.start(limit)
        forget = cancel.on_cancel(lambda: _cancel(future))
        try:
            return future.result()
        except CancelledError as error:
            raise Cancelled from error
        finally:
            forget()

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> "Future[T]":
        """Start a coroutine in the event loop, and return a future for its result."""

        async def make() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(make(), self._ensure_loop())

    def _ensure_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run = self._loop.run_forever
                threading.Thread(target=run, name="event-loop", daemon=True).start()
            return self._loop


def _cancel(future: "Future[Any]") -> None:
    future.cancel()


@cache
def get_event_loop() -> EventLoop:
    """Return the global event loop."""
    return EventLoop()
