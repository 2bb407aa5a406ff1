"""Throttle index updates, and run them one at a time.

Only background updates are slowed down. While the user is waiting, an update runs at full speed.
Other background jobs run only while there is no update or search.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal

from vault.errors import VaultError
from vault.indexing.machine_load import LoadReason
from vault.indexing.priority import Priority

__all__ = ["IdleJob", "SearchActivity", "Throttle", "ThrottleReason", "UpdateQueue"]

ThrottleReason = Literal["", "paused", "battery", "load"]

_FREE_S = 2.0
_READ_EVERY_S = 5.0
_SHORTEST_REST_S = 0.05
_TICK_S = 0.05
_LOOK_S = 0.05
_REST_S = 0.05
_STEP_S = 0.02
_LONGEST_REST_S = 1.0
_QUIET_S = 3.0  # a user who has just searched often searches again
_log = logging.getLogger(__name__)


class Throttle:
    """Slows down or pauses the updates of an index. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        """Create a throttle that does not slow down any update yet.

        Args:
            clock: returns the time in seconds, from a monotonic clock.
        """
        self._clock = clock
        self._changed = threading.Condition()
        self._is_paused = False
        self._waiters = 0
        self._read_load: Callable[[], LoadReason] | None = None
        self._load: LoadReason = ""
        self._read_at = self._began = self._rested_at = clock()

    @property
    def is_paused(self) -> bool:
        """Whether index updates are paused."""
        return self._is_paused

    @property
    def reason(self) -> ThrottleReason:
        """Why index updates are slowed down or paused, or an empty string at full speed."""
        return "paused" if self._is_paused else self._yielding_to

    @property
    def _yielding_to(self) -> LoadReason:
        """Why background updates are slowed down, or an empty string at full speed."""
        return "" if self._waiters else self._load

    @contextmanager
    def run_at_full_speed(self) -> Iterator[None]:
        """Run updates at full speed within the block, regardless of the load.

        An update that is waiting because of the load continues at once. Updates that were paused
        with `pause` still wait for `resume`.
        """
        with self._changed:
            self._waiters += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._waiters -= 1

    def pause(self) -> None:
        """Pause index updates before the next note or batch."""
        with self._changed:
            self._is_paused = True

    def resume(self) -> None:
        """Resume paused index updates at once."""
        with self._changed:
            self._is_paused = False
            self._changed.notify_all()

    def watch_load(self, read_load: Callable[[], LoadReason]) -> None:
        """Run background updates at half speed while the machine is busy or on battery.

        Args:
            read_load: returns the reason to slow down, or "". Called every few seconds during an
                update.
        """
        self._read_load = read_load

    def begin(self) -> None:
        """Record the start of an index update. Its first two seconds are never slowed down."""
        self._began = self._rested_at = self._read_at = self._clock()
        self._load = ""
        if self._read_load is not None:
            self._read_load()  # each reading covers the time since the last

    def wait(
        self, is_cancelled: Callable[[], bool], on_wait: Callable[[], None] = lambda: None
    ) -> float:
        """Wait between two steps of an update, as long as the throttle requires.

        Args:
            is_cancelled: checked while waiting.
            on_wait: called when waiting starts, and then about every 50 ms.

        Returns:
            How long the update was paused, in seconds.
        """
        if not self._is_paused and self._read_load is None:
            return 0.0
        self._refresh_load()
        now = self._clock()
        worked = now - self._rested_at
        if worked >= _SHORTEST_REST_S:
            self._wait_until(lambda: is_cancelled() or self._has_rested(now + worked), on_wait)
        stopped = self._clock()
        self._wait_until(lambda: is_cancelled() or not self._is_paused, on_wait)
        if not self._yielding_to or worked >= _SHORTEST_REST_S:
            self._rested_at = self._clock()
        return self._clock() - stopped

    def _has_rested(self, until: float) -> bool:
        return not self._yielding_to or self._clock() >= until

    def _refresh_load(self) -> None:
        now = self._clock()
        if self._read_load is None or now - self._began < _FREE_S:
            return
        if now - self._read_at >= _READ_EVERY_S or self._read_at <= self._began:
            self._read_at = now
            self._load = self._read_load()

    def _wait_until(self, is_over: Callable[[], bool], on_wait: Callable[[], None]) -> None:
        while not is_over():
            on_wait()
            with self._changed:
                self._changed.wait(_TICK_S)


