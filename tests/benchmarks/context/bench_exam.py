"""What requests still say of 100 planted facts after five compactions, without and with the exam.

Forty chats over the notes of two vaults, half of them with the tools of an agent, are played
through the product's own `prepare()`: once with outlines and once with a scripted summary, which
drops sentences and changes figures. "Before" is the same chat without the exam.

`STRATA_BENCH_CHATS` is the number of chats.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import process_time
from typing import Final, ParamSpec, TypeVar

from chains.claims.summaries import FACT_READER
from chains.tools.context_tools import READ_RESULT
from context.assemble.inputs import HistoryPolicy
from context.assemble.request import Request
from context.compaction import HEAD
from context.exam import FactReader, normalize
from context.log.entries import TransformEntry
from resources import read_text
from tests.benchmarks.context.long_chats import LOOK_UP, Player
from tests.benchmarks.context.planted_chats import (
    SEED,
    PlantedFact,
    ScriptedSummary,
    list_turns,
    plant_facts,
    read_sentences,
)
from tests.benchmarks.measure import Ratio, unpack_vault

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
CHATS: Final = int(os.environ.get("STRATA_BENCH_CHATS", "40"))
THRESHOLDS: Final = (4_000, 8_000, 16_000)
COMPACTIONS: Final = 5
_VAULTS: Final = ("tasks-demo", "eips")
_LEFT_SHARE: Final = 1.5  # of the room leaves in five compactions
_ROOM_SHARE: Final = 0.62  # of the threshold is left for the history
_FIGURE: Final = re.compile(r"\d{3}\.\d\d(?= kWh)")
_TOOLS: Final = (LOOK_UP, READ_RESULT)


@dataclass
class _Played:
    """What was counted in chats of one kind."""

    facts: int = 0
    in_request: int = 0
    within_reach: int = 0
    changed: int = 0
    calls: int = 0
    chats: int = 0
    turns: int = 0
    seconds: float = 0
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        return (self.in_request + self.within_reach) / self.facts


def run(folder: Path) -> list[Ratio]:
    """Play all chats, and compare them with the same chats without the exam."""
    vaults = [read_sentences(unpack_vault(name, folder / name)) for name in _VAULTS]
    found: list[Ratio] = []
    for threshold in THRESHOLDS:
        for is_agent in (False, True):
            for is_scripted in (False, True):
                kind = (threshold, is_agent, is_scripted)
                before, after = (
                    _play_all(vaults, *kind, facts=facts) for facts in (None, FACT_READER)
                )
                found += _compare(kind, before, after)
    return found


def _compare(kind: tuple[int, bool, bool], before: _Played, after: _Played) -> Iterator[Ratio]:
    threshold, is_agent, is_scripted = kind
    who = "agent" if is_agent else "chat"
    name = f"exam, {who}, {'scripted' if is_scripted else 'outline'}, {threshold:,}"
    detail = (
        f"in the request {after.in_request} : {before.in_request}, within reach "
        f"{after.within_reach} : {before.within_reach}, changed {after.changed} : {before.changed} "
        f"of {after.facts}; {after.calls} : {before.calls} summaries written"
    )
    if is_agent:
        least = 0.95 if threshold == 8_000 else None
        yield Ratio(f"{name}: remembered", after.share, at_least=least, detail=detail)
    else:
        gain = after.in_request / max(1, before.in_request)
        yield Ratio(f"{name}: remembered, to before", gain, at_least=1.25, detail=detail)
    yield Ratio(f"{name}: changed", after.changed, at_most=0)
    yield Ratio(f"{name}: ms a turn of the exam", after.seconds / after.turns * 1000, at_most=20)


def _play_all(
    vaults: Sequence[tuple[str, ...]],
    threshold: int,
    is_agent: bool,
    is_scripted: bool,
    *,
    facts: FactReader | None,
) -> _Played:
    played = _Played()
    for number in range(CHATS // 2):
        sentences = vaults[number % len(vaults)]
        _play(played, sentences, number, threshold, is_agent, is_scripted, facts)
    return played


def _play(
    played: _Played,
    sentences: Sequence[str],
    number: int,
    threshold: int,
    is_agent: bool,
    is_scripted: bool,
    reader: FactReader | None,
) -> None:
    rng = Random(f"{SEED}-{number}-{threshold}")
    facts = plant_facts(rng)
    spent = [0.0]
    last: list[Request] = []
    summary = ScriptedSummary(number)
    player = Player(
        lambda prepared, _question: last.append(prepared),
        threshold,
        read_text("prompts/agent.md" if is_agent else "prompts/chat.md"),
        history_policy=HistoryPolicy(can_summarise=is_scripted),
        summarise=summary if is_scripted else None,
        facts=None if reader is None else _time(reader, spent),
        tools=_TOOLS if is_agent else (),
    )
    fact_tokens = int(threshold * _ROOM_SHARE * _LEFT_SHARE / len(facts) * 3 / 2)
    for turn in list_turns(sentences, facts, rng, fact_tokens=fact_tokens, is_agent=is_agent):
        player.play(turn)
        played.turns += 1
        if len(_list_compactions(player)) == COMPACTIONS:
            break
    _count(played, facts, last[-1], player)
    played.calls += summary.calls
    played.seconds += spent[0]
    played.chats += 1


def _time(reader: FactReader, spent: list[float]) -> FactReader:
    def add_time(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
            start = process_time()
            try:
                return function(*arguments, **named)
            finally:
                spent[0] += process_time() - start

        return call

    return FactReader(add_time(reader.list_facts), reader.list_words, add_time(reader.find_changed))


def _list_compactions(player: Player) -> list[TransformEntry]:
    return [
        entry
        for entry in player.path
        if isinstance(entry, TransformEntry)
        and any(op["op"] == "compaction_apply" for op in entry.patch)
    ]


def _count(played: _Played, facts: Sequence[PlantedFact], request: Request, player: Player) -> None:
    said = normalize("\n".join(message.text for message in player.said.values()))
    results = normalize(str([m.to_dict() for m in player.said.values()]))
    sent = normalize(str(request.request_body()["messages"]))
    can_read = is_chat_readable(request)
    for fact in facts:
        needle = normalize(fact.needle)
        if needle not in said and needle not in results:
            continue
        played.facts += 1
        is_there = needle in sent
        played.in_request += is_there
        played.within_reach += not is_there and can_read
        played.kinds[fact.kind] += is_there
    known = {fact.needle.removesuffix(" kWh") for fact in facts}
    played.changed += len(set(_FIGURE.findall(sent)) - known)


def is_chat_readable(request: Request) -> bool:
    """Return whether the request says how to read all earlier messages, and has the tool."""
    tools = {tool.name for tool in request.draft.preamble.tools}
    return READ_RESULT.name in tools and any(
        message.text.startswith(HEAD) and "All earlier messages in full" in message.text
        for message in request.messages
    )
