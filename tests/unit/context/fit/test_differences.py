"""Random pairs of requests: what differs is named, and what is named differs."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from context.compaction import HEAD
from context.draft import RequestDraft, Tail, make_message_body, make_preamble
from context.envelope import System, SystemPart
from context.fit.cache import PreviousQuestion, compare_requests
from context.fit.cache_changes import (
    HISTORY_CHANGED,
    INSTRUCTIONS_CHANGED,
    TOOLS_CHANGED,
    TRIMMED,
    Cause,
    Changes,
)
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn, list_turns
from context.log.entries import MessageEntry
from context.messages import Message, ToolDefinition
from context.prompt import PromptSection
from context.tokens import ByteEstimator

COUNTER = ByteEstimator()
TURN = list_turns([MessageEntry("m1", None, "", Message("user", "x"), "t1")])[0]
CUT = "[trimmed]"
HOOK = "a hook did it"
NAMES = "abcdefgh"


@dataclass(frozen=True)
class Request:
    """The content of a request, in a form that is easy to change.

    Attributes:
        turns: the turns of the history. Each has its question, its results and its answer.
    """

    tools: dict[str, str]
    sections: dict[str, str]
    turns: tuple[tuple[str, ...], ...]
    summary: str = ""

    def draft(self, question: str) -> RequestDraft:
        parts = (PromptSection(*one, cacheable=True).render() for one in self.sections.items())
        system = (
            SystemPart(name, f"\n\n{text}") for name, text in zip(self.sections, parts, strict=True)
        )
        tools = tuple(ToolDefinition(name, about, {}) for name, about in self.tools.items())
        preamble = make_preamble(System(tuple(system)), tools, COUNTER)
        turns = ([Message("user", f"{HEAD}\n{self.summary}")] if self.summary else [],)
        messages = [*filter(None, turns), *(list(_list_messages(turn)) for turn in self.turns)]
        history = TurnList.of([MeasuredTurn.measure(TURN, turn, COUNTER) for turn in messages])
        return RequestDraft(preamble, history, Tail((), Message("user", question), COUNTER))


def _list_messages(turn: Sequence[str]) -> Sequence[Message]:
    question, *results, answer = turn
    found = [Message("user", question)]
    for at, result in enumerate(results):
        name = f"{question} {at}"
        call = {"type": "tool_call", "id": name, "name": "read", "arguments": {}}
        part = {"type": "tool_result", "tool_call_id": name, "content": result}
        found.append(Message.from_dict({"role": "assistant", "content": [call]}))
        found.append(Message.from_dict({"role": "tool", "content": [part]}))
    return [*found, Message("assistant", answer)]


class Maker:
    """Makes a random request, and another one that differs from it in random ways."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.count = 0

    def text(self) -> str:
        self.count += 1
        return " ".join(f"word{self.count}" for _ in range(self.chance.randint(4, 12)))

    def request(self) -> Request:
        pick = self.chance.sample
        tools = {name: self.text() for name in pick(NAMES, self.chance.randint(0, 4))}
        sections = {name: self.text() for name in pick(NAMES, self.chance.randint(1, 4))}
        turns = tuple(self.turn() for _ in range(self.chance.randint(1, 6)))
        summary = self.text() if self.chance.random() < 0.3 else ""
        return Request(tools, sections, turns, summary)

    def turn(self) -> tuple[str, ...]:
        return tuple(self.text() for _ in range(self.chance.randint(2, 4)))

    def change(self, request: Request) -> Request:
        for _ in range(self.chance.randint(0, 3)):
            change = self.chance.choice(
                (self.change_names, self.drop, self.come_back, self.trim, self.edit, self.summarise)
            )
            request = change(request)
        return request

    def change_names(self, request: Request) -> Request:
        """Add, remove, change or move a tool or a section."""
        which = self.chance.choice(("tools", "sections"))
        named, name = list(getattr(request, which).items()), self.chance.choice(NAMES)
        others = [pair for pair in named if pair[0] != name]
        if self.chance.random() < 0.7:
            others.insert(self.chance.randint(0, len(others)), (name, self.text()))
        return replace(request, **{which: dict(others)})

    def drop(self, request: Request) -> Request:
        return replace(request, turns=request.turns[self.chance.randint(0, 2) :])

    def come_back(self, request: Request) -> Request:
        return replace(request, turns=(self.turn(), *request.turns))

    def trim(self, request: Request) -> Request:
        turns = [(turn[0], *(CUT for _ in turn[1:-1]), turn[-1]) for turn in request.turns[:2]]
        return replace(request, turns=(*turns, *request.turns[2:]))

    def edit(self, request: Request) -> Request:
        """Change one text of one turn, by a hook or by hand."""
        turns = [list(turn) for turn in request.turns]
        if turns:
            turn = self.chance.choice(turns)
            turn[self.chance.randrange(len(turn))] = self.text()
        return replace(request, turns=tuple(map(tuple, turns)))

    def summarise(self, request: Request) -> Request:
        return replace(request, summary=self.chance.choice(("", self.text())))


def _make_body(draft: RequestDraft) -> dict[str, Any]:
    return {
        "tools": [tool.to_dict() for tool in draft.preamble.tools],
        "system": draft.preamble.system.compiled,
        "messages": [make_message_body(message) for message in draft.messages],
    }


