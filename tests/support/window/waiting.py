"""Wait for a window: for a state or a signal, or until all events have been processed."""

from functools import partialmethod

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

LONGEST_MS = 60_000
_ROUNDS = 80  # events post others, such as a layout in a layout


class PatientBot(QtBot):
    """A bot that waits as long as a busy computer needs; pytest-qt's own gives up after 5 s."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=LONGEST_MS)  # noqa: N815 (Qt's own name)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=LONGEST_MS)  # noqa: N815


def settle() -> None:
    """Process events until everything has been laid out."""
    for _ in range(_ROUNDS):
        QApplication.processEvents()
