"""Pins of a chat: what is sent word for word, and how much that may be."""

import pytest

from app.assistant import Assistant
from app.errors import SessionMissing, describe
from app.sessions.transcript import AnswerItem, UserItem
from context.errors import BadPin
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def session(assistant: Assistant, server: ModelServer) -> str:
    """A chat with one turn, whose answer is far longer than its question."""
    server.script(Answer("The river rises in spring. " * 400))
    asked = result_of(ask(assistant, "When does the river rise?", mode="chat"))
    assert asked.session is not None
    return asked.session


def entries(assistant: Assistant, session: str) -> tuple[UserItem, AnswerItem]:
    question, answer = assistant.history.transcript(session).items
    assert isinstance(question, UserItem)
    assert isinstance(answer, AnswerItem)
    return question, answer


def test_a_pinned_message_says_so_and_is_in_the_report(assistant: Assistant, session: str) -> None:
    question, _ = entries(assistant, session)
    assistant.branches.pin(session, question.entry, True)
    assert [item.is_pinned for item in entries(assistant, session)] == [True, False]
    (pin,) = assistant.preview(session)["pins"]
    assert (pin["target"], pin["source"]) == (question.entry, "this chat")
    assert pin["tokens"] > 0


def test_a_pin_can_be_taken_off(assistant: Assistant, session: str) -> None:
    question, _ = entries(assistant, session)
    assistant.branches.pin(session, question.entry, True)
    assistant.branches.pin(session, question.entry, False)
    assert not entries(assistant, session)[0].is_pinned
    assert assistant.preview(session)["pins"] == []


def test_pins_take_no_more_than_a_quarter_of_the_budget(assistant: Assistant, session: str) -> None:
    _, answer = entries(assistant, session)
    assistant.settings.set("autoCompactThreshold", 4_000)
    with pytest.raises(BadPin, match="may use") as refused:
        assistant.branches.pin(session, answer.entry, True)
    assert describe(refused.value).code == "bad_request"
    assert not entries(assistant, session)[1].is_pinned


def test_what_is_not_in_the_chat_cannot_be_pinned(assistant: Assistant, session: str) -> None:
    with pytest.raises(BadPin, match="nothing to pin"):
        assistant.branches.pin(session, "ffffffff", True)


def test_a_chat_that_is_not_there_has_no_pins(assistant: Assistant) -> None:
    with pytest.raises(SessionMissing):
        assistant.branches.pin("20260101-000000-aaaaaa", "ffffffff", True)
