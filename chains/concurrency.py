"""Run blocking calls in a bounded thread pool, so that a cancelled caller continues at once.

A cancelled call is abandoned: its result is ignored, and its thread returns to the pool when the
call ends. The threads are daemons, so a stalled server never delays the exit of the program.
"""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

from chains.cancel import CancelToken

__all__ = [
    "Emit",
    "WaitEnded",
    "WaitLimit",
    "WorkerPool",
    "call",
    "gather",
    "iterate",
    "repeat",
    "start_call",
]

T = TypeVar("T")
_log = logging.getLogger(__name__)

POOL_SIZE: Final = 8
BUFFER_ITEMS: Final = 256

# Passes an item to the consumer. Returns False if the consumer is gone and the work can stop.
Emit = Callable[[T], bool]


class WaitEnded(Exception):
    """The limit of a wait was reached."""


class WaitLimit(Protocol):
    """Limits how long `iterate` waits for the next item."""

    def measure_rest(self) -> float:
        """Return how many seconds are left to wait."""

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait until a condition is notified, or for at most the given time."""


class WorkerPool:
    """A pool of up to `size` daemon threads, started on demand."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._pending = 0

    def submit(self, task: Callable[[], None]) -> None:
        """Run `task` as soon as a thread is free. What the task raises is only logged.

        Raises:
            RuntimeError: the pool has no thread, and the system none left. The task is not run.
        """
        with self._lock:
            if self._threads < min(self._size, self._pending + 1):
                self._add_thread()
            self._pending += 1
        self._tasks.put(task)

    def _add_thread(self) -> None:
        """Start a thread. If the system has none left, those of the pool do all tasks."""
        name = f"chains-{self._threads + 1}"
        try:
            threading.Thread(target=self._work, name=name, daemon=True).start()
        except RuntimeError:
            if not self._threads:
                raise
        else:
            self._threads += 1

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
            except BaseException:  # noqa: BLE001 - logged; the thread is needed for later tasks
                _log.exception("A task failed")
            del task  # otherwise it would be kept, with all that it holds, until the next one
            with self._lock:
                self._pending -= 1


_POOL: Final = WorkerPool(POOL_SIZE)


class _Ended(Exception):
    """Raised when the channel has no more items."""


class _Channel(Generic[T]):
    """A bounded queue between one producer and one consumer. Either side can close it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._items: deque[T] = deque()
        self._is_closed = False
        self._is_finished = False
        self._error: BaseException | None = None

    def put(self, item: T) -> bool:
        """Add an item for the consumer, waiting while the channel is full.

        Return False if the channel is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._items) < BUFFER_ITEMS)
            if not self._is_closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._is_closed

    def finish(self, error: BaseException | None = None) -> None:
        """Mark the channel as finished, because the producer has no more items.

        Args:
            error: the exception that ended the producer, to be raised in the consumer, or None.
        """
        with self._changed:
            self._is_finished, self._error = True, error
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._items.clear()
            self._changed.notify_all()

    def get(self, limit: WaitLimit | None = None) -> T:
        """Wait for the next item in the channel, and return it.

        Raises:
            _Ended: there are no more items.
            WaitEnded: the limit was reached before there was one.
        """
        with self._changed:
            self._wait(limit)
            if self._items:
                item = self._items.popleft()
                self._changed.notify_all()
                return item
            if self._error is not None and not self._is_closed:
                raise self._error
            raise _Ended

    def _wait(self, limit: WaitLimit | None) -> None:
        """Wait until there is an item, or there will be none. The caller holds the condition."""
        if limit is None:
            self._changed.wait_for(self._is_ready)
        while limit is not None and not self._is_ready():
            if (rest_s := limit.measure_rest()) <= 0:
                raise WaitEnded
            limit.wait(self._changed, rest_s)

    def _is_ready(self) -> bool:
        return bool(self._items) or self._is_finished or self._is_closed


