"""Long chats made of real text, played through the product's own `prepare()`."""

import json
import lzma
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count, cycle, islice
from typing import Any, ClassVar

from context.assemble.inputs import HistoryPolicy, Ports, SummaryTask
from context.assemble.request import Request
from context.budget import compute_budget
from context.compaction import CircuitBreaker
from context.envelope import SystemPart
from context.exam import FactReader
from context.layers import Layer, Segment
from context.log.entries import Entry, EphemeralEntry, MessageEntry, SegmentsEntry
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from context.pipeline import prepare
from context.tokens import TokenCounter
from tests.benchmarks.measure import DATA, DataAbsent

TIME = "2026-01-01T00:00:00Z"
MODEL = "anthropic/claude-sonnet-4-5"
LOOK_UP = ToolDefinition("look_up", "Looks something up", {"type": "object"})
PASSAGES = 8
# What the report says of the previous request is not measured here.
NOTHING_SENT: dict[str, object] = {"messages": []}


@dataclass(frozen=True)
class QuickCounter:
    """Four bytes a token: the figures are ratios of a count with itself."""

    name: ClassVar[str] = "bytes / 4"
    is_exact: ClassVar[bool] = True
    message_overhead: ClassVar[int] = 4
    part_overhead: ClassVar[int] = 0

    def count(self, text: str) -> int:
        """Return a quarter of the bytes."""
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@dataclass(frozen=True)
class Turn:
    """A question, the calls of tools with their results, the answer, what is sent along."""

    question: str
    answer: str
    steps: tuple[tuple[Message, ...], ...] = ()
    passages: tuple[Segment, ...] = ()


@cache
def sentences() -> tuple[str, ...]:
    """Return the sentences of the Markdown corpora."""
    texts = [path.read_text("utf-8") for path in sorted((DATA / "chunking").glob("*.md"))]
    if not texts:
        raise DataAbsent(f"{DATA / 'chunking'} is not there")
    found = re.split(r"(?<=[.!?])\s+", " ".join(texts))
    return tuple(text for text in found if 20 < len(text) < 400)


def chat_turns(turns: int, mean_tokens: int, passage_tokens: int = 0, seed: int = 1) -> list[Turn]:
    """Return turns without tools, of so many tokens on the average."""
    chance = random.Random(seed)
    made = []
    for number in range(turns):
        asked = _text(chance, chance.lognormvariate(0, 0.6) * mean_tokens * 0.2)
        answer = _text(chance, chance.lognormvariate(0, 0.6) * mean_tokens * 0.64)
        made.append(Turn(asked, answer, (), _passages(chance, number, passage_tokens)))
    return made


def agent_turns(turns: int, passage_tokens: int = 0, seed: int = 1) -> tuple[str, list[Turn]]:
    """Return the instructions of the recorded runs, and their turns chained to so many."""
    path = DATA / "conversations" / "airline-agent.json.xz"
    if not path.exists():
        raise DataAbsent(f"{path} is not there")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        runs = json.load(file)
    chance = random.Random(seed)
    recorded = [turn for run in runs for turn in _recorded(run["messages"])]
    chained = islice(cycle(recorded), turns)
    made = [
        replace(turn, passages=_passages(chance, number, passage_tokens))
        for number, turn in enumerate(chained)
    ]
    return str(runs[0]["messages"][0]["content"]), made


