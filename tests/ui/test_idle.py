"""A widget in a reference cycle is destroyed in the interface's thread, whoever makes garbage."""

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ui.tasks import GarbageCollector


@pytest.fixture
def garbage(qapp: QApplication) -> Iterator[GarbageCollector]:
    collector = GarbageCollector(qapp)
    yield collector
    collector.stop()
    collector.deleteLater()


def leave_a_cycle(destroyed_in: list[int]) -> None:
    """Make a widget that only a reference cycle keeps."""
    widget = QWidget()
    widget.destroyed.connect(
        lambda: destroyed_in.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
    )
    widget.itself = widget  # type: ignore[attr-defined]


def allocate(kept: list[list[object]]) -> None:
    """Allocate far more than makes Python collect."""
    kept.extend([] for _ in range(200_000))


def test_a_thread_that_allocates_destroys_no_widget(
    qtbot: QtBot, garbage: GarbageCollector
) -> None:
    destroyed_in: list[int] = []
    leave_a_cycle(destroyed_in)
    kept: list[list[object]] = []
    thread = threading.Thread(target=allocate, args=(kept,))
    thread.start()
    thread.join()
    assert destroyed_in == []
    qtbot.waitUntil(lambda: bool(destroyed_in))
    assert destroyed_in == [threading.get_ident()]


def test_python_collects_by_itself_again_once_the_window_is_closed(
    garbage: GarbageCollector,
) -> None:
    assert not gc.isenabled()
    garbage.stop()
    assert gc.isenabled()
