"""Approvals over RPC: a request, a decision, and what becomes of a call without one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.assistant import Assistant
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.asking_tools import Diary
from tests.unit.app.rpc.test_server import Caller


@pytest.fixture
def diary(reading: Assistant, monkeypatch: pytest.MonkeyPatch) -> Diary:
    diary = Diary(kind="fetch", session_scope="example.org")
    monkeypatch.setattr(reading.agents, "_build_extra_tools", lambda *_: (diary.tool,))
    return diary


@pytest.fixture
def caller(reading: Assistant, server: ModelServer, diary: Diary) -> Iterator[Caller]:
    caller = Caller(reading)
    caller.ask("set_mode", mode="agent")
    yield caller
    caller.hang_up()


def write(text: str) -> Answer:
    return Answer("", calls=(("c1", "write_diary", json.dumps({"text": text})),))


def start_turn(caller: Caller) -> dict[str, Any]:
    """Ask, and return the request for an approval."""
    caller.ask("prompt", text="Write.")
    return dict(caller.event("approval_request")["data"])


def test_a_program_decides_about_each_call(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), write("b"), Answer("Done."))
    asked = start_turn(caller)
    assert asked == {
        "approval_id": asked["approval_id"],
        "tool_call": "c1",
        "tool": "write_diary",
        "arguments": {"text": "a"},
        "summary": "Write the diary.",
        "diff": "+a",
        "warnings": [],
        "session_scope": "example.org",
        "hunks": [],
    }
    caller.ask("approve", approval_id=asked["approval_id"], decision="allow")
    again = caller.event("approval_request")["data"]
    caller.ask("approve", approval_id=again["approval_id"], decision="deny")
    end = caller.event("turn_end")["data"]
    assert [tool["status"] for tool in end["tools"]] == ["ok", "denied"]
    assert diary.text == "a"


def test_an_approval_for_the_session_is_not_asked_again_in_this_chat_only(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), write("b"), Answer("Done."))
    asked = start_turn(caller)
    caller.ask("approve", approval_id=asked["approval_id"], decision="allow_session")
    assert caller.event("turn_end")["data"]["status"] == "complete"
    assert diary.text == "ab"
    server.script(write("c"), Answer("Done."))
    assert caller.turn("Again.")["tools"][0]["status"] == "ok"
    caller.ask("new_session")
    server.script(write("d"), Answer("Done."))
    start_turn(caller)
    caller.ask("abort")
    assert caller.event("turn_end")["data"]["status"] == "interrupted"
    assert diary.text == "abc"


def test_an_unknown_or_decided_approval_is_a_bad_request(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), Answer("Done."))
    error = caller.error("approve", approval_id="x", decision="allow")
    assert (error["code"], "x" in error["message"]) == ("bad_request", True)
    id = start_turn(caller)["approval_id"]
    assert caller.error("approve", approval_id=id, decision="yes")["code"] == "bad_request"
    caller.ask("approve", approval_id=id, decision="deny")
    caller.event("turn_end")
    assert caller.error("approve", approval_id=id, decision="allow")["code"] == "bad_request"
    assert diary.text == ""


def test_the_end_of_the_input_rejects(
    reading: Assistant, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), Answer("Done."))
    caller = Caller(reading)
    caller.ask("set_mode", mode="agent")
    start_turn(caller)
    caller.hang_up()
    assert diary.text == ""


def test_numbers_of_hunks_that_the_request_does_not_have_are_refused(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), Answer("Done."))
    id = start_turn(caller)["approval_id"]
    for decision, hunks in (("allow", [0]), ("allow", []), ("deny", [0])):
        error = caller.error("approve", approval_id=id, decision=decision, hunks=hunks)
        assert error["code"] == "bad_request"
        assert "hunks" in error["message"]
    caller.ask("approve", approval_id=id, decision="allow")
    assert caller.event("turn_end")["data"]["status"] == "complete"
    assert diary.text == "a"


def test_approvals_of_two_chats_wait_at_once_and_are_decided_apart(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), write("b"), Answer("Done."))
    first = start_turn(caller)
    caller.ask("new_session")
    second = start_turn(caller)
    assert first["approval_id"] != second["approval_id"]
    caller.ask("approve", approval_id=second["approval_id"], decision="allow")
    assert caller.event("turn_end")["data"]["tools"][0]["status"] == "ok"
    assert diary.text == "b"
    caller.ask("approve", approval_id=first["approval_id"], decision="deny")
    assert caller.event("turn_end")["data"]["tools"][0]["status"] == "denied"
    assert diary.text == "b"


def test_an_approval_after_an_abort_is_a_bad_request_and_does_nothing(
    caller: Caller, server: ModelServer, diary: Diary
) -> None:
    server.script(write("a"), Answer("Done."))
    id = start_turn(caller)["approval_id"]
    caller.ask("abort")
    assert caller.event("turn_end")["data"]["status"] == "interrupted"
    for fields in ({"decision": "allow"}, {"decision": "allow", "hunks": [0]}):
        error = caller.error("approve", approval_id=id, **fields)
        assert (error["code"], id in error["message"]) == ("bad_request", True)
    assert diary.text == ""
    assert not caller.ask("get_state")["busy"]
