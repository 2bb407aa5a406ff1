"""A model that repeats each call of which only a mark is left never does anything twice."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.request.ask import Ask
from context.log.entries import DropEntry, MessageEntry, TransformEntry, TrimEntry
from context.messages import list_tool_calls
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.sessions.turns import result_of

MARKS = ("[trimmed]", "[Content truncated")
NOTE = "".join(
    f"Line {n} of a note about beans, barrels and beds in the garden.\n" for n in range(60)
)
Call = tuple[str, dict[str, Any]]


def read(number: int) -> Call:
    return "read_note", {"path": f"Notes/{number}.md"}


ACTS: tuple[Call, ...] = (
    ("append_to_note", {"path": "Log.md", "text": "sown"}),
    ("create_note", {"path": "New.md", "text": "planned"}),
    ("edit_note", {"path": "Plan.md", "old": "May", "new": "May or June"}),
    ("move_note", {"path": "Old.md", "to": "Kept.md"}),
    ("remember", {"text": "The user sows in June."}),
    ("update_memory", {"scratchpad": "x", "mode": "append"}),
    ("update_progress", {"completedSteps": ["sown"]}),
    ("append_to_note", {"path": "Missing.md", "text": "sown"}),
)


@dataclass
class ObedientModel:
    """Makes the calls of a plan, and repeats each earlier call whose result is only a mark.

    Attributes:
        plan: the calls to make, in order.
        repeated: the calls that were made again.
    """

    plan: Iterator[Call]
    repeated: list[Call] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _count: int = 0

    def __call__(self, body: Body) -> Answer:
        if "has to be remembered" in str(body["messages"][-1]["content"]):
            return Answer("- Done: Log.md, New.md, Plan.md and Kept.md were written.")
        if not body.get("tools"):
            return Answer("Enough.")
        for call in self._find_marked(body):
            self.repeated.append(call)
            return self._call(call)
        planned = next(self.plan, None)
        return Answer("Done.") if planned is None else self._call(planned)

    def _call(self, call: Call) -> Answer:
        self._count += 1
        return Answer("", calls=((f"c{self._count}", call[0], json.dumps(call[1])),))

    def _find_marked(self, body: Mapping[str, Any]) -> Iterator[Call]:
        made = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
        calls = {call["id"]: call["function"] for call in made}
        for message in body["messages"]:
            id = message.get("tool_call_id")
            is_marked = str(message["content"]).startswith(MARKS)
            if message["role"] == "tool" and is_marked and id not in self._known:
                self._known.add(id)
                yield calls[id]["name"], json.loads(calls[id]["arguments"])


@pytest.fixture
def writing(assistant: Assistant, tmp_path: Path) -> Assistant:
    """An assistant with notes, in which everything is approved."""
    folder = tmp_path / "vault"
    (folder / "Notes").mkdir(parents=True)
    for number in range(40):
        (folder / f"Notes/{number}.md").write_text(NOTE)
    (folder / "Log.md").write_text("A log.\n")
    (folder / "Plan.md").write_text("Sow in May.\n")
    (folder / "Old.md").write_text("Old.\n")
    assistant.open_vault(folder, remember=False)
    assistant.agents.connect(None, "all")
    return assistant


def ask(assistant: Assistant, question: str, session: str | None) -> str:
    asked = Ask(question, "agent", session=session)
    return str(result_of(list(assistant.ask(asked, CancelToken()))).session)


def call_names(assistant: Assistant, session: str) -> list[str]:
    path = assistant.sessions.read(session).path()
    messages = (entry.message for entry in path if isinstance(entry, MessageEntry))
    return [call.name for message in messages for call in list_tool_calls(message)]


@pytest.mark.parametrize(("threshold", "is_old_log"), [(8_000, True), (16_000, False)])
def test_an_obedient_model_repeats_what_it_read_and_never_what_it_did(
    writing: Assistant, server: ModelServer, tmp_path: Path, threshold: int, is_old_log: bool
) -> None:
    writing.settings.set("autoCompactThreshold", threshold)
    model = ObedientModel(iter([*ACTS, *(read(number) for number in range(7))]))
    server.script(model)
    session = ask(writing, "Do all of it.", None)
    if is_old_log:
        file = writing.sessions.file(session)
        file.write_text(file.read_text().replace(',"readsOnly":true', ""))
        assert "readsOnly" not in file.read_text()
    for start in (10, 20):
        model.plan = iter([read(number) for number in range(start, start + 5)])
        session = ask(writing, f"Read on from {start}.", session)
    path = writing.sessions.read(session).path()
    assert any(isinstance(entry, TrimEntry | DropEntry | TransformEntry) for entry in path)
    assert {name for name, _ in model.repeated} == {"read_note"}
    names = call_names(writing, session)
    for name, _ in ACTS:
        assert names.count(name) == sum(act[0] == name for act in ACTS), name
    folder = tmp_path / "vault"
    assert (folder / "Log.md").read_text() == "A log.\n\nsown\n"
    assert (folder / "Plan.md").read_text() == "Sow in May or June.\n"
