"""Garbage is collected and slow modules are loaded while the interface's thread is idle."""

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEventLoop, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ui.idle_work import (
    FULL_ALWAYS,
    IDLE_CHECKS,
    GarbageCollector,
    IdleTimer,
    call_when_idle,
)

BUSY_S = 0.1


class Work:
    """The processor time that the interface's thread seems to have used."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def read(self) -> float:
        return self.seconds


class Checks:
    """An idle timer whose checks are made by the test, with the results."""

    def __init__(self, qapp: QApplication) -> None:
        self._work = Work()
        self.timer = IdleTimer(qapp, read_busy_s=self._work.read)
        self.timer.findChild(QTimer).stop()
        self.results: list[bool] = []
        self.timer.checked.connect(self.results.append)

    def make(self, number: int, busy_s: float = 0.0) -> None:
        for _ in range(number):
            self._work.seconds += busy_s
            self.timer.check()


@pytest.fixture
def checks(qapp: QApplication) -> Iterator[Checks]:
    checks = Checks(qapp)
    yield checks
    checks.timer.deleteLater()


@pytest.fixture
def garbage(qapp: QApplication, checks: Checks) -> Iterator[GarbageCollector]:
    collector = GarbageCollector(qapp, checks.timer)
    yield collector
    collector.deleteLater()


class Link:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_nothing_is_collected_while_an_event_is_under_way(
    qtbot: QtBot, garbage: GarbageCollector, checks: Checks
) -> None:
    destroyed_in: list[int] = []
    seen: list[tuple[int, int]] = []

    def handle_an_event() -> None:
        leave_a_cycle(destroyed_in)
        loop = QEventLoop()
        QTimer.singleShot(0, collect)
        QTimer.singleShot(0, loop.quit)
        loop.exec()  # as a menu or a file dialog does
        seen.append((2, len(destroyed_in)))
        QTimer.singleShot(0, collect)

    def collect() -> None:
        garbage._modules = 0  # so that a full collection is due
        checks.make(IDLE_CHECKS)
        seen.append((QThread.currentThread().loopLevel(), len(destroyed_in)))

    QTimer.singleShot(0, handle_an_event)
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [(2, 0), (2, 0), (1, 1)]
    assert destroyed_in == [threading.get_ident()]


def leave_a_cycle(destroyed_in: list[int]) -> None:
    """Make a widget that only a reference cycle keeps."""
    widget = QWidget()
    widget.destroyed.connect(
        lambda: destroyed_in.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
    )
    widget.itself = widget  # type: ignore[attr-defined]


def allocate(kept: list[list[object]], number: int = 200_000) -> None:
    """Allocate more than makes Python collect."""
    kept.extend([] for _ in range(number))


def test_the_thread_is_idle_after_two_seconds_without_work(checks: Checks) -> None:
    checks.make(IDLE_CHECKS - 1)
    checks.make(1, BUSY_S)
    checks.make(IDLE_CHECKS + 1)
    assert checks.results == [False] * (2 * IDLE_CHECKS - 1) + [True, True]


def test_the_thread_that_runs_the_timer_is_the_one_that_is_measured(
    qtbot: QtBot, qapp: QApplication
) -> None:
    timer = IdleTimer(qapp)
    with qtbot.waitSignal(timer.checked, check_params_cb=lambda is_idle: is_idle):
        pass
    timer.deleteLater()
    timer.deleteLater()


def test_work_for_an_idle_moment_is_done_once(checks: Checks) -> None:
    done: list[str] = []
    call_when_idle(lambda: done.append("done"), checks.timer)
    checks.make(IDLE_CHECKS - 1)
    assert done == []
    checks.make(3)
    assert done == ["done"]


def test_a_thread_that_allocates_destroys_no_widget(
    garbage: GarbageCollector, checks: Checks
) -> None:
    destroyed_in: list[int] = []
    leave_a_cycle(destroyed_in)
    kept: list[list[object]] = []
    thread = threading.Thread(target=allocate, args=(kept,))
    thread.start()
    thread.join()
    assert destroyed_in == []
    checks.make(1, BUSY_S)
    assert destroyed_in == [threading.get_ident()]


def leave_old_garbage(checks: Checks) -> "weakref.ref[Link]":
    """Make a cycle that is in use when the young objects are collected, and not afterwards."""
    link = Link()
    kept: list[list[object]] = []
    allocate(kept)
    checks.make(1, BUSY_S)
    found = weakref.ref(link)
    del link
    return found


def make_busy_checks(checks: Checks, number: int) -> None:
    """Make checks in which young objects are collected."""
    for _ in range(number):
        kept: list[list[object]] = []
        allocate(kept, 2_000)
        checks.make(1, BUSY_S)


def test_old_garbage_waits_for_an_idle_moment(garbage: GarbageCollector, checks: Checks) -> None:
    checks.make(IDLE_CHECKS + 1)
    old = leave_old_garbage(checks)
    make_busy_checks(checks, FULL_ALWAYS // 2)
    assert old() is not None
    checks.make(IDLE_CHECKS)
    assert old() is None


def test_old_garbage_does_not_wait_for_ever(garbage: GarbageCollector, checks: Checks) -> None:
    checks.make(IDLE_CHECKS + 1)
    old = leave_old_garbage(checks)
    make_busy_checks(checks, FULL_ALWAYS)
    assert old() is None


def test_what_lives_after_the_start_is_left_out_of_later_collections(
    garbage: GarbageCollector, checks: Checks
) -> None:
    kept: list[list[object]] = []
    allocate(kept)
    gone = weakref.ref(Link())
    frozen = gc.get_freeze_count()
    checks.make(IDLE_CHECKS)
    assert gone() is None
    assert gc.get_freeze_count() - frozen > 150_000
    frozen = gc.get_freeze_count()
    allocate(kept)
    checks.make(IDLE_CHECKS)
    assert gc.get_freeze_count() <= frozen


def test_modules_that_are_loaded_later_are_left_out_too(
    garbage: GarbageCollector, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks.make(IDLE_CHECKS)
    frozen = gc.get_freeze_count()
    kept: list[list[object]] = []
    allocate(kept)
    for number in range(100):
        monkeypatch.setitem(sys.modules, f"loaded_later_{number}", sys)
    checks.make(1)
    assert gc.get_freeze_count() - frozen > 150_000
