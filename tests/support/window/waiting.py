"""Wait for a window: for a state or a signal, or until all events have been processed."""

import time
from collections.abc import Callable
from functools import partialmethod

from PySide6.QtWidgets import QApplication
from pytestqt.exceptions import TimeoutError as WaitedInVain
from pytestqt.qtbot import QtBot

LONGEST_MS = 60_000
_LOOK_MS = 2
_ROUNDS = 80  # events post others, such as a layout in a layout


class PatientBot(QtBot):
    """A bot that waits as long as a busy computer needs; pytest-qt's own gives up after 5 s."""

    waitSignal = partialmethod(QtBot.waitSignal, timeout=LONGEST_MS)  # noqa: N815 (Qt's own name)

    def waitUntil(  # noqa: N802
        self, callback: Callable[[], bool | None], *, timeout: int = LONGEST_MS
    ) -> None:
        """Process events until a condition is met. It is checked every 2 ms, not every 10 ms.

        Args:
            callback: returns whether the condition is met, or fails with an `AssertionError`.
            timeout: the most milliseconds to wait.

        Raises:
            TimeoutError: the condition is not met in time.
        """
        deadline = time.monotonic() + timeout / 1000
        while True:
            reason = None
            try:
                if callback() in (None, True):
                    return
            except AssertionError as error:
                reason = error
            if time.monotonic() > deadline:
                raise WaitedInVain(f"waited in vain for {timeout} ms") from reason
            self.wait(_LOOK_MS)


def settle() -> None:
    """Process events until everything has been laid out."""
    for _ in range(_ROUNDS):
        QApplication.processEvents()
