"""What long chats cost, against dropping whole turns to three quarters of the room.

The product's own `prepare()` makes every request of both ways, on the same chats. A summary is
faked as long as it may be, and its call is charged with everything that is sent for it.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from context.inputs import Upkeep
from context.messages import ToolDefinition
from context.summaries import SummaryTask
from resources import read_text
from tests.benchmarks.long_chats import (
    LOOK_UP,
    Player,
    QuickCounter,
    Turn,
    agent_turns,
    chat_turns,
)
from tests.benchmarks.measure import Ratio
from tests.benchmarks.prompt_price import Bill

TURNS = int(os.environ.get("STRATA_BENCH_TURNS", "2000"))
PASSAGE_TOKENS = 2_000
MEANS = (64, 230)
CHAT_THRESHOLDS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
AGENT_THRESHOLDS = (8_000, 16_000, 32_000, 128_000)
AGENT_BARS = {16_000: 1.12, 32_000: 1.00, 128_000: 0.95}
LEAST_BARRED = 8_000
WORD = "remembered "


def run(_folder: Path) -> list[Ratio]:
    """Play chats and agent runs, each without and with passages."""
    return [*_chats(), *_agents()]


def _chats() -> Iterator[Ratio]:
    for mean in MEANS:
        for passages in (0, PASSAGE_TOKENS):
            turns = chat_turns(TURNS, mean, passages)
            for threshold in CHAT_THRESHOLDS:
                system = read_text("prompts/chat.md")
                sent = min(passages, int(threshold * 0.75 * 0.25))
                name = f"{mean} a turn, {sent} of passages, {threshold:,}"
                bars = (1.05, 0.85) if threshold >= LEAST_BARRED else (None, None)
                yield from _compare(f"chat {name}", turns, system, threshold, bars, ())


def _agents() -> Iterator[Ratio]:
    for passages in (0, PASSAGE_TOKENS):
        system, turns = agent_turns(TURNS, passages)
        for threshold in AGENT_THRESHOLDS:
            bar = AGENT_BARS.get(threshold)
            bars = (bar, 0.75) if bar else (None, None)
            name = f"agent {passages} of passages, {threshold:,}"
            yield from _compare(name, turns, system, threshold, bars, (LOOK_UP,))


def _compare(
    name: str,
    turns: Sequence[Turn],
    system: str,
    threshold: int,
    bars: tuple[float | None, float | None],
    tools: tuple[ToolDefinition, ...],
) -> Iterator[Ratio]:
    ours = played(turns, system, threshold, Upkeep(), tools)
    drops = played(turns, system, threshold, None, tools)
    most, least = bars
    detail = (
        f"{ours.cache.requests} requests, moved {ours.moves} : {drops.moves}, "
        f"{ours.summaries} summaries, {ours.output:,} written for them, "
        f"shortened for now {ours.shortened} : {drops.shortened}"
    )
    yield Ratio(f"{name}: price", ours.cache.price / drops.cache.price, most, detail=detail)
    uncached = ours.cache.uncached / ours.cache.requests
    uncached /= drops.cache.uncached / drops.cache.requests
    yield Ratio(f"{name}: uncached a request", uncached, 1.05 if most else None)
    if drops.verbatim:
        yield Ratio(f"{name}: verbatim", ours.verbatim / drops.verbatim, at_least=least)
        if tools:
            words = ours.words / drops.words
            yield Ratio(f"{name}: words and answers", words, at_least=1.0 if least else None)


def played(
    turns: Sequence[Turn],
    system: str,
    threshold: int,
    upkeep: Upkeep | None,
    tools: tuple[ToolDefinition, ...] = (),
) -> Bill:
    """Return what a chat costs that is kept in this way; without upkeep turns are dropped."""
    counter = QuickCounter()

    def summarise(task: SummaryTask) -> str:
        bill.take_summary(task)
        return WORD * task.most_tokens

    player = Player(
        lambda prepared, question: bill.take(prepared, question),  # noqa: PLW0108 - made below
        threshold,
        system,
        upkeep=upkeep,
        summarise=summarise,
        counter=counter,
        tools=tools,
    )
    bill = Bill(counter, player.said)
    for turn in turns:
        player.play(turn)
    return bill