class UpdateQueue:
    """Runs the updates of an index one at a time. Thread-safe.

    Attributes:
        priority: the notes to index first.
    """

    def __init__(self, throttle: Throttle):
        self._throttle = throttle
        self._lock = threading.Lock()
        self._stops = 0
        self._is_ending = False
        self._has_words = True
        self.priority = Priority()

    @property
    def is_busy(self) -> bool:
        """Whether an index update is running."""
        return self._lock.locked()

    @contextmanager
    def wait_for_turn(
        self, is_cancelled: Callable[[], bool], *, is_background: bool
    ) -> Iterator[Callable[[], bool] | None]:
        """Wait for other updates to finish, and block new ones within the `with` block.

        Args:
            is_cancelled: checked while waiting.
            is_background: whether the update may be throttled, because no user is waiting.

        Yields:
            A function that returns whether the update must stop. If the update was cancelled while
            it was waiting, None is yielded instead.
        """
        stops = self._stops

        def is_over() -> bool:
            return self._is_ending or self._stops != stops or is_cancelled()

        with nullcontext() if is_background else self._throttle.run_at_full_speed():
            while not self._lock.acquire(timeout=_LOOK_S):
                if is_over():
                    yield None
                    return
            self._has_words = False
            try:
                yield is_over
            finally:
                self._has_words = True
                self._lock.release()

    def wait_for_words(self, timeout_s: float) -> bool:
        """Wait until keyword search can find all notes.

        Returns:
            True if it can find all notes, or False after `timeout_s` seconds.
        """
        ends_at = time.monotonic() + timeout_s
        with self._throttle.run_at_full_speed():
            while not self._has_words and time.monotonic() < ends_at:
                time.sleep(_LOOK_S)
        return self._has_words

    def mark_words(self) -> None:
        """Record that all notes have been read, so that keyword search can find them."""
        self._has_words = True

    def stop(self) -> None:
        """Stop all running and waiting index updates."""
        self._stops += 1

    @contextmanager
    def end_updates(self) -> Iterator[None]:
        """Stop the running index update, and block new ones within the `with` block."""
        self._is_ending = True
        try:
            with self._lock:
                yield
        finally:
            self._is_ending = False

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Wait until no index update is running. Meanwhile, updates run at full speed.

        Args:
            timeout_s: the maximum time to wait, in seconds.

        Returns:
            Whether all updates ended in time.
        """
        with self._throttle.run_at_full_speed():
            if not self._lock.acquire(timeout=timeout_s):
                return False
            self._lock.release()
            return True


class SearchActivity:
    """Knows whether the user is searching, or has just searched. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        """Create the object. Nothing was searched yet.

        Args:
            clock: returns monotonic seconds.
        """
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._recent_until = clock()

    @contextmanager
    def record(self) -> Iterator[None]:
        """Record that the user is searching within the `with` block."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._recent_until = self._clock() + _QUIET_S

    @property
    def is_recent(self) -> bool:
        """Whether a search is running, or has ended within the last few seconds."""
        with self._lock:
            return self._running > 0 or self._clock() < self._recent_until


class IdleJob:
    """Runs a background job while no update is running and the user is not searching.

    The job runs in its own thread until it is finished, an update starts, or `close` is called.
    During a search and for a few seconds afterwards, it is paused.
    """

    def __init__(
        self,
        job: Callable[[Callable[[], bool]], None],
        updates: UpdateQueue,
        activity: SearchActivity,
        clock: Callable[[], float] = time.monotonic,
    ):
        """Create the object. The job is not started yet.

        Args:
            job: the job. It receives a function that it must call after each small step. The
                function sleeps, so that the job uses at most half of a processor, and returns
                whether to stop.
            updates: the queue of updates. The job ends when one of them starts.
            activity: pauses the job during a search and for a few seconds after it.
            clock: returns monotonic seconds.
        """
        self._job = job
        self._updates = updates
        self._activity = activity
        self._clock = clock
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._rested_at = clock()

    def start(self) -> None:
        """Start the background job, unless it is already running."""
        with self._lock:
            if self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._run, name="idle", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the background job and wait for it to end."""
        self._stop.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        try:
            self._wait_while_paused()
            self._rested_at = self._clock()
            if not self._activity.is_recent:
                self._job(self._rest)
        except VaultError as error:  # the next update starts it again
            _log.info("A job in the background ended: %s", error)

    def _rest(self) -> bool:
        """Sleep for as long as the job has just worked, or longer while the job is paused.

        Return whether the job must stop.
        """
        worked_s = self._clock() - self._rested_at
        if worked_s >= _STEP_S or self._activity.is_recent:
            self._stop.wait(min(worked_s, _LONGEST_REST_S))
            self._wait_while_paused()
            self._rested_at = self._clock()
        return self._has_to_stop

    def _wait_while_paused(self) -> None:
        while self._activity.is_recent and not self._has_to_stop:
            self._stop.wait(_REST_S)

    @property
    def _has_to_stop(self) -> bool:
        return self._stop.is_set() or self._updates.is_busy
