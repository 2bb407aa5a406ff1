"""What answers and chats cost: stored when the call is made, and added up from the log."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.assistant import Assistant
from app.sessions.transcript import AnswerItem, ChatCost
from chains.cancel import CancelToken
from chains.model import LiteLLMModel
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def model(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server whose calls cost a cent for each hundred tokens of the prompt."""
    monkeypatch.setattr(LiteLLMModel, "_price", lambda _self, counted: counted.prompt_tokens / 1e4)
    with ModelServer(Answer("210 litres.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield server


def begin(assistant: Assistant) -> str:
    session = result_of(ask(assistant, "How much does the barrel hold?", mode="chat")).session
    assert session is not None
    return session


def costs(assistant: Assistant, session: str) -> list[float | None]:
    """Return the prices of the answers of a chat."""
    items = assistant.history.transcript(session).items
    return [item.cost for item in items if isinstance(item, AnswerItem)]


def test_an_answer_and_its_chat_keep_what_they_cost(
    assistant: Assistant, model: ModelServer
) -> None:
    session = begin(assistant)
    assert costs(assistant, session) == [0.01]
    ask(assistant, "And then?", mode="chat", session=session)
    assert costs(assistant, session) == [0.01, 0.01]
    assert assistant.history.transcript(session).cost == ChatCost(0.02, is_estimate=False)


def test_other_versions_and_titles_count_for_the_chat_and_not_for_the_answer(
    assistant: Assistant, model: ModelServer
) -> None:
    session = begin(assistant)
    assistant.titles.write(session, CancelToken())
    (answer,) = [
        item for item in assistant.history.transcript(session).items if isinstance(item, AnswerItem)
    ]
    list(assistant.regenerate(session, answer.entry, CancelToken()))
    assert costs(assistant, session) == [0.01]
    cost = assistant.history.transcript(session).cost
    assert cost is not None
    assert (round(cost.dollars, 4), cost.is_estimate) == (0.03, False)


@pytest.mark.parametrize("reply", [Answer("Yes.", usage=None)])
def test_a_call_that_was_not_counted_makes_the_sum_an_estimate(
    assistant: Assistant, model: ModelServer, reply: Any
) -> None:
    session = begin(assistant)
    model.script(reply)
    ask(assistant, "And then?", mode="chat", session=session)
    assert costs(assistant, session) == [0.01, None]
    assert assistant.history.transcript(session).cost == ChatCost(0.01, is_estimate=True)


def test_a_model_on_this_computer_costs_nothing(assistant: Assistant) -> None:
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        session = begin(assistant)
    assert costs(assistant, session) == [0.0]
    assert assistant.history.transcript(session).cost is None
