"""What a turn takes depends on what is new in it, not on the length of its chat.

That is counted, not timed.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median_low
from types import FrameType
from typing import Any

import pytest

import context
from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.concurrency import WorkerPool
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, ModelServer

TURNS = 60
# By then the requests of so many turns are remembered that it is no more in later turns.
EARLY = range(20, 25)
LATE = range(TURNS - 5, TURNS)
# A function that looks at every turn, or every other one, is called at least so much more often.
FEWEST_MORE = 15
QUESTION = "And what about number"
ROOT = Path(context.__file__).parents[1]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("app", "chains", "context"))

Calls = Counter[str]


class Work:
    """What a program does while it is watched: its calls, and the characters of JSON it writes."""

    def __init__(self) -> None:
        self.calls: Calls = Counter()
        self.written = 0
        self.is_watched = False

    def watch(self, run: Callable[[], object]) -> None:
        """Run something in this thread; it is counted where that is asked for now."""
        if not self.is_watched:
            run()
            return
        sys.setprofile(self._count)
        try:
            run()
        finally:
            sys.setprofile(None)

    def _count(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGES):
            self.calls[f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_name}"] += 1


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    """The work of this test, in the threads of all pools too."""
    work = Work()
    submit, dumps = WorkerPool.submit, json.dumps
    keepers: set[int] = set()

    def submit_watched(pool: WorkerPool, run: Callable[[], None]) -> None:
        submit(pool, lambda: work.watch(run))

    def dumps_counted(*values: Any, **options: Any) -> str:
        text = dumps(*values, **options)
        if threading.get_ident() not in keepers:
            work.written += len(text)
        return text

    def keep_unwatched(keep: Callable[[], None]) -> None:
        """Keep the request, which is as much work as the request is long, beside the answer."""
        profile = sys.getprofile()
        sys.setprofile(None)
        keepers.add(threading.get_ident())
        try:
            keep()
        finally:
            keepers.discard(threading.get_ident())
            sys.setprofile(profile)

    monkeypatch.setattr("app.requests.keep.start_call", keep_unwatched)
    monkeypatch.setattr(WorkerPool, "submit", submit_watched)
    monkeypatch.setattr(json, "dumps", dumps_counted)
    return work


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    """A server with room for every chat, which the assistant asks."""
    with ModelServer(Answer("That was said before.", chunk_chars=100)) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.settings.set("autoCompactThreshold", 1_000_000)
        yield server


def _play(assistant: Assistant, asked: Ask) -> None:
    list(assistant.ask(asked, CancelToken()))


def test_a_turn_of_a_long_chat_takes_no_more_work_than_one_of_a_short_chat(
    assistant: Assistant, work: Work, server: ModelServer
) -> None:
    session = assistant.sessions.begin(None)
    calls: dict[int, Calls] = {}
    written: dict[int, int] = {}
    for number in range(TURNS):
        work.calls, work.written = Counter(), 0
        work.is_watched = number in EARLY or number in LATE
        asked = Ask(f"{QUESTION} {number:04}?", mode="chat", session=session)
        work.watch(partial(_play, assistant, asked))
        calls[number], written[number] = work.calls, work.written
    assert len(server.bodies[-1]["messages"]) > 2 * TURNS - 2

    def grown(counts: Mapping[int, int]) -> int:
        return median_low([counts[n] for n in LATE]) - median_low([counts[n] for n in EARLY])

    more = {name: grown({at: calls[at][name] for at in calls}) for name in calls[TURNS - 1]}
    assert {name: count for name, count in more.items() if count >= FEWEST_MORE} == {}
    assert grown(written) < 10 * len(QUESTION)
