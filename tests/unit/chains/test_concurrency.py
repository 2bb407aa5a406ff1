import threading
import time

import pytest

from chains.cancel import CancelToken
from chains.concurrency import BUFFER_ITEMS, Emit, WorkerPool, call, iterate, repeat, start_call
from chains.errors import Cancelled


def counting(emit: Emit[int]) -> None:
    for number in range(1_000):
        emit(number)


def test_items_arrive_in_their_order():
    assert list(iterate(counting, CancelToken())) == list(range(1_000))


def test_an_error_of_the_producer_is_raised_where_its_items_are_read():
    def failing(emit: Emit[int]) -> None:
        emit(1)
        raise ValueError("broken")

    items = iterate(failing, CancelToken())
    assert next(items) == 1
    with pytest.raises(ValueError, match="broken"):
        next(items)


def test_what_is_begun_beside_holds_nobody_up_and_breaks_nothing():
    pool, may_end, has_run = WorkerPool(1), threading.Event(), threading.Event()

    def failing() -> None:
        may_end.wait(30)
        raise ValueError("broken")

    start_call(failing, pool)
    start_call(has_run.set, pool)
    assert not has_run.is_set()
    may_end.set()
    assert has_run.wait(30)


def test_a_repeated_call_goes_on_after_an_error_and_ends_when_told():
    calls, is_third = [], threading.Event()

    def fail() -> None:
        calls.append(1)
        if len(calls) == 3:
            is_third.set()
        raise ValueError("broken")

    end = repeat(fail, 0.001)
    assert is_third.wait(30)
    end()
    count = len(calls)
    assert "chains-repeat" not in [thread.name for thread in threading.enumerate()]
    assert len(calls) == count


def test_the_end_of_a_repetition_waits_for_a_running_call():
    is_running, may_end, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        is_running.set()
        may_end.wait(30)
        ended.append("call")

    end = repeat(work, 0.001)
    assert is_running.wait(30)
    ending = threading.Thread(target=lambda: (end(), ended.append("end")))
    ending.start()
    may_end.set()
    ending.join(30)
    assert ended[-2:] == ["call", "end"]


def test_cancelling_stops_within_200_ms_while_the_producer_blocks():
    stall = threading.Event()
    waits = []
    while len(waits) < 10 and min(waits, default=1) >= 0.2:  # the machine may be busy otherwise
        token = CancelToken()
        items = iterate(lambda emit: (emit(1), stall.wait(30))[0] and None, token)
        next(items)
        threading.Timer(0.05, token.cancel).start()
        begun = time.monotonic()
        with pytest.raises(Cancelled):
            next(items)
        waits.append(time.monotonic() - begun - 0.05)
    stall.set()
    assert min(waits) < 0.2


def test_nothing_is_produced_for_a_token_that_is_cancelled_already():
    token, started = CancelToken(), []
    token.cancel()
    with pytest.raises(Cancelled):
        list(iterate(lambda emit: started.append(1), token))
    assert started == []


def test_a_producer_waits_for_a_slow_reader():
    produced = []

    def fast(emit: Emit[int]) -> None:
        for number in range(5 * BUFFER_ITEMS):
            produced.append(number)
            emit(number)

    items = iterate(fast, CancelToken())
    next(items)
    assert len(produced) <= 2 + BUFFER_ITEMS
    assert len(list(items)) == 5 * BUFFER_ITEMS - 1


def test_a_reader_that_goes_away_lets_the_producer_end():
    ended = threading.Event()

    def endless(emit: Emit[int]) -> None:
        while emit(1):
            pass
        ended.set()

    items = iterate(endless, CancelToken())
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert ended.wait(60)


def test_the_pool_never_has_more_threads_than_its_size():
    pool, seen, done = WorkerPool(2), set(), threading.Semaphore(0)

    def task() -> None:
        seen.add(threading.current_thread().name)
        done.release()

    for _ in range(50):
        pool.submit(task)
    assert all(done.acquire(timeout=60) for _ in range(50))
    assert len(seen) <= 2


def test_a_pool_that_gets_no_further_thread_runs_tasks_in_those_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
):
    pool, started, may_end, done = (
        WorkerPool(2),
        threading.Event(),
        threading.Event(),
        threading.Event(),
    )

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool.submit(lambda: (started.set(), may_end.wait(60)))
    assert started.wait(60)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool.submit(done.set)
    may_end.set()
    assert done.wait(60)
    with pytest.raises(RuntimeError):
        WorkerPool(2).submit(done.set)


def test_its_threads_do_not_hold_up_the_end_of_the_program():
    assert call(lambda: threading.current_thread().daemon, CancelToken())


def test_a_call_returns_what_the_function_returns():
    assert call(lambda: 6 * 7, CancelToken()) == 42


def test_a_cancelled_call_is_not_waited_for():
    stall, token = threading.Event(), CancelToken()
    threading.Timer(0.05, token.cancel).start()
    with pytest.raises(Cancelled):
        call(lambda: stall.wait(30), token)
    stall.set()
