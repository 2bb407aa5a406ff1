"""Asyncio code runs from threads, and ends when it is cancelled or takes too long."""

import asyncio
import threading

import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled
from chains.event_loop import EventLoop, get_event_loop


def test_a_result_and_an_error_reach_the_caller() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    async def fail() -> int:
        raise ValueError("no")

    loop = get_event_loop()
    assert loop.run(answer, CancelToken(), 60) == 42
    with pytest.raises(ValueError, match="no"):
        loop.run(fail, CancelToken(), 60)


def test_a_cancel_ends_the_wait_and_the_coroutine() -> None:
    begun, ended = threading.Event(), threading.Event()
    cancel = CancelToken()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def cancel_later() -> None:
        begun.wait(60)
        cancel.cancel()

    thread = threading.Thread(target=cancel_later)
    thread.start()
    with pytest.raises(Cancelled):
        EventLoop().run(wait, cancel, 60)
    thread.join()
    assert ended.wait(60)


def test_a_token_that_is_cancelled_starts_nothing_that_lasts() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        get_event_loop().run(asyncio.Event().wait, cancel, 60)


def test_a_coroutine_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        get_event_loop().run(asyncio.Event().wait, CancelToken(), 0.01)
