import threading
from collections.abc import Callable

import pytest

from vault.indexing.machine_load import Strain
from vault.indexing.throttle import Pace

Until = Callable[[Callable[[], bool]], None]


class Clock:
    """A clock that goes on only while somebody works or waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def _no_real_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.indexing.throttle._TICK_S", 0)


def run_for(pace: Pace, clock: Clock, seconds: float, piece_s: float = 0.1) -> float:
    """Work in pieces of a length, and give the share of the time that was worked."""
    pace.begin()
    worked = 0.0
    while clock.now < seconds:
        clock.work(piece_s)
        worked += piece_s
        pace.wait(lambda: False, lambda: clock.work(0.01))
    return worked / clock.now


def test_nothing_waits_at_full_speed() -> None:
    clock = Clock()
    assert run_for(Pace(clock), clock, 100) == 1


@pytest.mark.usefixtures("_no_real_waiting")
@pytest.mark.parametrize("strain", ["battery", "load"])
@pytest.mark.parametrize("piece_s", [0.001, 0.1, 3.0])
def test_under_strain_half_of_the_time_is_worked(strain: Strain, piece_s: float) -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.yield_to(lambda: strain)
    assert run_for(pace, clock, 200, piece_s) == pytest.approx(0.5, abs=0.05)
    assert pace.reason == strain


def test_a_run_of_two_seconds_is_never_slowed_down() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.yield_to(lambda: "load")
    assert run_for(pace, clock, 1.9) == 1
    assert pace.reason == ""


@pytest.mark.usefixtures("_no_real_waiting")
def test_speed_is_full_again_when_the_strain_is_over() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.yield_to(lambda: "battery" if clock.now < 20 else "")
    run_for(pace, clock, 30)
    assert pace.reason == ""
    before = clock.now
    pace.wait(lambda: False, lambda: clock.work(0.01))
    assert clock.now == before


def test_a_paused_run_stands_until_it_is_resumed() -> None:
    pace, stood, went_on = Pace(), threading.Event(), threading.Event()
    pace.pause()
    assert (pace.is_paused, pace.reason) == (True, "paused")

    def run() -> None:
        pace.wait(lambda: False, stood.set)
        went_on.set()

    threading.Thread(target=run, daemon=True).start()
    assert stood.wait(10)
    assert not went_on.is_set()
    pace.resume()
    assert went_on.wait(10)
    assert not pace.is_paused


def test_a_cancel_ends_a_pause() -> None:
    pace, is_cancelled = Pace(), threading.Event()
    pace.pause()
    pace.wait(is_cancelled.is_set, is_cancelled.set)
    assert pace.is_paused


def test_the_length_of_a_pause_is_told() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.pause()

    def wait() -> None:
        clock.work(7)
        pace.resume()

    assert pace.wait(lambda: False, wait) == 7


@pytest.mark.parametrize("strain", ["battery", "load"])
def test_a_run_that_a_person_waits_for_is_never_slowed_down(strain: Strain) -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.yield_to(lambda: strain)
    with pace.waited_for():
        assert run_for(pace, clock, 100) == 1
        assert pace.reason == ""
    assert pace.reason == strain


def test_a_run_that_rests_goes_on_at_once_when_a_person_begins_to_wait() -> None:
    clock, rests, went_on = Clock(), threading.Event(), threading.Event()
    pace = Pace(clock)
    pace.yield_to(lambda: "load")
    pace.begin()
    clock.work(1_000)  # by this clock, which now stands still, the rest never ends

    def run() -> None:
        pace.wait(lambda: False, rests.set)
        went_on.set()

    threading.Thread(target=run, daemon=True).start()
    assert rests.wait(10)
    assert not went_on.is_set()
    with pace.waited_for():
        assert went_on.wait(10)
    assert pace.wait(lambda: False) == 0  # what was done meanwhile asks for no rest


def test_a_pause_holds_although_a_person_waits() -> None:
    pace, stands = Pace(), threading.Event()
    pace.pause()
    with pace.waited_for():
        assert pace.reason == "paused"
        pace.wait(stands.is_set, stands.set)
    assert stands.is_set()
