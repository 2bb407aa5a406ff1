"""With no model set nothing is sent, whoever answered earlier: `chat.model` decides."""

from typing import Any

import pytest

from app.sessions.store import SessionStore
from app.state_db import StateDB
from context.log.entries import MessageEntry
from context.messages import Message
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc

ANSWER = "The barrel stands behind the shed, and holds two hundred litres of rain. " * 20


@pytest.fixture
def answered(program: Program, server: ModelServer) -> tuple[Program, str]:
    """A chat that a model has answered, in a program whose setting names no model."""
    without_model = Program(program.home, ("--set", f"chat.apiBase={server.url}"))
    store = SessionStore(program.home / "data" / "sessions", StateDB(program.home / "state.db"))
    parent: str | None = None
    with store.create(None) as session:
        for number in range(12):
            said = Message("user", f"Question {number}?"), Message("assistant", ANSWER)
            for message in said:
                model = "gpt-4o" if message.role == "assistant" else None
                place = session.new_id(), parent, session.now()
                session.append([MessageEntry(*place, message, f"turn{number}", model=model)])
                parent = place[0]
    store.close()
    return without_model, session.id


def test_a_compaction_makes_an_outline(answered: tuple[Program, str], server: ModelServer) -> None:
    program, session = answered
    before = len(server.received)
    told = program.json("compact", "--session", session)
    assert told["by"] == "outline"
    assert len(server.received) == before


def test_a_compaction_over_rpc_goes_to_the_model_of_the_run_alone(
    answered: tuple[Program, str], server: ModelServer
) -> None:
    program, session = answered
    before = len(server.bodies)
    assert rpc(program, {"type": "compact", "session": session})["by"] == "outline"
    assert len(server.bodies) == before
    more = program.json("ask", "And?", "--mode", "chat", "--model", "gpt-4o", "--session", session)
    server.script(Answer("The barrel: behind the shed.", usage=None))
    chosen = {"type": "set_model", "model": "gpt-4o"}
    told = rpc(program, chosen, {"type": "compact", "session": more["session"]})
    assert told["by"] == "model"
    assert server.bodies[-1]["model"] == "gpt-4o"


def test_a_full_chat_is_made_smaller_without_a_model(
    answered: tuple[Program, str], server: ModelServer
) -> None:
    program, session = answered
    before = len(server.received)
    asked = program.json(
        *("ask", "And now?", "--mode", "chat", "--session", session),
        *("--set", "autoCompactThreshold=4000"),
    )
    context = asked["context"]
    assert context["actions"]["trim"] or context["actions"]["compact"]
    assert context["used"] < context["budget"]
    assert len(server.received) == before


def test_a_model_that_is_set_for_summaries_makes_them(
    answered: tuple[Program, str], server: ModelServer
) -> None:
    program, session = answered
    server.script(Answer("The barrel: behind the shed.", usage=None))
    told = program.json("compact", "--session", session, "--set", "chat.summaryModel=small")
    assert (told["by"], server.bodies[-1]["model"]) == ("model", "small")


def rpc(program: Program, *requests: dict[str, Any]) -> dict[str, Any]:
    """Send requests in one run, and return what the last one is answered with."""
    run = Rpc(program)
    answers: list[dict[str, Any]] = [run.do(**request) for request in requests]
    run.close()
    return answers[-1]


def test_the_context_as_markdown_names_trims_and_compactions(
    answered: tuple[Program, str],
) -> None:
    program, session = answered
    asked = ("ask", "And now?", "--mode", "chat", "--session", session)
    keep = ("--set", "context.keepLastAssistantMessages=2")
    context = program.json(*asked, *keep, "--set", "autoCompactThreshold=6700")["context"]
    (line,) = (one for one in lines_of(program, session) if "trimmed" in one)
    assert context["trimmed"]["messages"] > 1
    assert line.startswith(f"- trimmed: {context['trimmed']['messages']} messages (~")

    program.json("compact", "--session", session)
    (made,) = program.json(*asked)["context"]["compactions"]
    (line,) = (one for one in lines_of(program, session) if one.startswith("- compacted: "))
    assert line.startswith(f"- compacted: ~{made['before_tokens'] / 1_000:.1f}k → ~")
    assert line.endswith(" tokens, as an outline")


def lines_of(program: Program, session: str) -> list[str]:
    """Return the lines of the Markdown about the last request."""
    return program.run("context", "--last", "--session", session).out.splitlines()
