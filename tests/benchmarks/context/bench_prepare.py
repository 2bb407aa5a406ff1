"""The second `prepare()` of an open chat, from 100 messages to 100,000: it costs what is new."""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median

from context.assemble.inputs import HistoryPolicy, Ports
from context.assemble.request import Request
from context.budget import compute_budget
from context.draft import RequestDraft
from context.envelope import SystemPart
from context.log.entries import Entry, MessageEntry
from context.messages import Message
from context.pipeline import prepare
from tests.benchmarks.context.long_chats import TIME, QuickCounter
from tests.benchmarks.measure import Ratio

SIZES = (100, 1_000, 10_000, 100_000)
# At the first most of the chat is behind a cut, at the second all of it is sent.
THRESHOLDS = (128_000, 2_000_000)
ROUNDS = 9
MOST_MS = 5.0


def run(_folder: Path) -> list[Ratio]:
    """Time the requests after the first one."""
    ratios = []
    for threshold in THRESHOLDS:
        for size in SIZES:
            milliseconds = median(list(_again(size, threshold))[1:])
            name = f"prepare: {size:,} messages at {threshold:,}, ms"
            ratios.append(Ratio(name, milliseconds, at_most=MOST_MS))
    return ratios


def _again(size: int, threshold: int) -> Iterator[float]:
    """Ask and answer in a long chat; yield the milliseconds of each request."""
    ids, path, previous = count(), _chat(size), None
    for number in range(ROUNDS):
        turn, asked = f"again {number}", Message("user", f"And number {number}?")
        path = (*path, MessageEntry(f"q{number}", path[-1].id, TIME, asked, turn))
        new: list[Entry] = []
        ports = Ports(QuickCounter(), new.extend, lambda: f"n{next(ids)}", lambda: TIME)
        request = _begin(ports, path, turn, threshold, previous)
        started = time.perf_counter()
        prepared = prepare(request)
        yield (time.perf_counter() - started) * 1_000
        previous = prepared.draft
        answer = Message("assistant", "An answer.")
        path = (*path, *new, MessageEntry(f"a{number}", f"q{number}", TIME, answer, turn))


def _begin(
    ports: Ports,
    path: tuple[Entry, ...],
    turn: str,
    threshold: int,
    previous: RequestDraft | None,
) -> Request:
    return Request(
        ports,
        compute_budget(ports.counter, threshold, None, 4_096),
        session="bench",
        model="bench",
        temperature=0.2,
        system=(SystemPart("base", "You answer."),),
        path=path,
        turn=turn,
        previous=previous,
        history_policy=HistoryPolicy(),
    )


def _chat(size: int) -> tuple[Entry, ...]:
    path: list[Entry] = []
    for at in range(size):
        parent = path[-1].id if path else None
        message = Message("assistant" if at % 2 else "user", f"{at} some words that were said")
        turn = f"t{at // 2}"
        path.append(MessageEntry(f"{at:08x}", parent, TIME, message, turn, status="complete"))
    return tuple(path)
