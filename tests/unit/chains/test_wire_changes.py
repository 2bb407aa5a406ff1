"""Random pairs of sent bodies: what differs is named, and what is named differs."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import pytest

from chains.request.wire_changes import SentBody
from context.draft import RequestDraft, Tail, make_preamble
from context.envelope import System
from context.history.turn_list import TurnList
from context.messages import Message
from context.tokens import ByteEstimator

Dialect = Literal["openai", "anthropic", "gemini"]
DIALECTS: Final[tuple[Dialect, ...]] = ("openai", "anthropic", "gemini")
COUNTER = ByteEstimator()
NAMES = "abcdefg"
OPTIONS = ("max_tokens", "max_completion_tokens", "temperature", "thinking", "stop")


@dataclass(frozen=True)
class Sample:
    """The content of a body. Its last message is the user's, unless it is a note."""

    tools: Mapping[str, str]
    system: str
    messages: tuple[str, ...]
    options: Mapping[str, int]
    question: str = ""
    note: str = ""

    def write(self, dialect: Dialect, chance: random.Random) -> dict[str, Any]:
        """Return the body as a provider takes it, with cache marks at random places."""
        told = [*self.messages, self.question, *filter(None, [self.note])]
        texts = [_mark(text, chance) if dialect == "anthropic" else text for text in told]
        roles = ["user" if at % 2 == 0 else "assistant" for at in range(len(texts))]
        roles[len(self.messages) :] = ["user"] * (len(texts) - len(self.messages))
        messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
        if dialect == "gemini":
            contents = [{"role": m["role"], "parts": [{"text": m["content"]}]} for m in messages]
            tools = [{"name": name, "description": text} for name, text in self.tools.items()]
            declared = {"tools": [{"functionDeclarations": tools}]} if tools else {}
            system = {"systemInstruction": {"parts": [{"text": self.system}]}}
            return {"contents": contents, **system, **declared, **self.options}
        if dialect == "anthropic":
            tools = [{"name": name, "description": text} for name, text in self.tools.items()]
            system = {"system": _mark(self.system, chance)}
            return {**system, "messages": messages, "tools": tools, **self.options}
        functions = [
            {"type": "function", "function": {"name": name, "description": text}}
            for name, text in self.tools.items()
        ]
        first = {"role": "system", "content": self.system}
        return {"messages": [first, *messages], "tools": functions, **self.options}

    def draft(self) -> RequestDraft:
        note = Message("user", self.note) if self.note else None
        tail = Tail((), Message("user", self.question), COUNTER)
        draft = RequestDraft(make_preamble(System(()), (), COUNTER), TurnList.of([]), tail)
        return replace(draft, uncached=note)


def _mark(text: str, chance: random.Random) -> object:
    if chance.random() < 0.5:
        return text
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


class Maker:
    """Makes a random body, and a later one that differs from it in random ways."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.count = 0

    def text(self) -> str:
        self.count += 1
        return f"text {self.count}"

    def first(self) -> Sample:
        pick = self.chance.sample
        tools = {name: self.text() for name in pick(NAMES, self.chance.randint(0, 4))}
        options = dict.fromkeys(pick(OPTIONS, self.chance.randint(0, 3)), 1)
        messages = tuple(self.text() for _ in range(2 * self.chance.randint(0, 4)))
        note = self.text() if self.chance.random() < 0.3 else ""
        return Sample(tools, self.text(), messages, options, self.text(), note)

    def change(self, sample: Sample, stable: int) -> tuple[Sample, bool]:
        """Change a body, and return whether one of its first messages was changed."""
        is_reformed = False
        for _ in range(self.chance.randint(0, 3)):
            match self.chance.randrange(4):
                case 0:
                    sample = replace(sample, tools=self._change_names(sample.tools))
                case 1:
                    sample = replace(sample, system=self.text())
                case 2:
                    options = dict(sample.options)
                    name = self.chance.choice(OPTIONS)
                    options[name] = options.get(name, 0) + 1
                    sample = replace(sample, options=options)
                case _ if stable:
                    at = self.chance.randrange(stable)
                    messages = list(sample.messages)
                    messages[at] = self.text()
                    sample, is_reformed = replace(sample, messages=tuple(messages)), True
        return sample, is_reformed

    def _change_names(self, tools: Mapping[str, str]) -> dict[str, str]:
        name = self.chance.choice(NAMES)
        others = [pair for pair in tools.items() if pair[0] != name]
        if self.chance.random() < 0.7:
            others.insert(self.chance.randint(0, len(others)), (name, self.text()))
        return dict(others)


def check_pair(seed: int) -> None:
    maker = Maker(seed)
    dialect = maker.chance.choice(DIALECTS)
    is_same_turn = maker.chance.random() < 0.5
    before = maker.first()
    if is_same_turn:  # the answer and another message follow what was sent
        sent = (*before.messages, before.question)
        later = replace(before, messages=(*sent, maker.text()), question=maker.text(), note="")
    else:
        said = (*before.messages, f"bare {before.question}", maker.text())
        later = replace(before, messages=said, question=maker.text(), note="")
    stable = len(before.messages) + is_same_turn
    now, is_reformed = maker.change(later, stable)
    bodies = [SentBody.read(one.write(dialect, maker.chance), one.draft()) for one in (before, now)]
    found = list(bodies[0].find_changes(bodies[1], is_same_turn=is_same_turn))
    named = {str(one["name"]) for one in found if one["part"] == "tools"}
    assert named - {""} == _list_changed(before.tools, now.tools), seed
    kept = [
        [n for n in one if n in before.tools and n in now.tools]
        for one in (before.tools, now.tools)
    ]
    assert ("" in named) == (kept[0] != kept[1]), seed
    options = {one["name"] for one in found if one["part"] == "options"}
    assert options - {""} == _list_changed(before.options, now.options), seed
    parts = {one["part"] for one in found}
    assert ("system" in parts) == (before.system != now.system), seed
    assert ("messages" in parts) == is_reformed, seed


def _list_changed(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    return {name for name in {*before, *now} if before.get(name) != now.get(name)}


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_what_differs_is_named_and_what_is_named_differs(first: int) -> None:
    for seed in range(first, first + 100):
        check_pair(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(400, 10_400, 1_000))
def test_it_holds_for_ten_thousand_pairs(first: int) -> None:
    for seed in range(first, first + 1_000):
        check_pair(seed)
