"""A server that refuses the usual request, driven through the program, the panel and the log."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.models.model_server import Answer, Body, Failure, ModelServer, Reply, Script
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.sessions.recount import recount

TurnRunner = Callable[[Program], Program]


def refusing(*fields: str, reply: Script | None = None) -> Script:
    """Refuse each of some fields, as a server does that has not heard of them."""

    def answer(body: Body) -> Reply:
        for field in fields:
            if field in body:
                return Failure.saying(400, f"Unrecognized request argument supplied: {field}")
        said = Answer("In the shed.", usage=None) if reply is None else reply
        return said(body) if callable(said) else said

    return answer


def one_user_role(body: Body) -> Reply:
    """Know no system role, as the templates of some models."""
    if any(message["role"] == "system" for message in body["messages"]):
        return Failure.saying(500, "Jinja Exception: System role not supported")
    return Answer("In the shed.", usage=None)


@pytest.fixture
def chat(with_notes: Program, asking: TurnRunner) -> Rpc:
    return Rpc(asking(with_notes))


def wire_of(chat: Rpc) -> Any:
    return chat.do("get_context", when="last", format="full")["context"]["wire"]


def test_the_panel_shows_what_was_sent_in_the_end_and_says_why(
    chat: Rpc, server: ModelServer
) -> None:
    server.script(refusing("temperature", "stream_options"))
    first = chat.turn("prompt", text="Where is the hose?", mode="vault")
    assert (first["status"], len(server.bodies)) == ("complete", 3)
    assert wire_of(chat) == server.bodies[-1]
    (said,) = (one for one in first["context"]["warnings"] if "refused the usual" in one)
    assert "no stream_options, no temperature" in said
    second = chat.turn("prompt", text="And the rake?", mode="vault")
    assert (second["status"], len(server.bodies)) == ("complete", 4)
    assert not any("refused the usual" in one for one in second["context"]["warnings"])
    assert wire_of(chat) == server.bodies[-1]
    chat.close()


def test_folded_instructions_are_counted_where_they_were(chat: Rpc, server: ModelServer) -> None:
    server.script(one_user_role)
    for question in ("Where is the hose?", "And the rake?"):
        turn = chat.turn("prompt", text=question, mode="vault")
        assert turn["status"] == "complete"
        assert wire_of(chat) == server.bodies[-1]
        messages = server.bodies[-1]["messages"]
        assert messages[0]["role"] == "user"
        # The same text as in two messages, without the few tokens of the second one.
        system = {"role": "system", "content": ""}
        body = {**server.bodies[-1], "messages": [system, *messages]}
        assert 0 <= turn["context"]["used"] - sum(recount(body).values()) + 8 <= 16
    assert len(server.bodies) == 3
    chat.close()


def test_a_chat_with_tool_calls_goes_on_where_tools_are_refused(
    chat: Rpc, server: ModelServer
) -> None:
    server.script(Answer("", calls=(("c1", "list_folder", "{}"),)), Answer("Two notes."))
    assert chat.turn("prompt", text="What is there?", mode="agent")["status"] == "complete"
    server.script(refusing("tools"))
    turn = chat.turn("prompt", text="And now?", mode="agent")
    assert (turn["status"], turn["answer"]) == ("complete", "In the shed.")
    sent = server.bodies[-1]["messages"]
    assert {message["role"] for message in sent} == {"system", "user", "assistant"}
    assert "[Call of list_folder with {}]" in json.dumps(sent)
    asked = len(server.bodies)
    turn = chat.turn("prompt", text="And then?", mode="agent")
    assert (turn["status"], len(server.bodies)) == ("complete", asked + 1)
    assert turn["context"]["layers"]["T"]["tokens"] == 0
    assert any("takes no tools" in one for one in turn["context"]["warnings"])
    chat.close()


def test_another_run_of_the_program_remembers(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(refusing("temperature"))
    program = asking(with_notes)
    for _ in range(2):
        program.json("ask", "Where is the hose?", "--mode", "chat")
    assert ["temperature" in body for body in server.bodies] == [True, False, False]
    other = ("--model", "gpt-4o-mini")
    program.json("ask", "Where is the hose?", "--mode", "chat", *other)
    assert "temperature" in server.bodies[3]


def test_what_was_learned_is_listed_and_forgotten(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(refusing("temperature"))
    program = asking(with_notes)
    assert program.json("models")["learned"] == []
    program.json("ask", "Where is the hose?", "--mode", "chat")
    (learned,) = program.json("models")["learned"]
    assert (learned["model"], learned["shape"]) == ("gpt-4o", ["no temperature"])
    checks = {check["name"]: check["detail"] for check in program.json("doctor")["checks"]}
    assert "gpt-4o at 127.0.0.1" in checks["requests"]
    forgotten = program.json("models", "--forget", "openai/gpt-4o")["forgotten"]
    assert forgotten == [learned]
    assert program.json("models")["learned"] == []
    program.json("ask", "Where is the hose?", "--mode", "chat")
    assert ["temperature" in body for body in server.bodies] == [True, False, True, False]
    done = program.run("models", "--forget", "gpt-4o-mini")
    assert (done.code, "usual requests" in done.err) == (1, True)


def test_an_empty_temperature_is_not_sent(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    program = asking(with_notes)
    program.json("ask", "Where?", "--mode", "chat", "--set", "chat.temperature=")
    assert "temperature" not in server.bodies[0]
    assert program.json("settings", "set", "chat.temperature", "")["value"] == ""
    program.json("ask", "Where?", "--mode", "chat")
    assert "temperature" not in server.bodies[1]
    assert program.json("settings", "set", "chat.temperature", "0.5")["value"] == 0.5
    program.json("ask", "Where?", "--mode", "chat")
    assert server.bodies[2]["temperature"] == 0.5


def test_content_as_text_is_learned_where_texts_are_not_joined_anyway(
    chat: Rpc, server: ModelServer
) -> None:
    def reply(body: Body) -> Reply:
        if any(isinstance(message["content"], list) for message in body["messages"]):
            return Failure.saying(400, "messages[1].content must be a string")
        return Answer("In the shed.", usage=None)

    server.script(reply)
    turn = chat.turn("prompt", text="Where is the hose?", mode="vault")
    assert (turn["status"], len(server.bodies)) == ("complete", 2)
    parts = server.bodies[0]["messages"][-1]["content"]
    joined = "\n\n".join(part["text"] for part in parts)
    assert server.bodies[1]["messages"][-1]["content"] == joined
    assert wire_of(chat) == server.bodies[1]
    chat.close()
