"""A model server that answers by chance, and in the half of all turns as a row of the table says.

The table of behaviours has what servers do wrong. All other requests meet a strict server, which
refuses what any of them refuses.
"""

import errno
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NoReturn
from unittest import mock

from chains.llm.port import require_sealed
from context.assemble.request import Request
from tests.support.behaviours import ROWS, Behaviour
from tests.support.models.model_server import Answer, Body, Script
from tests.support.models.strict_server import strict
from tests.support.simulator.wire import ServerTime, Wire

__all__ = ["ANSWERS", "SECRET", "Provider"]

ANSWERS: Final = ("text", "long", "calls")

SECRET: Final = "heliotrope-4417"  # in the private note only
_KEY: Final = "sk-simulated-0000"
_WORDS: Final = (
    "The soil holds 6.4 pH; water at 07:30. Über Nacht bleibt es kalt. 明日は雨です。 "
    "See [[Beds]] and `pump.sh`. "
)


class Provider:
    """The server of the language model.

    Attributes:
        chance: decides what happens next.
        failures: what was wrong with a request.
        answered: how often each kind of answer was given.
        bodies: what was sent.
        row: the behaviour that the present turn meets, or None for a strict server.
        left_out: how often a request had no room for its summary.
    """

    def __init__(self, pass_time: Callable[[float], None]) -> None:
        """Begin.

        Args:
            pass_time: told of the time that a server has kept its client waiting.
        """
        self.chance = random.Random(0)
        self.failures: list[str] = []
        self.answered: Counter[str] = Counter()
        self.bodies: set[str] = set()
        self.row: Behaviour | None = None
        self.left_out = 0
        self._replies: list[Script] = []
        self._may_call = True
        self.time = ServerTime(pass_time)

    @contextmanager
    def install(self) -> Iterator[None]:
        """Let all calls of models reach this server within a `with` block."""
        with ExitStack() as stack:
            stack.enter_context(Wire(self._choose_reply, self.time).install())
            stack.enter_context(mock.patch("chains.model.require_sealed", self._check))
            for name in ("socket.socket.connect", "socket.getaddrinfo"):
                stack.enter_context(mock.patch(name, self._refuse_host))
            stack.enter_context(mock.patch.dict("app.config.secrets._held", {"openai": _KEY}))
            yield

    def _refuse_host(self, *called: object, **_options: object) -> NoReturn:
        """Note a call of a host. Those of models go over the wire."""
        self.failures.append(f"a host was called: {called}")
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    def choose_row(self) -> Behaviour | None:
        """Let the requests from now on meet a row of the table, or in half of the cases none."""
        self.meet(self.chance.choice(ROWS) if self.chance.random() < 0.5 else None)
        return self.row

    def meet(self, row: Behaviour | None) -> None:
        """Let the requests from now on meet a row of the table, or a strict server."""
        self.row, self._replies = row, [*row.replies] if row is not None else []

    def _check(self, request: Request) -> None:
        """Look at a request before it is written for the wire."""
        require_sealed(request)
        self._may_call = not request.ends_loop
        used, budget = request.report.used, request.budget_tokens
        if used > budget:
            self.failures.append(f"{used} tokens > {budget}")
        for one in request.left_out:
            if one.reason == "summary":
                self.left_out += 1
                if used + one.tokens <= budget:
                    self.failures.append(f"a summary is left out, though {budget - used} are free")

    def _choose_reply(self, body: Body, text: str) -> Script:
        self.bodies.add(text)
        for secret in (SECRET, _KEY):
            if secret in text:
                self.failures.append(f"{secret} is in a request")
        if self._replies:
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        tools = {tool["function"]["name"] for tool in body.get("tools", ())}
        kind = self.chance.choice(["text", "text", "text", "long"])
        if tools and self._may_call and self.chance.random() < 0.5:
            kind = "calls"
        self.answered[kind] += 1
        answer: Answer = getattr(self, f"_answer_{kind}")(tools)
        return strict(answer)

    def _answer_text(self, _tools: set[str]) -> Answer:
        pieces = self.chance.randint(1, 4)
        return Answer("".join(_WORDS[: self.chance.randint(1, len(_WORDS))] for _ in range(pieces)))

    def _answer_long(self, _tools: set[str]) -> Answer:
        return Answer(_WORDS * self.chance.randint(8, 24), finish="length")

    def _answer_calls(self, tools: set[str]) -> Answer:
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
        chosen = self.chance.sample(offered, min(2, len(offered)))
        return Answer(
            "",
            calls=tuple(
                (f"call{number}{index}", name, json.dumps(possible[name]))
                for index, name in enumerate(chosen)
            ),
        )
