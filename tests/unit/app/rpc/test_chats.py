"""Chats are listed, deleted, restored and removed over RPC."""

from collections.abc import Iterator

import pytest

from app.assistant import Assistant
from app.sessions.store import SessionStore
from tests.support.models.model_server import Answer, ModelServer
from tests.unit.app.rpc.test_server import Caller


@pytest.fixture
def caller(assistant: Assistant, server: ModelServer) -> Iterator[Caller]:
    caller = Caller(assistant)
    caller.ask("set_mode", mode="chat")
    yield caller
    caller.hang_up()


def test_a_chat_is_moved_to_the_bin_and_back(caller: Caller) -> None:
    chat = caller.turn("Where is the barrel?")["session"]
    (before,) = caller.ask("list_sessions")["sessions"]
    deleted = caller.ask("delete_session", session=chat)
    assert caller.ask("list_sessions")["sessions"] == []
    (binned,) = caller.ask("list_sessions", bin=True)["sessions"]
    assert {**binned, **before} == binned
    assert deleted == {"session": chat, "until": binned["until"]}
    assert caller.ask("get_state")["session"] is None
    error = caller.error("prompt", text="And now?", session=chat)
    assert (error["code"], error["message"]) == (
        "session_missing",
        f"The chat {chat} is in the bin.",
    )
    assert error["hint"] == f"`restore_session{{session: {chat}}}` brings it back."
    assert caller.ask("restore_session", session=chat) == before
    assert caller.ask("list_sessions")["sessions"] == [before]
    assert caller.turn("And now?", session=chat)["session"] == chat
    missing = caller.error("restore_session", session="none")
    assert missing["hint"] == "`list_sessions` shows those that there are."


def test_a_chat_that_another_program_deleted_is_not_begun_anew(
    caller: Caller, assistant: Assistant
) -> None:
    """The client goes on in the chat that it began, which another process moved to the bin."""
    chat = caller.ask("new_session")["session"]
    assert caller.turn("Where is the barrel?")["session"] == chat
    SessionStore(assistant.paths.sessions, assistant.sessions.state).delete(chat)
    for request in (
        {"type": "prompt", "text": "And the hose?"},
        {"type": "prompt", "text": "And the hose?", "session": chat},
        {"type": "get_entries", "session": chat},
        {"type": "compact"},
        {"type": "delete_session", "session": chat},
    ):
        assert caller.error(**request)["message"] == f"The chat {chat} is in the bin."
    assert caller.ask("list_sessions")["sessions"] == []
    caller.ask("restore_session", session=chat)
    assert caller.turn("And the hose?")["session"] == chat
    (only,) = caller.ask("list_sessions")["sessions"]
    assert (only["session"], only["turns"]) == (chat, 2)


def test_chats_are_deleted_for_good_at_once_or_with_the_bin(caller: Caller) -> None:
    first = caller.turn("Where is the barrel?")["session"]
    caller.ask("new_session")
    second = caller.turn("Where is the hose?")["session"]
    assert caller.ask("delete_session", session=second, now=True) == {
        "session": second,
        "until": None,
    }
    assert caller.ask("list_sessions", bin=True)["sessions"] == []
    caller.ask("delete_session", session=first)
    assert caller.ask("empty_bin") == {"sessions": [first]}
    assert caller.ask("empty_bin") == {"sessions": []}
    for session in (first, second):
        assert caller.error("restore_session", session=session)["code"] == "session_missing"


def test_archived_chats_are_listed_apart_and_restored(caller: Caller, assistant: Assistant) -> None:
    chat = caller.turn("Where is the barrel?")["session"]
    assistant.branches.mark(chat, "archived", True)
    assert caller.ask("list_sessions")["sessions"] == []
    (listed,) = caller.ask("list_sessions", archived=True)["sessions"]
    assert listed["session"] == chat
    assert caller.ask("restore_session", session=chat)["archived"] is False


def test_a_chat_at_work_is_not_deleted(caller: Caller, server: ModelServer) -> None:
    server.script(Answer("A long answer. " * 50, chunk_chars=8, stall_after=5))
    chat = (
        caller.ask("prompt", text="Where is the barrel?") and caller.event("text_delta")["session"]
    )
    for now in (False, True):
        assert caller.error("delete_session", session=chat, now=now)["code"] == "busy"
    caller.ask("abort", session=chat)
    caller.event("turn_end")
    assert caller.ask("delete_session", session=chat)["session"] == chat
