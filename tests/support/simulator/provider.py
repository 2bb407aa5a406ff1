"""A model that answers, thinks, calls tools and fails by chance, in the place of a real service."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from chains.cancel import CancelToken
from chains.errors import ModelUnavailable, RateLimited
from chains.llm.port import (
    ModelCalls,
    ModelEnded,
    ModelEvent,
    ModelReasoning,
    ModelSent,
    ModelText,
    RequestedCall,
)
from context.assemble.request import Request
from context.envelope import EncodedJson

__all__ = ["ANSWERS", "SECRET", "Provider"]

ANSWERS: Final = ("text", "long", "thinking", "broken", "refused", "limited", "empty", "calls")

SECRET: Final = "heliotrope-4417"  # in the private note only
_WORDS: Final = (
    "The soil holds 6.4 pH; water at 07:30. Über Nacht bleibt es kalt. 明日は雨です。 "
    "See [[Beds]] and `pump.sh`. "
)


class Provider:
    """Takes the place of `LiteLLMModel`. Each port of a turn asks this one object.

    Attributes:
        chance: decides what happens next.
        failures: what was wrong with a request.
        answered: how often each kind of answer was given.
        bodies: what was sent.
    """

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.failures: list[str] = []
        self.answered: Counter[str] = Counter()
        self.bodies: set[str] = set()

    def open(self, *_arguments: Any, **_options: Any) -> "Provider":
        """Return the port of a turn, given the arguments of `LiteLLMModel`."""
        return self

    def stream(self, request: Request, _cancel: CancelToken) -> Iterator[ModelEvent]:
        """Answer a request by chance, after a look at it."""
        self._check(request)
        body = EncodedJson(json.dumps(request.request_body(), ensure_ascii=False))
        self.bodies.add(body.text)
        yield ModelSent(body)
        kind = self.chance.choice(
            ["text", *ANSWERS[:-1]] if self.chance.random() < 0.5 else ["text"]
        )
        tools = {tool.name for tool in request.envelope.tools}
        if tools and not request.ends_loop and self.chance.random() < 0.5:
            kind = "calls"
        self.answered[kind] += 1
        yield from getattr(self, f"_answer_{kind}")(tools)

    def _check(self, request: Request) -> None:
        if not request.is_sealed:
            self.failures.append("a request was sent that is not sealed")
        body = json.dumps(request.request_body(), ensure_ascii=False)
        if SECRET in body:
            self.failures.append("a private note is in a request")
        if request.report.used > request.budget_tokens:
            self.failures.append(f"{request.report.used} tokens > {request.budget_tokens}")

    def _answer_text(self, _tools: set[str]) -> Iterator[ModelEvent]:
        for _ in range(self.chance.randint(1, 4)):
            yield ModelText(_WORDS[: self.chance.randint(1, len(_WORDS))])
        yield ModelEnded("complete", "stop")

    def _answer_long(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield ModelText(_WORDS * self.chance.randint(20, 60))
        yield ModelEnded("complete", "length")

    def _answer_thinking(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield ModelReasoning("The user asks for water.")
        yield ModelText("At 07:30.")
        yield ModelEnded("complete", "stop")

    def _answer_broken(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield ModelText(_WORDS)
        yield ModelEnded("interrupted", reason="The connection was lost.")

    def _answer_refused(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield from ()
        raise ModelUnavailable("simulated", reason="it is overloaded")

    def _answer_limited(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield from ()
        raise RateLimited("simulated", retry_after_s=None)

    def _answer_empty(self, _tools: set[str]) -> Iterator[ModelEvent]:
        yield ModelText(" ")
        yield ModelEnded("complete", "stop")

    def _answer_calls(self, tools: set[str]) -> Iterator[ModelEvent]:
        number = self.chance.randrange(10**6)
        possible = {
            "append_to_note": {"path": "Beds.md", "text": f"Line {number}."},
            "create_note": {"path": f"new/{number}.md", "text": f"Made {number}."},
            "edit_note": {"path": "Beds.md", "old": "Beans", "new": "Peas"},
            "read_note": {"path": self.chance.choice(["Beds.md", "Private.md", "None.md"])},
            "move_note": {"path": "Pump.md", "to": f"moved/{number}.md"},
            "remember": {"text": f"Remember {number}."},
            "list_notes": {},
            "unheard_of": {"x": [1, {"y": None}]},
        }
        offered = [name for name in possible if name in tools or name == "unheard_of"]
        calls = tuple(
            RequestedCall(f"call{number}{index}", name, json.dumps(possible[name]))
            for index, name in enumerate(self.chance.sample(offered, min(2, len(offered))))
        )
        yield ModelCalls(calls)
        yield ModelEnded("complete", "tool_calls")
