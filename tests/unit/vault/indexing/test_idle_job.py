"""A job in the background runs while no update does, and ends when the index is closed."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.vault.conftest import IndexMaker
from vault.errors import EmbedderFailed
from vault.indexing.throttle import IdleJob, SearchActivity, Throttle, UpdateQueue


@pytest.fixture
def updates() -> UpdateQueue:
    return UpdateQueue(Throttle())


def test_a_job_runs_to_its_end(updates: UpdateQueue) -> None:
    done = threading.Semaphore(0)
    job = IdleJob(lambda _rest: done.release(), updates, SearchActivity())
    job.start()
    assert done.acquire(timeout=30)
    job.close()


def test_an_update_stops_it(updates: UpdateQueue) -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(rest: Callable[[], bool]) -> None:
        begun.set()
        while not rest():
            pass
        ended.set()

    job = IdleJob(work, updates, SearchActivity())
    job.start()
    assert begun.wait(30)
    with updates.wait_for_turn(lambda: False, is_background=True):
        assert ended.wait(30)
    job.close()


def test_closing_waits_for_its_end_and_lets_nothing_start(updates: UpdateQueue) -> None:
    runs = list[bool]()

    def work(rest: Callable[[], bool]) -> None:
        while not rest():
            pass
        runs.append(True)

    job = IdleJob(work, updates, SearchActivity())
    job.start()
    job.close()
    job.start()
    assert runs == [True]


def test_an_error_of_the_vault_ends_the_job_quietly(updates: UpdateQueue) -> None:
    def fail(_rest: Callable[[], bool]) -> None:
        raise EmbedderFailed("The model is damaged.")

    job = IdleJob(fail, updates, SearchActivity())
    job.start()
    job.close()


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_search_pauses_it_and_a_moment_later_it_goes_on(updates: UpdateQueue) -> None:
    clock, steps = Clock(), threading.Semaphore(0)

    def work(rest: Callable[[], bool]) -> None:
        while not rest():
            steps.release()

    activity = SearchActivity(clock)
    job = IdleJob(work, updates, activity, clock)
    with activity.record():
        assert activity.is_recent
        job.start()
    assert activity.is_recent
    assert not steps.acquire(blocking=False)
    clock.now_s = 60.0
    assert not activity.is_recent
    assert steps.acquire(timeout=30)
    job.close()


def test_a_paused_job_ends_when_it_is_closed(updates: UpdateQueue) -> None:
    clock = Clock()
    activity = SearchActivity(clock)
    job = IdleJob(lambda _rest: pytest.fail("it began"), updates, activity, clock)
    with activity.record():
        job.start()
        job.close()


@pytest.mark.parametrize("is_watched_first", [True, False])
def test_the_ranking_is_fitted_also_when_no_note_has_changed(
    make_index: IndexMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_watched_first: bool,
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Barrel.md").write_text("# Barrel\n\nThe barrel holds 210 litres.\n")
    first = make_index(notes)
    assert first.update().added == 1
    first.close()
    begun = threading.Event()
    monkeypatch.setattr("vault.search.selftest.fit_ranking", lambda *_arguments: begun.set())
    again = make_index(notes)
    if is_watched_first:
        again.watch()
    assert again.update().changed == 0
    again.watch()
    assert begun.wait(60)