def check_pair(seed: int) -> None:
    maker = Maker(seed)
    before = maker.request()
    question = maker.text()
    asked = (question, maker.text())
    now = maker.change(before)
    now = replace(now, turns=(*now.turns, asked))
    old, new = before.draft(question), now.draft(maker.text())
    prefix = compare_requests(new, _make_body(old), PreviousQuestion(question)).prefix
    named = {(one["part"], one["name"]) for one in prefix.differences}
    _check_names(named, "tools", before.tools, now.tools)
    _check_names(named, "system", before.sections, now.sections)
    _check_messages(prefix.differences, before, now, asked)
    reasons = set(prefix.reasons)
    assert prefix.changed == bool(reasons) == bool(prefix.differences)
    assert (TOOLS_CHANGED in reasons) == any(part == "tools" for part, _ in named)
    assert (INSTRUCTIONS_CHANGED in reasons) == any(part == "system" for part, _ in named)
    rest = reasons - {TOOLS_CHANGED, INSTRUCTIONS_CHANGED}
    assert bool(rest) == any(part == "messages" for part, _ in named)


def _check_names(
    named: set[tuple[object, object]], part: str, before: dict[str, str], now: dict[str, str]
) -> None:
    """Check that exactly those names are listed whose text or whose place differs."""
    found = {name for where, name in named if where == part}
    other = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    assert other <= found
    kept = [[name for name in one if name in before and name in now] for one in (before, now)]
    moved = {name for pair in zip(*kept, strict=True) if pair[0] != pair[1] for name in pair}
    assert found <= other | moved
    assert bool(moved - other) <= bool(found - other)


def _check_messages(
    differences: Sequence[Any], before: Request, now: Request, asked: tuple[str, ...]
) -> None:
    found = [one for one in differences if one["part"] == "messages"]
    changes = {one["change"] for one in found if one["name"] != "summary"}
    old, new = dict(_key(before.turns)), dict(_key(now.turns))
    gone = {key for key in old if key not in new}
    back = {key for key in new if key not in old and new[key] != asked}
    both = [(old[key], new[key]) for key in old if key in new]
    trimmed = any(b != n and n == CUT for pair in both for b, n in zip(*pair, strict=True))
    edited = any(n not in (b, CUT) for pair in both for b, n in zip(*pair, strict=True))
    assert ("summary" in {one["name"] for one in found}) == (before.summary != now.summary)
    assert ("trimmed" in changes) >= trimmed
    assert bool(changes) == bool(gone or back or trimmed or edited), changes
    assert bool(gone) <= bool(changes & {"dropped", "changed"})


def _key(turns: Sequence[tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    return [(turn[0], turn) for turn in turns]


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_what_differs_is_named_and_what_is_named_differs(first: int) -> None:
    for seed in range(first, first + 100):
        check_pair(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(400, 10_400, 1_000))
def test_it_holds_for_ten_thousand_pairs(first: int) -> None:
    for seed in range(first, first + 1_000):
        check_pair(seed)


def _compare(before: Request, now: Request, *causes: Cause) -> tuple[str, ...]:
    asked = ("And?", "So.")
    now = replace(now, turns=(*now.turns, asked))
    changes = Changes(causes)
    found = compare_requests(
        now.draft("Then?"), _make_body(before.draft("And?")), PreviousQuestion("And?"), changes
    )
    return found.prefix.reasons


BASE = Request(
    {"read": "Reads", "search": "Searches"},
    {"role": "You answer.", "memory": "Nothing yet."},
    (("One?", "a long result", "1"), ("Two?", "another result", "2"), ("Three?", "3")),
)


def test_a_drop_beside_a_trim_is_named_as_both() -> None:
    turns = (("Two?", CUT, "2"), BASE.turns[2])
    assert _compare(BASE, replace(BASE, turns=turns)) == ("a turn was dropped", TRIMMED)


def test_changed_instructions_beside_a_hook_are_named_as_both() -> None:
    hook = Cause("system", HOOK, texts=("\n\n<policy>\nNo secrets.\n</policy>",))
    sections = {**BASE.sections, "policy": "No secrets."}
    assert _compare(BASE, replace(BASE, sections=sections), hook) == (HOOK,)
    sections["memory"] = "The user is called Ida."
    reasons = _compare(BASE, replace(BASE, sections=sections), hook)
    assert reasons == (INSTRUCTIONS_CHANGED, HOOK)


def test_changed_tools_beside_a_hook_are_named_as_both() -> None:
    hook = Cause("tools", HOOK, names=frozenset({"search"}))
    assert _compare(BASE, replace(BASE, tools={"read": "Reads"}), hook) == (HOOK,)
    reasons = _compare(BASE, replace(BASE, tools={"read": "Reads all"}), hook)
    assert reasons == (TOOLS_CHANGED, HOOK)


def test_a_hook_without_an_effect_is_not_named() -> None:
    hooks = [Cause(part, HOOK, is_everything=True) for part in ("tools", "system", "messages")]
    assert _compare(BASE, BASE, *hooks) == ()
    assert _compare(BASE, replace(BASE, tools={}), *hooks[1:]) == (TOOLS_CHANGED,)


def test_an_edit_beside_a_hidden_message_is_named_as_both() -> None:
    hidden = {"role": "user", "content": "One?"}
    hook = Cause("messages", HOOK, messages=(hidden,))
    turns = (BASE.turns[0], ("Two?", "another result", "2, or 3"), BASE.turns[2])
    assert _compare(BASE, replace(BASE, turns=turns), hook) == (HISTORY_CHANGED,)
