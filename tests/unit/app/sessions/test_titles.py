"""Titles of chats by a model: once, short, on one line, and never over a title of the user."""

import json
from collections.abc import Iterator

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.turn.calls import clean_title
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.sessions.turns import ask, result_of

QUESTION = "How much does the barrel behind the shed hold, and when is it emptied?"


@pytest.fixture
def model(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer(Answer("210 litres.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield server


def begin(assistant: Assistant) -> str:
    """Ask the first question of a chat, and return the chat."""
    session = result_of(ask(assistant, QUESTION, mode="chat")).session
    assert session is not None
    return session


def write(assistant: Assistant, session: str) -> str:
    return assistant.titles.write(session, CancelToken())


def find_title(assistant: Assistant, session: str) -> str:
    return assistant.sessions.info(session).title


def test_a_model_names_a_chat_once(assistant: Assistant, model: ModelServer) -> None:
    session = begin(assistant)
    assert find_title(assistant, session) == QUESTION
    model.script(Answer('**Title: "The rain barrel"**\nIt is a good title.'))
    assert write(assistant, session) == "The rain barrel"
    assert find_title(assistant, session) == "The rain barrel"
    assert write(assistant, session) == ""
    assert len(model.bodies) == 2
    sent = json.dumps(model.bodies[-1])
    assert model.bodies[-1]["max_tokens"] <= 64
    assert len(sent) < 2_500
    assert [call["kind"] for call in assistant.ledger.list_calls()] == ["model"] * len(
        assistant.ledger.list_calls()
    )
    assert any(call["session"] == session for call in assistant.ledger.list_calls())


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("<think>The user asks about\na barrel</think>\nRain barrel", "Rain barrel"),
        ("They ask about a barrel.\n</think>\n\nRain barrel", "Rain barrel"),
        ("[THINK]A title.[/THINK]Rain barrel", "Rain barrel"),
        ("<think>never ends", ""),
    ],
)
def test_a_title_holds_no_thinking(
    assistant: Assistant, model: ModelServer, said: str, title: str
) -> None:
    session = begin(assistant)
    model.script(Answer(said, chunk_chars=5))
    assert write(assistant, session) == title


def test_the_call_counts_as_usage_but_not_as_a_request_of_the_turn(
    assistant: Assistant, model: ModelServer
) -> None:
    session = begin(assistant)
    before = assistant.preview(session, "And then?", "chat")
    model.script(Answer("The rain barrel"))
    write(assistant, session)
    usage = assistant.sessions.read(session).usage()
    assert [entry.purpose for entry in usage] == ["answer", "title"]
    after = assistant.preview(session, "And then?", "chat")
    assert after["prefix"] == before["prefix"]
    assert after["layers"] == before["layers"]


def test_a_title_of_the_user_is_never_replaced(assistant: Assistant, model: ModelServer) -> None:
    session = begin(assistant)
    assistant.branches.rename(session, "Mine")
    assert write(assistant, session) == ""
    assistant.branches.rename(session, "")
    assert write(assistant, session) == ""
    assert find_title(assistant, session) == QUESTION
    assert len(model.bodies) == 1


def test_a_title_of_the_user_that_comes_first_stays(
    assistant: Assistant, model: ModelServer
) -> None:
    session = begin(assistant)

    def answer(_body: object) -> Answer:
        assistant.branches.rename(session, "Mine")
        return Answer("The rain barrel")

    model.script(answer)
    assert write(assistant, session) == ""
    assert find_title(assistant, session) == "Mine"


def test_a_chat_in_use_gets_its_title_after_the_next_answer(
    assistant: Assistant, model: ModelServer
) -> None:
    session = begin(assistant)
    model.script(Answer("The rain barrel"))
    with assistant.sessions.open(session):
        assert write(assistant, session) == ""
    assert write(assistant, session) == "The rain barrel"


@pytest.mark.parametrize("setting", ["chat.titles", "privacy.offline"])
def test_no_call_is_made_where_none_is_wanted(
    assistant: Assistant, model: ModelServer, setting: str
) -> None:
    session = begin(assistant)
    if setting == "chat.titles":
        assistant.settings.set(setting, False)
    else:
        assistant.settings.set("chat.apiBase", "https://models.example/v1")
        assistant.settings.set(setting, True)
    assert write(assistant, session) == ""
    assert len(model.bodies) == 1
    assert find_title(assistant, session) == QUESTION


def test_without_a_model_the_first_words_are_the_title(assistant: Assistant) -> None:
    session = begin(assistant)
    assert write(assistant, session) == ""
    assert find_title(assistant, session) == QUESTION


def test_a_failed_call_changes_nothing(assistant: Assistant, model: ModelServer) -> None:
    session = begin(assistant)
    model.script(Failure(401))
    assert write(assistant, session) == ""
    assert find_title(assistant, session) == QUESTION


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ('"Rain barrel."', "Rain barrel"),
        ("# Rain barrel\nmore", "Rain barrel"),
        ("Rain\x1b[31m\tbarrel\u202e", "Rain [31m barrel"),
        ("\n\n", ""),
        ("雨水タンク", "雨水タンク"),
        ("Water **Matina** with `hose` [1, 2]", "Water Matina with hose"),
        ("What __init__ does", "What __init__ does"),
        ("word " * 30, "word word word word word word word word word word word…"),
    ],
)
def test_a_title_is_one_short_plain_line(said: str, title: str) -> None:
    assert clean_title(said) == title
    assert len(clean_title(said)) <= 60
