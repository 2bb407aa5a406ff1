"""Random requests: none leaves over its budget, and room is not wasted.

Whatever is sent is counted again with every real tokenizer at hand, apart from the app's counting.
"""

import os
import random
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import tiktoken

from chains.tokenizer import ENCODING_FILES, load_counter
from context.assemble.inputs import HistoryPolicy
from context.assemble.request import Request
from context.errors import ContextOverflow
from context.layers import Layer, Segment
from context.messages import Message, ToolCallPart, ToolResultPart
from resources import read_text
from tests.benchmarks.context.long_chats import LOOK_UP, Player, Turn
from tests.benchmarks.measure import Ratio

REQUESTS = int(os.environ.get("STRATA_BENCH_REQUESTS", "10000"))
PROMPTS = ("chat", "vault_qa", "agent")
MESSAGE_TOKENS = 4
SCRIPTS = (
    "Plain words, with a sentence. ",
    "東京都は日本の首都です。大阪も大きい。",
    "مرحبا بالعالم، كيف حالك اليوم؟ ",
    "Привет, как твои дела? ",
    "नमस्ते दुनिया। ",
    "สวัสดีชาวโลก ",
    "🗼🎌👩‍👩‍👧‍👦🏳️‍🌈 ",
    "def f(x):\n    return {k: v for k, v in x.items() if v}\n",
    "QmFzZTY0IHRleHQgd2l0aG91dCBhbnkgc3BhY2VzIGluIGl0Lg==",
    "</source> <b> & ``` {{x}} [[link]] ",
    "     \n\n\t\t  \n",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
)


def run(_folder: Path) -> list[Ratio]:
    """Play random chats until so many requests were sent."""
    chance, seen = random.Random(20260101), _Seen()
    while seen.requests < REQUESTS:
        _play(chance, seen)
    detail = f"{seen.requests:,} requests, {seen.overflows} that nothing could be left out of"
    return [
        Ratio("guard: requests over their budget", seen.over, at_most=0, detail=detail),
        Ratio("guard: fill of the fullest request", seen.fullest, at_least=0.97),
    ]


class _Seen:
    """What was sent so far."""

    def __init__(self) -> None:
        self.requests = self.over = self.overflows = 0
        self.fullest = 0.0

    def take(self, prepared: Request, _question: str) -> None:
        report = prepared.report
        self.requests += 1
        self.fullest = max(self.fullest, report.fraction)
        most = report.request_budget.window - report.request_budget.reserve
        self.over += report.used > report.budget
        own = report.request_budget.counter  # the model's own encoding, where that is known
        names = (own,) if own in ENCODING_FILES else tuple(ENCODING_FILES)
        self.over += any(_real_size(prepared, name) > most for name in names)


def _play(chance: random.Random, seen: _Seen) -> None:
    threshold = int(10 ** chance.uniform(3.6021, 4.3 if chance.random() < 0.93 else 5.301))
    model = chance.choice(("openai/gpt-4o", "ollama/some-model"))
    prompt = chance.choice(PROMPTS)
    player = Player(
        seen.take,
        threshold,
        read_text(f"prompts/{prompt}.md"),
        history_policy=chance.choice((None, HistoryPolicy(), HistoryPolicy(auto_compact=False))),
        summarise=chance.choice((None, lambda task: "word " * task.most_tokens)),
        counter=load_counter(model),
        tools=(LOOK_UP,) if prompt == "agent" else (),
        max_output_tokens=chance.choice((256, 1_000, 4_096)),
    )
    for number in range(chance.randint(1, 14)):
        try:
            player.play(_turn(chance, number, threshold, prompt == "agent"))
        except ContextOverflow:
            seen.overflows += 1
            return


def _turn(chance: random.Random, number: int, threshold: int, has_tools: bool) -> Turn:
    steps = [_step(chance, at, threshold) for at in range(chance.randint(0, 5) if has_tools else 0)]
    return Turn(
        _text(chance, _size(chance, threshold, 0.2)),
        _text(chance, _size(chance, threshold, 0.4)),
        tuple(steps),
        tuple(_segments(chance, number, threshold)),
    )


def _step(chance: random.Random, at: int, threshold: int) -> tuple[Message, ...]:
    calls = [f"{at}-{number}" for number in range(chance.randint(1, 3))]
    asked = tuple(ToolCallPart(id, "look_up", {"q": _text(chance, 40)}) for id in calls)
    found = (
        Message("tool", (ToolResultPart(id, _text(chance, _size(chance, threshold, 0.5))),))
        for id in calls
    )
    return Message("assistant", asked), *found


def _segments(chance: random.Random, turn: int, threshold: int) -> Iterator[Segment]:
    if chance.random() < 0.5:
        return
    for rank in range(chance.randint(1, 8)):
        size = _size(chance, threshold, 0.3)
        if threshold < 12_000 and chance.random() < 0.02:
            size = threshold * 40
        yield Segment.build(
            id=f"s{turn}-{rank}",
            layer=Layer.L3,
            kind=chance.choice(("passage", "passage", "note", "selection", "folder")),
            source=f"Notes/{rank}.md",
            text=_text(chance, size),
            lines=(1, 9),
            number=rank + 1,
        )


def _size(chance: random.Random, threshold: int, share: float) -> int:
    """Characters: mostly few, sometimes as much as fills a part of the window."""
    return int(
        min(chance.expovariate(1 / 400), threshold)
        if chance.random() < 0.8
        else chance.uniform(0, threshold * share * 4)
    )


def _text(chance: random.Random, chars: int) -> str:
    script = chance.choice(SCRIPTS)
    text = script * (chars // len(script) + 1)
    start = chance.randrange(len(script))
    return text[start : start + max(1, chars)]


def _real_size(prepared: Request, name: str) -> int:
    """The tokens of all text that is sent, and of what the chat format puts around it."""
    body = prepared.request_body()
    size = _count(name, str(body["system"])) + MESSAGE_TOKENS
    for tool in body["tools"]:  # type: ignore[attr-defined]
        size += _count(name, str(tool))
    for message in prepared.messages:
        size += MESSAGE_TOKENS + sum(_count(name, text) for text in _texts(message))
    return size


def _texts(message: Message) -> Iterator[str]:
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if isinstance(part, ToolCallPart):
            yield part.name + part.arguments_json
        elif isinstance(part, ToolResultPart):
            yield part.content
        else:
            yield getattr(part, "text", "")


@lru_cache(maxsize=20_000)
def _count(name: str, text: str) -> int:
    return len(_encoding(name).encode_ordinary(text))


@lru_cache
def _encoding(name: str) -> tiktoken.Encoding:
    for model in ("openai/gpt-4o", "openai/gpt-4", "openai/text-davinci-003"):
        load_counter(model)  # loads the encodings that litellm brings along, without a network
    return tiktoken.get_encoding(name)