def _recorded(messages: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    asked, steps = "", list[list[Message]]()
    for message in messages:
        role, text = message["role"], str(message.get("content") or "")
        if role == "user":
            asked, steps = text, []
        elif role == "tool" and asked:
            result = ToolResultPart(str(message["tool_call_id"]), text)
            steps[-1].append(Message("tool", (result,)))
        elif calls := message.get("tool_calls"):
            steps.append([Message("assistant", tuple(_call(call) for call in calls))])
        elif role == "assistant" and asked:
            yield Turn(asked, text or "…", tuple(tuple(step) for step in steps))
            asked = ""


def _call(call: dict[str, dict[str, str]]) -> ToolCallPart:
    function = call["function"]
    return ToolCallPart(str(call["id"]), function["name"], json.loads(function["arguments"]))


def _text(chance: random.Random, tokens: float) -> str:
    pieces: list[str] = []
    size = 0
    while size < tokens * 4:
        pieces.append(chance.choice(sentences()))
        size += len(pieces[-1])
    return " ".join(pieces)[: max(8, int(tokens * 4))]


def _passages(chance: random.Random, turn: int, tokens: int) -> tuple[Segment, ...]:
    if not tokens:
        return ()
    return tuple(
        Segment.build(
            id=f"p{turn}-{rank}",
            layer=Layer.L3,
            kind="passage",
            source=f"Notes/{chance.randrange(10_000)}.md",
            text=_text(chance, tokens / PASSAGES),
            lines=(1, 9),
            number=rank + 1,
        )
        for rank in range(PASSAGES)
    )


@dataclass
class Player:
    """Plays turns as a runner would, and shows each request to `watch` as it is sent."""

    watch: Callable[[Request, str], None]
    threshold: int
    system: str
    history_policy: HistoryPolicy | None = None
    summarise: Callable[[SummaryTask], str] | None = None
    counter: TokenCounter = field(default_factory=QuickCounter)
    facts: FactReader | None = None
    tools: tuple[ToolDefinition, ...] = ()
    max_output_tokens: int = 4_096
    path: tuple[Entry, ...] = ()
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    said: dict[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self._question = ""
        self._previous: dict[str, object] | None = None

    def play(self, turn: Turn) -> None:
        """Ask one question, run its tools, store its answer."""
        name = f"t{next(self._numbers)}"
        if turn.passages:
            place = self._id(), self._leaf(), TIME
            self.path = (*self.path, SegmentsEntry(*place, name, turn.passages))
        self._question = self._say(Message("user", turn.question), name)
        self._send(name, 1)
        for number, batch in enumerate(turn.steps, start=2):
            for message in _with_own_ids(batch, f"{name}-{number}"):
                self._say(message, name)
            self._send(name, number)
        self._say(Message("assistant", turn.answer), name)

    def _say(self, message: Message, turn: str) -> str:
        entry = MessageEntry(self._id(), self._leaf(), TIME, message, turn, status="complete")
        self.path = (*self.path, entry)
        self.said[entry.id] = entry.message
        return entry.id

    def _id(self) -> str:
        return f"{next(self._numbers):08x}"

    def _leaf(self) -> str | None:
        return self.path[-1].id if self.path else None

    def _send(self, turn: str, number: int) -> None:
        new: list[Entry] = []
        ports = Ports(
            self.counter,
            new.extend,
            self._id,
            lambda: TIME,
            summarise=self.summarise,
            breaker=self.breaker,
            facts=self.facts,
        )
        request = Request(
            ports,
            compute_budget(self.counter, self.threshold, None, self.max_output_tokens),
            session="bench",
            model=MODEL,
            temperature=0.2,
            system=(SystemPart("base", self.system),),
            path=self.path,
            turn=turn,
            number=number,
            tools=self.tools,
            previous=self._previous,
            history_policy=self.history_policy,
        )
        prepared = prepare(request)
        self.path = (*self.path, *(e for e in new if not isinstance(e, EphemeralEntry)))
        self._previous = NOTHING_SENT
        self.watch(prepared, self._question)


def _with_own_ids(batch: Sequence[Message], prefix: str) -> Iterator[Message]:
    """Recorded runs are chained more than once, and each call has to be one of its own."""
    for message in batch:
        assert not isinstance(message.content, str)
        parts = [
            replace(part, id=f"{prefix}-{part.id}")
            if isinstance(part, ToolCallPart)
            else replace(part, tool_call_id=f"{prefix}-{part.tool_call_id}")
            if isinstance(part, ToolResultPart)
            else part
            for part in message.content
        ]
        yield replace(message, content=tuple(parts))
