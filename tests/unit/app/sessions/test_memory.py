"""The memory of a chat in real turns: in the next request, after a compaction, on each branch."""

import json
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest
from chains.cancel import CancelToken
from chains.events import TurnEnded
from chains.request.ask import Ask
from context.history.memory import MEMORY_CHANGED, Memory, Progress
from tests.support.models.model_server import Answer, ModelServer

NOTE = {"scratchpad": "Beans in May.", "facts_add": ["The soil is acid."]}
PROGRESS = {
    "currentObjective": "Plan the beds",
    "completedSteps": ["read"],
    "pendingSteps": ["dig"],
}


def calling(*calls: tuple[str, Any]) -> Answer:
    written = ((f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls))
    return Answer("", calls=tuple(written))


def ask(assistant: Assistant, text: str, session: str | None = None) -> TurnEnded:
    request = Ask(text, "agent", session=session, update_index=False)
    end = list(assistant.ask(request, CancelToken()))[-1]
    assert isinstance(end, TurnEnded)
    return end


def last_text(body: dict[str, Any]) -> str:
    """Return the text of the last message of a request."""
    return json.dumps(body["messages"][-1], ensure_ascii=False)


@pytest.fixture
def noted(reading: Assistant, server: ModelServer) -> str:
    """A chat in whose first turn the model noted something; the id of the chat."""
    server.script(calling(("update_memory", NOTE), ("update_progress", PROGRESS)), Answer("Noted."))
    session = ask(reading, "Note the beans.").result.session
    assert session is not None
    return session


def memory_of(assistant: Assistant, session: str) -> dict[str, Any]:
    return dict(assistant.preview(session, "And now?")["memory"])


def test_the_model_sees_what_it_noted_in_this_turn_and_in_the_next(reading, server, noted) -> None:
    first, second = server.bodies
    assert MEMORY_CHANGED not in last_text(first)
    assert MEMORY_CHANGED in last_text(second)
    assert "Beans in May." in last_text(second)
    ask(reading, "And now?", noted)
    (question,) = (text for text in [last_text(server.bodies[-1])] if "And now?" in text)
    for said in ("Beans in May.", "The soil is acid.", "Plan the beds", "to do: dig"):
        assert said in question
    assert MEMORY_CHANGED not in question


def test_memory_survives_a_compaction_and_opening_the_chat_again(reading, server, noted) -> None:
    for question in ("One?", "Two?"):
        ask(reading, question, noted)
    before = memory_of(reading, noted)
    list(reading.compact(noted, CancelToken()))
    assert memory_of(reading, noted) == before
    assert before["facts"] == ["The soil is acid."]
    assert before["progress"] == PROGRESS


def test_memory_goes_with_the_message_that_added_it(reading, server, noted) -> None:
    entries = reading.sessions.read(noted).path()
    question = next(entry.id for entry in entries if entry.type == "message")
    list(reading.edit(noted, question, "Note nothing.", CancelToken()))
    assert memory_of(reading, noted) == Memory().to_dict()
    reading.branches.select_leaf(noted, question)
    assert memory_of(reading, noted)["scratchpad"] == "Beans in May."


def test_the_phase_of_the_work_is_sent_as_stated_or_as_the_steps_say(
    reading, server, noted
) -> None:
    assert "Phase: execution" in last_text(server.bodies[-1])  # a step is done, another is not
    server.script(
        calling(("update_progress", {"currentPhase": "planning"})),
        calling(("update_progress", {"completedSteps": ["read", "dig"], "pendingSteps": []})),
        Answer("All is done."),
    )
    ask(reading, "Go on.", noted)
    planned, done = (last_text(body) for body in server.bodies[-2:])
    assert "Phase: planning" in planned
    assert "Phase: verification" in done  # what was stated was for the steps before
    ask(reading, "And now?", noted)
    assert "Phase: verification" in last_text(server.bodies[-1])


SUMMARY = """Decisions:
- Beans go into the {} bed in May.
**Done:** the soil was read.
- Open: the beds are not dug yet.

## Sources
- `Beans.md`, garden/Soil.md
"""


def test_decisions_and_paths_of_a_summary_stay_in_the_memory(reading, server, noted) -> None:
    for bed in ("north", "south"):
        for question in ("One?", "Two?"):
            server.script(
                Answer(
                    f"The {bed} bed, says Beans.md, as garden/Soil.md does. " + "It is deep. " * 40
                )
            )
            ask(reading, question, noted)
        server.script(Answer(SUMMARY.format(bed)))
        list(reading.compact(noted, CancelToken()))
        calls = len(server.bodies)
        facts = memory_of(reading, noted)["facts"]
        assert facts == [
            "The soil is acid.",
            f"Beans go into the {bed} bed in May.",
            "Notes that earlier answers rested on: Beans.md, garden/Soil.md",
        ]
        assert len(server.bodies) == calls
    server.script(Answer("In May."))
    ask(reading, "And now?", noted)
    assert "Beans go into the south bed in May." in last_text(server.bodies[-1])
    fork = reading.branches.fork(noted)
    assert memory_of(reading, fork)["facts"] == facts


def test_an_outline_adds_no_fact(reading, server, noted) -> None:
    for question in ("One?", "Two?"):
        ask(reading, question, noted)
    server.script(Answer(""))
    list(reading.compact(noted, CancelToken()))
    assert memory_of(reading, noted)["facts"] == ["The soil is acid."]


def test_the_user_can_change_the_memory_of_a_chat(reading, server, noted) -> None:
    changed = Memory("", Progress("Plan the beds", ("read", "dig")), ("The soil is chalky.",))
    reading.branches.set_memory(noted, changed)
    assert memory_of(reading, noted) == changed.to_dict()
    length = len(reading.sessions.read(noted).path())
    reading.branches.set_memory(noted, changed)
    assert len(reading.sessions.read(noted).path()) == length
    with pytest.raises(InvalidRequest, match="8,000 are allowed"):
        reading.branches.set_memory(noted, Memory("x" * 8_001))


def test_long_term_memories_begin_every_request(reading, server) -> None:
    reading.customization.memories.propose("Answer in German.").apply()
    ask(reading, "Hello?")
    system = json.dumps(server.bodies[0]["messages"][0])
    assert "<long_term_memories>" in system
    assert "- Answer in German." in system


def test_remember_asks_and_without_anybody_to_ask_nothing_is_written(reading, server) -> None:
    server.script(calling(("remember", {"text": "Answer in German."})), Answer("I did not."))
    result = ask(reading, "Remember it.").result
    assert [step.status for step in result.answer.steps] == ["denied"]
    assert reading.customization.memories.list_memories() == ()
