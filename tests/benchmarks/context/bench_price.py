"""What long chats cost, against dropping whole turns to three quarters of the room.

The product's own `prepare()` makes every request of both ways, on the same chats. A summary is
faked as long as it may be, and its call is charged with everything that is sent for it.

`STRATA_BENCH_ONLY` names the part that is played, as `chat`, `chat 64`, `agent` or `agent 0`.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from context.assemble.inputs import HistoryPolicy, SummaryTask
from context.fit.summary_check import find_facts
from context.messages import ToolDefinition
from resources import read_text
from tests.benchmarks.context.long_chats import (
    LOOK_UP,
    Player,
    QuickCounter,
    Turn,
    agent_turns,
    chat_turns,
)
from tests.benchmarks.context.prompt_price import Bill
from tests.benchmarks.context.simple_ways import WAYS, simply_played
from tests.benchmarks.measure import Ratio

TURNS = int(os.environ.get("STRATA_BENCH_TURNS", "2000"))
ONLY = os.environ.get("STRATA_BENCH_ONLY", "")
PASSAGE_TOKENS = 2_000
MEANS = (64, 230)
CHAT_THRESHOLDS = (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
AGENT_THRESHOLDS = (8_000, 16_000, 32_000, 128_000)
LEAST_BARRED = 8_000
ENDLESS = 100_000_000
WORD = "remembered "


@dataclass(frozen=True)
class _Bars:
    price: float | None = None
    verbatim: float | None = None
    uncached: float | None = None
    words: float | None = None
    append_only: float | None = None
    shortened: float | None = None


NO_BARS = _Bars()
CHAT_BARS = _Bars(1.05, 0.85, 1.05, append_only=1.25, shortened=0)
AGENT_BARS = {
    16_000: _Bars(1.12, 0.75, 1.05, words=1.0),
    32_000: _Bars(1.00, 0.75, 1.05, words=1.0),
    128_000: _Bars(0.95, 0.75, 1.05, words=1.0),
}


def run(_folder: Path) -> list[Ratio]:
    """Play chats and agent runs, each without and with passages."""
    return [*_chats(), *_agents()]


def _chats() -> Iterator[Ratio]:
    system = read_text("prompts/chat.md")
    for mean in MEANS:
        for passages in (0, PASSAGE_TOKENS):
            part = f"chat {mean} a turn, {passages} of passages"
            if not part.startswith(ONLY):
                continue
            turns = chat_turns(TURNS, mean, passages)
            endless = played(turns, system, ENDLESS, None) if passages else None
            for threshold in CHAT_THRESHOLDS:
                name = f"{part}, {threshold:,}"
                ours = played(turns, system, threshold, HistoryPolicy())
                drops = played(turns, system, threshold, None)
                bars = CHAT_BARS if threshold >= LEAST_BARRED else NO_BARS
                yield from _compared(name, ours, drops, bars)
                if endless is not None:
                    share = ours.uncached / endless.uncached
                    yield Ratio(f"{name}: uncached / append-only", share, bars.append_only)
                    yield Ratio(f"{name}: shortened for now", ours.shortened, bars.shortened)
                else:
                    yield from _others(name, turns, system, threshold, drops)


def _agents() -> Iterator[Ratio]:
    for passages in (0, PASSAGE_TOKENS):
        part = f"agent {passages} of passages"
        if not part.startswith(ONLY):
            continue
        system, turns = agent_turns(TURNS, passages)
        for threshold in AGENT_THRESHOLDS:
            name = f"{part}, {threshold:,}"
            ours = played(turns, system, threshold, HistoryPolicy(), (LOOK_UP,))
            drops = played(turns, system, threshold, None, (LOOK_UP,))
            bars = AGENT_BARS.get(threshold, NO_BARS)
            yield from _compared(name, ours, drops, bars)
            words = ours.words / drops.words
            yield Ratio(f"{name}: words and answers", words, at_least=bars.words)


def _compared(name: str, ours: Bill, drops: Bill, bars: "_Bars") -> Iterator[Ratio]:
    detail = (
        f"{ours.cache.requests} requests, moved {ours.moves} : {drops.moves}, "
        f"{ours.summaries} summaries, {ours.output:,} written for them"
    )
    price = ours.cache.price / drops.cache.price
    yield Ratio(f"{name}: price", price, bars.price, detail=detail)
    yield Ratio(f"{name}: uncached", ours.uncached / drops.uncached, bars.uncached)
    if drops.verbatim:
        yield Ratio(f"{name}: verbatim", ours.verbatim / drops.verbatim, at_least=bars.verbatim)


def _others(
    name: str, turns: Sequence[Turn], system: str, threshold: int, drops: Bill
) -> Iterator[Ratio]:
    """What simpler ways cost on the same chat; none of them has a bar."""
    for way, keep in WAYS.items():
        bill = simply_played(turns, system, threshold, keep)
        yield Ratio(f"{name}: price of {way}", bill.cache.price / drops.cache.price)


def played(
    turns: Sequence[Turn],
    system: str,
    threshold: int,
    history_policy: HistoryPolicy | None,
    tools: tuple[ToolDefinition, ...] = (),
) -> Bill:
    """Return what a chat costs that is kept in this way; without upkeep turns are dropped."""
    counter = QuickCounter()

    def summarise(task: SummaryTask) -> str:
        bill.take_summary(task)
        said = " ".join(message.text for turn in task.full_turns for message in turn.messages)
        # A summary that names nothing of what it replaces would be refused.
        return f"{min(find_facts(said), default='')} {WORD * task.most_tokens}"

    player = Player(
        lambda prepared, question: bill.take(prepared, question),  # noqa: PLW0108 - made below
        threshold,
        system,
        history_policy=history_policy,
        summarise=summarise,
        counter=counter,
        tools=tools,
    )
    bill = Bill(counter, player.said)
    for turn in turns:
        player.play(turn)
    return bill
