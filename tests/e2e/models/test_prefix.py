"""What a provider has at hand of a request: told by the bytes that a server received.

From turn to turn, tools, instructions and history only grow at their end; within a turn, each
request begins with the one before it. Where that does not hold, the report says why.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc

TurnRunner = Callable[[Program], Program]
ANSWER = "The beans want warm soil, and the barrel holds two hundred litres of rain. " * 12


@dataclass(frozen=True)
class Sent:
    """A request as its bytes came in.

    Attributes:
        tools: their definitions.
        messages: each message, from the first one on.
    """

    tools: str
    messages: tuple[str, ...]

    @classmethod
    def read(cls, raw: bytes) -> "Sent":
        text = raw.decode()
        decoder = json.JSONDecoder()
        at = text.index('"messages":[') + len('"messages":[')
        messages = []
        while text[at] != "]":
            _, end = decoder.raw_decode(text, at)
            messages.append(text[at:end])
            at = end + (text[end] == ",")
        tools = ""
        if '"tools":[' in text:
            start = text.index('"tools":[') + len('"tools":')
            tools = text[start : decoder.raw_decode(text, start)[1]]
        return cls(tools, tuple(messages))

    @property
    def question(self) -> str:
        """What the user typed, which is the last part of the last message of a turn's request."""
        content = json.loads(self.messages[-1])["content"]
        return str(content if isinstance(content, str) else content[-1]["text"])

    def begins(self, later: "Sent", upto: int) -> bool:
        """Return whether a later request begins with tools and so many messages of this one."""
        return later.tools == self.tools and later.messages[:upto] == self.messages[:upto]


@pytest.fixture
def rpc(with_notes: Program, asking: TurnRunner) -> Callable[[], Rpc]:
    """Start the program, again and again on the same home."""
    program = asking(with_notes)
    return lambda: Rpc(program)


def requests(server: ModelServer) -> list[Sent]:
    return [Sent.read(received.raw) for received in server.received if received.body]


def request_of(server: ModelServer, question: str) -> Sent:
    """Return the last request that asked a question."""
    return next(sent for sent in reversed(requests(server)) if sent.question == question)


class Conversation:
    """A chat whose requests are compared, each with the one before it on its path.

    Attributes:
        exceptions: why a request did not begin as the one before it, by its question.
        answers: the entry of each answer, by its question.
    """

    def __init__(self, start: Callable[[], Rpc], server: ModelServer) -> None:
        self._start = start
        self._server = server
        self.rpc = start()
        self.session = self.rpc.do("new_session")["session"]
        self.exceptions: dict[str, list[str]] = {}
        self.answers: dict[str, str] = {}

    def restart(self) -> None:
        """End the program and start it again."""
        self.rpc.close()
        self.rpc = self._start()

    def ask(self, question: str, before: str | None, **fields: Any) -> None:
        """Ask a question whose path has another one right before it."""
        fields = {"type": "prompt", "text": question, "mode": "chat", **fields}
        result = self.rpc.turn(session=self.session, **fields)
        self.answers[question] = result["entry"]
        self._compare(question, before, result["context"]["prefix"])

    def edit(self, earlier: str, question: str, before: str) -> None:
        """Ask a question in other words, and go back to where the chat was."""
        entries = self.rpc.do("get_entries", session=self.session)["entries"]
        asked = next(entry["id"] for entry in entries if entry.get("content") == earlier)
        leaf = self.rpc.do("get_state", session=self.session)["leaf"]
        result = self.rpc.turn("edit", session=self.session, entry=asked, text=question)
        self._compare(question, before, result["context"]["prefix"])
        self.rpc.do("select_leaf", session=self.session, entry=leaf)

    def _compare(self, question: str, before: str | None, prefix: dict[str, Any]) -> None:
        assert bool(prefix["reasons"]) is prefix["changed"], prefix
        if before is not None:
            earlier, later = (request_of(self._server, asked) for asked in (before, question))
            is_grown = earlier.begins(later, len(earlier.messages) - 1)
            assert prefix["changed"] is not is_grown, (question, prefix)
        if prefix["changed"]:
            self.exceptions[question] = prefix["reasons"]


def test_thirty_turns_grow_at_their_end_and_every_exception_has_a_reason(
    rpc: Callable[[], Rpc], server: ModelServer, tmp_path: Path
) -> None:
    note = tmp_path / "Seeds.md"
    note.write_text("# Seeds\n\nBeans in the blue tin.\n", "utf-8")
    server.script(Answer(ANSWER, chunk_chars=400))
    chat = Conversation(rpc, server)

    def change_the_note() -> None:
        note.write_text("# Seeds\n\nBeans in the red tin.\n", "utf-8")

    def smaller() -> None:
        chat.rpc.do("set_setting", key="autoCompactThreshold", value=4_000)

    happens: dict[int, Callable[[], object]] = {
        12: change_the_note,
        16: chat.restart,
        20: lambda: chat.edit("Question 18?", "Question 18 in other words?", "Question 17?"),
        22: lambda: chat.rpc.do("set_setting", key="chat.temperature", value=0.9),
        26: smaller,
    }
    before = None
    for number in range(1, 32):
        happens.get(number, lambda: None)()
        attached = {"attach": [str(note)]} if number in (4, 14) else {}
        chat.ask(question := f"Question {number}?", before, **attached)
        before = question
    chat.rpc.close()
    # The smaller budget takes five more such turns before the history is compacted again.
    assert list(chat.exceptions) == ["Question 26?", "Question 31?"]
    tins = {
        number: request_of(server, f"Question {number}?").messages[-1] for number in (5, 13, 14)
    }
    assert ["blue tin" in tins[5], "red tin" in tins[13], "red tin" in tins[14]] == [True] * 3


def test_each_request_of_a_loop_begins_with_the_one_before(
    rpc: Callable[[], Rpc], server: ModelServer
) -> None:
    steps = 15

    def work(body: Body) -> Answer:
        done = sum(message["role"] == "tool" for message in body["messages"])
        if done >= steps:
            return Answer(ANSWER, chunk_chars=400)
        arguments = json.dumps({"path": "Watering.md", "start": 1, "end": done % 3 + 1})
        return Answer(f"Step {done}. ", calls=((f"c{done}", "read_note", arguments),))

    server.script(work)
    chat = Conversation(rpc, server)
    chat.ask("Read on.", None, mode="agent")
    sent = requests(server)
    assert len(sent) == steps + 1
    for before, after in pairwise(sent):
        assert before.begins(after, len(before.messages))
    assert chat.exceptions == {}
    chat.ask("And then?", "Read on.", mode="agent")
    chat.rpc.close()
    assert chat.exceptions == {}
    assert len(request_of(server, "And then?").messages) > 2 * steps
