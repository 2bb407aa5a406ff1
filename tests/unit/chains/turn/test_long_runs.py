"""Runs of an agent that are long, large, endless or malformed: each ends with an answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from chains.events import CompactionEnded, ContextPrepared, ToolEnded
from chains.turn.agent import AGENT_TOOLS
from chains.turn.run import run_turn
from tests.support.models.model_server import Answer
from tests.support.sessions.asking_tools import NoNotes
from vault.errors import NoteUnreadable
from vault.notes.note import parse_note

STEPS = 60


class Shelf(NoNotes):
    """Notes of several sizes; which were read is remembered."""

    root = Path("Notes")

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def read_allowed(self, path):
        if not path.startswith("Note "):
            raise NoteUnreadable(path, "it is not there")
        self.read.append(path)
        number = int(path.removeprefix("Note ").removesuffix(".md"))
        lines = 20 if number % 3 else 200  # about 1,000 and 10,000 bytes
        text = "".join(f"Fact {number}.{n} of the shelf, as it was noted.\n" for n in range(lines))
        return parse_note(path, text.encode())[0]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def run(server, session, pause, ask, shelf):
    def running(question="Read the shelf.", steps=100, **fields):
        values = {"api_base": server.url, "threshold": 16_000, "pause": pause, "session": session}
        agent = {"mode": "agent", "vault": shelf, "tools": AGENT_TOOLS, "agent_max_steps": steps}
        return list(run_turn(ask(question, **(values | agent | fields))))

    return running


def calling(*calls: tuple[str, Any]) -> Answer:
    written = (
        (f"c{n}", name, given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(calls)
    )
    return Answer("", calls=tuple(written), chunk_chars=50_000)


def read_note(number: int) -> Answer:
    return calling(("read_note", {"path": f"Note {number}.md"}))


def list_results(body) -> list[str]:
    return [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def test_sixty_steps_in_a_small_budget_end_with_an_answer(run, server, session, shelf):
    server.script(*(read_note(number) for number in range(STEPS)), Answer("All is read."))
    events = run()
    result = events[-1].result
    assert (result.answer.end.status, result.answer.text) == ("complete", "All is read.")
    assert len(result.answer.steps) == STEPS
    assert shelf.read == [f"Note {number}.md" for number in range(STEPS)]
    reports = [e.report.to_dict() for e in events if isinstance(e, ContextPrepared)]
    assert all(report["used"] <= report["budget"] for report in reports)
    last = list_results(server.bodies[-1])
    stubs = [text for text in last if text.startswith("[Tool result stored")]
    assert len(stubs) == len(session.results) == STEPS // 3
    assert all(f'"read_result" tool with ref_id="r{n}"' in stub for n, stub in enumerate(stubs))
    assert last[1] == "[trimmed]"
    assert "Fact 59.19 " in last[-1]
    reasons = {reason for report in reports for reason in report["prefix"]["reasons"]}
    assert reasons == {"older results of this turn were shortened"}
    calls = [one for m in server.bodies[-1]["messages"] for one in m.get("tool_calls", ())]
    named = [json.loads(one["function"]["arguments"])["path"] for one in calls]
    assert named == shelf.read


def test_a_long_run_behind_a_long_chat_is_compacted_meanwhile(run, server):
    work = iter([*(read_note(number) for number in range(15)), Answer("All is read.")])

    def reply(body):
        is_summary = "summar" in str(body["messages"][-1]["content"]).lower()
        return Answer("The talk was of shelves.") if is_summary else next(work)

    server.script(Answer("A long answer about shelves. " * 150))
    for number in range(11):
        run(f"Question {number}?")
    server.script(reply)
    events = run("Now read the shelf.")
    assert events[-1].result.answer.text == "All is read."
    assert any(isinstance(event, CompactionEnded) for event in events)
    assert "The talk was of shelves." in str(server.bodies[-1]["messages"])


def test_an_endless_loop_ends_at_the_limit_of_steps_with_an_answer(run, server):
    def reply(body):
        return read_note(1) if body.get("tools") else Answer("I read it many times.")

    server.script(reply)
    result = run(steps=12)[-1].result
    assert (result.answer.end.status, result.answer.text) == ("limit", "I read it many times.")
    assert len(server.bodies) == 13
    assert len(result.answer.steps) == 12


def test_a_model_that_calls_even_without_tools_ends_too(run, server):
    server.script(read_note(1))
    result = run(steps=3)[-1].result
    assert result.answer.end.status == "limit"
    assert len(server.bodies) == 4


def test_more_results_than_the_budget_holds_end_with_an_answer(run, server):
    def reply(body):
        if not body.get("tools"):
            return Answer("So much I have read.")
        return calling(*(("read_note", {"path": f"Note {3 * n + 1}.md"}) for n in range(40)))

    server.script(reply)
    events = run(threshold=8_000)
    assert (events[-1].result.answer.end.status, events[-1].result.answer.text) == (
        "limit",
        "So much I have read.",
    )
    for report in (e.report.to_dict() for e in events if isinstance(e, ContextPrepared)):
        assert report["used"] <= report["budget"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_note", json.dumps({"path": "beans " * 170_000})),
        ("grep_notes", json.dumps({"pattern": "(bean|pea)" * 100_000})),
        ("fly" + "y" * 1_000, "{}"),
        ("read_note", '{"path": "' + "beans " * 170_000),
    ],
)
def test_an_argument_of_a_megabyte_is_an_error_and_the_turn_goes_on(run, server, name, arguments):
    server.script(calling((name, arguments)), Answer("Understood."))
    events = run()
    assert events[-1].result.answer.text == "Understood."
    assert [event.step.status for event in events if isinstance(event, ToolEnded)] == ["error"]
    reports = [e.report.to_dict() for e in events if isinstance(e, ContextPrepared)]
    assert all(report["used"] <= report["budget"] for report in reports)
    assert all(len(one.raw) < 200_000 for one in server.received)
