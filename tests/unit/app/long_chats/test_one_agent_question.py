"""One question to the agent in a small chat: it shortens its own request, and not the chat."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.assistant import Assistant
from context.log.entries import DropEntry, TransformEntry, TrimEntry
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.sessions.turns import ask, result_of

ANSWER = "The beans want warm soil, and the barrel holds two hundred litres of rain. " * 20


def talk(assistant: Assistant, turns: int, first: int = 0, **fields: Any) -> str:
    """Ask as many questions in one chat, and return its id."""
    session = fields.pop("session", None)
    for number in range(first, first + turns):
        values = {"mode": "chat", **fields}
        session = result_of(
            ask(assistant, f"Question {number}?", session=session, **values)
        ).session
    assert isinstance(session, str)
    return session


def list_boundaries(assistant: Assistant, session: str) -> list[str]:
    path = assistant.sessions.read(session).path()
    kinds = TransformEntry, DropEntry, TrimEntry
    return [entry.type for entry in path if isinstance(entry, kinds)]


def questions(body: Mapping[str, Any]) -> list[str]:
    found = [message["content"] for message in body["messages"] if message["role"] == "user"]
    texts = [said if isinstance(said, str) else said[-1]["text"] for said in found]
    return [text for text in texts if text.startswith("Question ")]


@pytest.mark.parametrize("threshold", [8_000, 12_000])
@pytest.mark.parametrize("steps", [0, 3])
def test_an_agent_question_in_a_small_chat_loses_no_turn_from_later_requests(
    reading: Assistant, server: ModelServer, threshold: int, steps: int
) -> None:
    reading.settings.set("autoCompactThreshold", threshold)
    turns = threshold // 800
    work = iter(range(steps))

    def reply(body: Body) -> Answer:
        number = next(work, None) if body.get("tools") else None
        if number is None:
            return Answer(ANSWER, chunk_chars=400)
        return Answer("", calls=((f"c{number}", "list_folder", json.dumps({"path": ""})),))

    server.script(reply)
    session = talk(reading, turns)
    talk(reading, 1, turns, session=session, mode="agent")
    assert list_boundaries(reading, session) == []
    talk(reading, 1, turns + 1, session=session)
    assert questions(server.bodies[-1]) == [f"Question {n}?" for n in range(turns + 2)]
    assert list_boundaries(reading, session) == []