def iterate(
    produce: Callable[[Emit[T]], None],
    cancel: CancelToken,
    pool: WorkerPool = _POOL,
    limit: WaitLimit | None = None,
) -> Iterator[T]:
    """Run `produce` in the pool, and yield the items that it emits.

    Args:
        produce: the producer. It receives a function that emits an item.
        cancel: the token that ends the iteration.
        pool: the pool in which the producer runs.
        limit: limits the wait for each item, or None to wait for as long as the producer takes.

    Raises:
        Cancelled: the token was cancelled. The producer continues until it emits its next item.
        WaitEnded: the limit was reached. The producer continues too.
    """
    channel: _Channel[T] = _Channel()

    def run() -> None:
        error: BaseException | None = None
        try:
            if not cancel.is_cancelled:
                produce(channel.put)
        except BaseException as failure:  # noqa: BLE001 - it is raised in the consumer's thread
            error = _make_exception(failure)
        channel.finish(error)

    forget = cancel.on_cancel(channel.close)
    pool.submit(run)
    try:
        while True:
            try:
                item = channel.get(limit)
            except _Ended:
                break
            yield item
        cancel.raise_if_cancelled()
    finally:
        forget()
        channel.close()


def gather(
    functions: Sequence[Callable[[], T]],
    cancel: CancelToken,
    pool: WorkerPool = _POOL,
    limit: WaitLimit | None = None,
) -> Iterator[tuple[int, T]]:
    """Run functions in parallel, and yield the index and result of each as it finishes.

    Args:
        functions: the functions to run.
        cancel: the token that ends the wait.
        pool: the pool in which the functions run.
        limit: limits the wait, or None. Functions that take longer are abandoned, and have no
            result.

    Raises:
        Cancelled: the token was cancelled. Calls that are still running are abandoned.
    """
    channel: _Channel[tuple[int, T]] = _Channel()

    def run(place: int, function: Callable[[], T]) -> None:
        try:
            if not cancel.is_cancelled:
                channel.put((place, function()))
        except BaseException as failure:  # noqa: BLE001 - it is raised in the consumer's thread
            channel.finish(_make_exception(failure))

    forget = cancel.on_cancel(channel.close)
    for place, function in enumerate(functions):
        pool.submit(partial(run, place, function))
    try:
        for _ in functions:
            cancel.raise_if_cancelled()
            try:
                yield channel.get(limit)
            except (_Ended, WaitEnded):
                break
        cancel.raise_if_cancelled()
    finally:
        forget()
        channel.close()


def _make_exception(failure: BaseException) -> Exception:
    """Return an exception that ends only the work in which it was raised.

    A hook or library that calls `sys.exit` in a thread of the pool must not end the program.
    """
    if isinstance(failure, Exception):
        return failure
    made = RuntimeError(f"{type(failure).__name__} was raised: {failure}")
    made.__cause__ = failure
    return made


def start_call(function: Callable[[], object], pool: WorkerPool = _POOL) -> None:
    """Start a call in the pool. Its result and any exception are ignored."""

    def attempt() -> None:
        with suppress(Exception):
            function()

    pool.submit(attempt)


def repeat(function: Callable[[], object], interval_s: float) -> Callable[[], None]:
    """Call a function repeatedly in a new thread, ignoring exceptions.

    Args:
        function: the function to call.
        interval_s: the pause before each call, in seconds.

    Returns:
        A function that stops the thread, after waiting for a call that is in progress.
    """
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(interval_s):
            with suppress(Exception):
                function()

    thread = threading.Thread(target=run, name="chains-repeat", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end


def call(function: Callable[[], T], cancel: CancelToken, pool: WorkerPool = _POOL) -> T:
    """Run `function` in the pool, and return its result.

    Raises:
        Cancelled: the token was cancelled before the function returned. The function continues in
            the pool, but its result is lost.
    """

    def produce(emit: Emit[T]) -> None:
        emit(function())

    (result,) = iterate(produce, cancel, pool)
    return result
