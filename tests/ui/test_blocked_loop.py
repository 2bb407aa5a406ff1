"""The walk through the window sees an event loop that stands still, on a busy machine too."""

from pathlib import Path
from time import thread_time

import pytest
from pytestqt.qtbot import QtBot

from tests.support.window import faults
from tests.support.window.faults import (
    LONGEST_BLOCK_S,
    Faults,
    Heartbeat,
    WaitingTime,
    measure_slowness,
)
from tests.support.window.waiting import settle


@pytest.mark.parametrize(("slowness", "is_fault"), [(1.0, True), (3.0, False)])
def test_an_event_loop_that_stands_still_is_a_fault(
    slowness: float, is_fault: bool, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "measure_slowness", lambda: slowness)
    with Faults() as found:
        heartbeat = Heartbeat(found)
        settle()
        end_s = thread_time() + 1.2 * LONGEST_BLOCK_S
        while thread_time() < end_s:
            pass
        qtbot.waitUntil(lambda: heartbeat.longest_s > LONGEST_BLOCK_S)
        heartbeat.stop()
    assert ("the event loop stood still" in found.report()) is is_fault


def test_a_machine_is_never_taken_for_faster_than_usual() -> None:
    assert measure_slowness() >= 1


def test_the_time_that_a_thread_waited_is_kept_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "_THREADS", tmp_path)
    waits = WaitingTime()
    for thread, waited_s in (("1", 2), ("2", 3)):
        (tmp_path / thread).mkdir()
        (tmp_path / thread / "schedstat").write_text(f"7 {waited_s}000000000 9")
    assert waits.measure_s() == 5
    (tmp_path / "1" / "schedstat").unlink()
    (tmp_path / "2" / "schedstat").write_text("7 4000000000 9")
    assert waits.measure_s() == 6
