"""What the client library and a server's shape add to a body is named in the context report."""

import json
from typing import Any

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.events import AskResult, Mode, TurnEnded
from chains.request.ask import Ask
from chains.request.wire_changes import REFORMED
from tests.support.models.model_server import Answer, Failure, ModelServer


def ask(assistant: Assistant, text: str, mode: Mode, session: str | None = None) -> AskResult:
    request = Ask(text, mode, session=session, update_index=False)
    end = list(assistant.ask(request, CancelToken()))[-1]
    assert isinstance(end, TurnEnded)
    return end.result


def list_named(result: AskResult, part: str) -> dict[str, str]:
    differences = result.context["prefix"]["differences"]
    return {one["name"]: one["change"] for one in differences if one["part"] == part}


def _compare(before: dict[str, Any], now: dict[str, Any]) -> dict[str, str]:
    """Return the fields that differ between two bodies, other than their content."""
    names = {*before, *now} - {"messages", "tools", "system"}
    return {
        name: "changed" if name in before and name in now else "added" if name in now else "removed"
        for name in names
        if before.get(name) != now.get(name)
    }


def test_a_field_that_the_server_wants_under_another_name_is_named(
    reading: Assistant, server: ModelServer
) -> None:
    first = ask(reading, "Hello?", "chat")
    assert list_named(first, "options") == {}
    refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server.script(Failure.saying(400, refusal), Answer("Understood."))
    second = ask(reading, "And now?", "chat", first.session)
    wanted = _compare(server.bodies[0], server.bodies[-1])
    assert {"max_tokens", "max_completion_tokens"} <= set(wanted)
    assert list_named(second, "options") == wanted
    assert (second.context["prefix"]["changed"], second.context["prefix"]["reasons"]) == (False, [])
    third = ask(reading, "And then?", "chat", first.session)
    assert third.context["prefix"]["differences"] == []


@pytest.fixture
def claude(reading: Assistant, server: ModelServer) -> Assistant:
    reading.settings.set("chat.apiBase", server.root)
    reading.settings.set("chat.model", "anthropic/claude-sonnet-4-5")
    return reading


def test_all_tools_that_differ_in_the_bodies_are_named(
    claude: Assistant, server: ModelServer
) -> None:
    call = ("c1", "list_tags", json.dumps({}))
    server.script(Answer("", calls=(call,), finish="tool_calls"), Answer("None."), Answer("So."))
    first = ask(claude, "Which tags are there?", "agent")
    second = ask(claude, "Thanks.", "chat", first.session)
    before, now = (
        {tool["name"]: tool for tool in body.get("tools", ())} for body in server.bodies[-2:]
    )
    assert now  # the provider demands a tool where the messages have calls
    changes = {name: "removed" for name in before if name not in now}
    changes |= {name: "added" for name in now if name not in before}
    assert list_named(second, "tools") == changes
    assert second.context["prefix"]["reasons"]


def test_instructions_that_move_into_a_message_are_named(
    reading: Assistant, server: ModelServer
) -> None:
    first = ask(reading, "Hello?", "chat")
    assert ask(reading, "How are you?", "chat", first.session).context["prefix"]["reasons"] == []
    refusal = "System role not supported"
    server.script(Failure.saying(400, refusal), Answer("Understood."))
    second = ask(reading, "And now?", "chat", first.session)
    assert server.bodies[0]["messages"][0]["role"] == "system"
    assert server.bodies[-1]["messages"][0]["role"] == "user"
    prefix = second.context["prefix"]
    assert {one["part"] for one in prefix["differences"]} == {"system", "messages"}
    assert prefix["reasons"] == [REFORMED["system"], REFORMED["messages"]]
    third = ask(reading, "And then?", "chat", first.session)
    assert third.context["prefix"]["reasons"] == []
