"""The throttle of index updates: full speed, half of the time, or paused; and their queue.

Only background runs are slowed down. While a person waits for a run, it goes at full speed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal

from vault.indexing.machine_load import LoadReason

__all__ = ["Throttle", "ThrottleReason", "UpdateQueue"]

ThrottleReason = Literal["", "paused", "battery", "load"]

_FREE_S = 2.0
_READ_EVERY_S = 5.0
_SHORTEST_REST_S = 0.05
_TICK_S = 0.05
_LOOK_S = 0.05


class Throttle:
    """Slows down or pauses the updates of one index; safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        """Begin at full speed.

        Args:
            clock: returns seconds that only grow.
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
        """Whether updates are paused."""
        return self._is_paused

    @property
    def reason(self) -> ThrottleReason:
        """Why updates are slowed down or paused; empty at full speed."""
        return "paused" if self._is_paused else self._yielding_to

    @property
    def _yielding_to(self) -> LoadReason:
        """The load that slows updates down; none while a person waits for one."""
        return "" if self._waiters else self._load

    @contextmanager
    def run_at_full_speed(self) -> Iterator[None]:
        """Run updates at full speed, whatever the load, until the block ends.

        A run that rests for the strain goes on at once. A paused one stays paused.
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
        """Pause updates from their next note or batch on."""
        with self._changed:
            self._is_paused = True

    def resume(self) -> None:
        """Resume updates at once."""
        with self._changed:
            self._is_paused = False
            self._changed.notify_all()

    def watch_load(self, read_load: Callable[[], LoadReason]) -> None:
        """Work half of the time from now on, while the machine is under load.

        Args:
            strain: asked every few seconds of a run.
        """
        self._read_load = read_load

    def begin(self) -> None:
        """Record that an update begins; a short one is never slowed down."""
        self._began = self._rested_at = self._read_at = self._clock()
        self._load = ""
        if self._read_load is not None:
            self._read_load()  # each reading is of the time since the one before

    def wait(
        self, is_cancelled: Callable[[], bool], on_wait: Callable[[], None] = lambda: None
    ) -> float:
        """Wait, between two pieces of work, for as long as the throttle asks.

        Args:
            is_cancelled: called all the time; ends the wait.
            on_wait: called when a wait begins and about every 50 ms.

        Returns:
            The seconds that the run was paused.
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
    """Runs the updates of one index one at a time; safe to use from several threads."""

    def __init__(self, throttle: Throttle):
        self._throttle = throttle
        self._lock = threading.Lock()
        self._stops = 0
        self._is_ending = False

    @property
    def is_busy(self) -> bool:
        """Whether an update is running."""
        return self._lock.locked()

    @contextmanager
    def wait_for_turn(
        self, is_cancelled: Callable[[], bool], *, is_background: bool
    ) -> Iterator[Callable[[], bool] | None]:
        """Wait until no other update is running, and keep others waiting until the block ends.

        Args:
            is_cancelled: called all the time; ends the wait.
            is_background: nobody waits for this update, so that it may be throttled.

        Yields:
            The check that tells the update to stop; None where it was to stop before its turn.
        """
        stops = self._stops

        def is_over() -> bool:
            return self._is_ending or self._stops != stops or is_cancelled()

        with nullcontext() if is_background else self._throttle.run_at_full_speed():
            while not self._lock.acquire(timeout=_LOOK_S):
                if is_over():
                    yield None
                    return
            try:
                yield is_over
            finally:
                self._lock.release()

    def stop(self) -> None:
        """End the updates that run or wait now."""
        self._stops += 1

    @contextmanager
    def end_updates(self) -> Iterator[None]:
        """End the running update, and let none begin until the block ends."""
        self._is_ending = True
        try:
            with self._lock:
                yield
        finally:
            self._is_ending = False

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Return whether no update is running, waiting for one to end for at most this time."""
        with self._throttle.run_at_full_speed():
            if not self._lock.acquire(timeout=timeout_s):
                return False
            self._lock.release()
            return True
