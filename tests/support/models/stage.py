"""Let a scripted server and its client take turns, on a clock that only the script moves.

A step of a reply may be a function of the `Stage`. It waits until the client has shown a text, or
until it waits for no longer than a given time, and then lets that time pass. No test sleeps, and
none depends on how busy the machine is.
"""

import threading
from collections.abc import Callable
from typing import Final

__all__ = ["HandClock", "Stage", "Step", "let_pass", "pass_time", "show", "until_it_waits"]

LONGEST_S: Final = 30.0


class HandClock:
    """A monotonic clock that stands still until `elapse` is called."""

    def __init__(self) -> None:
        self._now_s = 1_000.0
        self._waits: dict[int, tuple[threading.Condition, float]] = {}
        self._changed = threading.Condition()

    def now(self) -> float:
        """Return the time in seconds."""
        return self._now_s

    def wait(self, condition: threading.Condition, timeout_s: float | None) -> None:
        """Wait until the condition is notified or the time has passed; the caller holds it."""
        if timeout_s is not None and timeout_s <= 0:
            return
        key = threading.get_ident()
        if timeout_s is not None:
            with self._changed:
                self._waits[key] = condition, self._now_s + timeout_s
                self._changed.notify_all()
        condition.wait()
        with self._changed:
            self._waits.pop(key, None)

    def elapse(self, seconds: float) -> None:
        """Let time pass, and wake everyone who waits until then."""
        with self._changed:
            self._now_s += seconds
            due = [
                condition for condition, until_s in self._waits.values() if until_s <= self._now_s
            ]
        for condition in due:
            with condition:
                condition.notify_all()

    def until_waiting(self, most_s: float) -> None:
        """Block until somebody waits for at most so many seconds from now."""

        def is_waiting() -> bool:
            return any(until_s - self._now_s <= most_s for _, until_s in self._waits.values())

        with self._changed:
            assert self._changed.wait_for(is_waiting, LONGEST_S), f"nobody waits for {most_s} s"


class Stage:
    """What a server's script can see of its client: the text shown so far, and the clock."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self._shown = ""
        self._changed = threading.Condition()

    def note(self, text: str) -> None:
        """Record a text that the client has shown."""
        with self._changed:
            self._shown += text
            self._changed.notify_all()

    def until_shown(self, text: str) -> None:
        """Block until the client has shown a text."""
        with self._changed:
            is_there = self._changed.wait_for(lambda: text in self._shown, LONGEST_S)
            assert is_there, f"the client has not shown {text!r} but {self._shown!r}"


Step = bytes | Callable[[Stage], object]


def show(text: str) -> Step:
    """Build a step that waits until the client has shown a text."""
    return lambda stage: stage.until_shown(text)


def until_it_waits(most_s: float) -> Step:
    """Build a step that waits until the client would wait for at most so many seconds."""
    return lambda stage: stage.clock.until_waiting(most_s)


def let_pass(seconds: float) -> Step:
    """Build a step that lets time pass at once, behind a step that waits for the client."""
    return lambda stage: stage.clock.elapse(seconds)


def pass_time(seconds: float) -> Step:
    """Build a step that lets time pass once the client waits for no longer than that."""

    def step(stage: Stage) -> None:
        stage.clock.until_waiting(seconds)
        stage.clock.elapse(seconds)

    return step
