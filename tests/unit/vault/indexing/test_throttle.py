import threading
from collections.abc import Callable

import pytest

from vault.indexing.machine_load import LoadReason
from vault.indexing.throttle import Throttle

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


def run_for(throttle: Throttle, clock: Clock, seconds: float, piece_s: float = 0.1) -> float:
    """Work in pieces of a length, and give the share of the time that was worked."""
    throttle.begin()
    worked = 0.0
    while clock.now < seconds:
        clock.work(piece_s)
        worked += piece_s
        throttle.wait(lambda: False, lambda: clock.work(0.01))
    return worked / clock.now


def test_nothing_waits_at_full_speed() -> None:
    clock = Clock()
    assert run_for(Throttle(clock), clock, 100) == 1


@pytest.mark.usefixtures("_no_real_waiting")
@pytest.mark.parametrize("load", ["battery", "load"])
@pytest.mark.parametrize("piece_s", [0.001, 0.1, 3.0])
def test_under_strain_half_of_the_time_is_worked(load: LoadReason, piece_s: float) -> None:
    clock = Clock()
    throttle = Throttle(clock)
    throttle.watch_load(lambda: load)
    assert run_for(throttle, clock, 200, piece_s) == pytest.approx(0.5, abs=0.05)
    assert throttle.reason == load


def test_a_run_of_two_seconds_is_never_slowed_down() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    throttle.watch_load(lambda: "load")
    assert run_for(throttle, clock, 1.9) == 1
    assert throttle.reason == ""


@pytest.mark.usefixtures("_no_real_waiting")
def test_speed_is_full_again_when_the_strain_is_over() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    throttle.watch_load(lambda: "battery" if clock.now < 20 else "")
    run_for(throttle, clock, 30)
    assert throttle.reason == ""
    before = clock.now
    throttle.wait(lambda: False, lambda: clock.work(0.01))
    assert clock.now == before


def test_a_paused_run_stands_until_it_is_resumed() -> None:
    throttle, stood, went_on = Throttle(), threading.Event(), threading.Event()
    throttle.pause()
    assert (throttle.is_paused, throttle.reason) == (True, "paused")

    def run() -> None:
        throttle.wait(lambda: False, stood.set)
        went_on.set()

    threading.Thread(target=run, daemon=True).start()
    assert stood.wait(60)
    assert not went_on.is_set()
    throttle.resume()
    assert went_on.wait(60)
    assert not throttle.is_paused


def test_a_cancel_ends_a_pause() -> None:
    throttle, is_cancelled = Throttle(), threading.Event()
    throttle.pause()
    throttle.wait(is_cancelled.is_set, is_cancelled.set)
    assert throttle.is_paused


def test_the_length_of_a_pause_is_told() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    throttle.pause()

    def wait() -> None:
        clock.work(7)
        throttle.resume()

    assert throttle.wait(lambda: False, wait) == 7


@pytest.mark.parametrize("load", ["battery", "load"])
def test_a_run_that_a_person_waits_for_is_never_slowed_down(load: LoadReason) -> None:
    clock = Clock()
    throttle = Throttle(clock)
    throttle.watch_load(lambda: load)
    with throttle.run_at_full_speed():
        assert run_for(throttle, clock, 100) == 1
        assert throttle.reason == ""
    assert throttle.reason == load


def test_a_run_that_rests_goes_on_at_once_when_a_person_begins_to_wait() -> None:
    clock, rests, went_on = Clock(), threading.Event(), threading.Event()
    throttle = Throttle(clock)
    throttle.watch_load(lambda: "load")
    throttle.begin()
    clock.work(1_000)  # by this clock, which now stands still, the rest never ends

    def run() -> None:
        throttle.wait(lambda: False, rests.set)
        went_on.set()

    threading.Thread(target=run, daemon=True).start()
    assert rests.wait(60)
    assert not went_on.is_set()
    with throttle.run_at_full_speed():
        assert went_on.wait(60)
    assert throttle.wait(lambda: False) == 0  # what was done meanwhile asks for no rest


def test_a_pause_holds_although_a_person_waits() -> None:
    throttle, stands = Throttle(), threading.Event()
    throttle.pause()
    with throttle.run_at_full_speed():
        assert throttle.reason == "paused"
        throttle.wait(stands.is_set, stands.set)
    assert stands.is_set()
