"""An act of another process in the middle of one, which a lock must keep out."""

import threading
from collections.abc import Callable

import pytest

from resources.system import calls

__all__ = ["Intruder"]


class Intruder:
    """Does something once in a thread of its own, as another process would.

    Locks are of open files, so they keep threads apart that have opened a file for themselves.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
        self._goes_on = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(act,))
        lock_file = calls.lock_file

        def lock(handle: int, *, waits: bool = False) -> None:
            try:
                lock_file(handle, waits=waits)
            except BlockingIOError:
                self._goes_on.set()
                raise

        monkeypatch.setattr("resources.system.calls.lock_file", lock)

    def intrude(self) -> None:
        """Start the act, and wait until it has ended or is kept out by a lock."""
        if self._thread.ident is None:
            self._thread.start()
            assert self._goes_on.wait(60)

    def finish(self) -> None:
        """Wait until the act has ended."""
        self._thread.join()

    def _run(self, act: Callable[[], object]) -> None:
        try:
            act()
        finally:
            self._goes_on.set()
