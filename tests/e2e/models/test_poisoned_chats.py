"""Chats whose logs hold what a model once sent wrongly: a strict server goes on with each."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.strict_server import strict
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder

Parts = list[dict[str, Any]]
TIME = "2026-01-01T00:00:00Z"


def said(content: str | Parts, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": content}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thought(words: str, **fields: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": words, **fields}


def call(name: str = "list_folder", id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": id, "name": name, "arguments": arguments}


def result(id: str = "c1", content: str = "Two notes.") -> dict[str, Any]:
    part = {"type": "tool_result", "tool_call_id": id, "content": content, "is_error": False}
    return said([part], "tool")


def called(*calls: dict[str, Any], before: Parts | None = None) -> list[dict[str, Any]]:
    """A turn of an agent: calls with their results, and an answer."""
    results = [result(one["id"]) for one in calls]
    return [said([*(before or []), *calls]), *results, said("There are two.")]


def nest(levels: int) -> Any:
    return [nest(levels - 1)] if levels else []


POISONS: dict[str, list[dict[str, Any]]] = {
    "an empty answer": [said("")],
    "a blank answer": [said(" \n\t ")],
    "an answer without parts": [said([])],
    "an answer with a blank part": [said([text("  ")])],
    "an answer that is thinking only": [said([thought("Hm.")])],
    "an empty answer behind a call": [said([call()]), result(), said("")],
    "a blank text beside a call": called(call(), before=[text("\n\n")]),
    "thinking beside a call": called(call(), before=[thought("Hm.")]),
    "signed thinking beside a call": called(call(), before=[thought("Hm.", signature="s")]),
    "a channel in a name": called(call("list_tags<|channel|>commentary")),
    "a name of channels only": called(call("<|channel|>commentary")),
    "an empty name": called(call("")),
    "a name of 300 characters": called(call("x" * 300)),
    "a name with blanks and signs": called(call("list notes/of: Überblick")),
    "an id of strange signs": called(call(id="call:1/2 <x>")),
    "an empty id": called(call(id="")),
    "an id of 300 characters": called(call(id="i" * 300)),
    "two strange ids": called(call(id="a b"), call(id="a c")),
    "arguments of 80 levels": called(call(deep=nest(80))),
    "a call without a result": [said([call()]), said("There are two.")],
    "the last call without a result": [said([call()])],
    "a result without a call": [result(), said("There are two.")],
    "a result for another call": [said([call()]), result("c2"), said("There are two.")],
    "the same result twice": [said([call()]), result(), result(), said("There are two.")],
    "a result in the wrong order": [
        said([call(id="c1"), call(id="c2")]),
        result("c2"),
        result("c1"),
        said("There are two."),
    ],
    "an empty result": [said([call()]), result(content=""), said("There are none.")],
    "two answers": [said("One."), said("Two.")],
    "no answer": [],
    "another question": [said([text("And?"), text("  ")], "user")],
    "a blank question": [said(" ", "user"), said("What?")],
    "a question of blank parts": [said([text(""), text(" ")], "user"), said("What?")],
    # Kept aside until all others were mended
    "a name of pictures": called(call("\N{WRENCH}\N{WRENCH}")),
    "an answer of no-break spaces": [said("\N{NO-BREAK SPACE}" * 3)],
    "blank thinking beside a bad call": called(call("a b", id="c:1"), before=[thought(" ")]),
}


@pytest.fixture
def assistant(embedder: Embedder, small_vault: Path) -> Iterator[Assistant]:
    assistant = build(Paths.find(), embedder=embedder)
    assistant.open_vault(small_vault, remember=False)
    yield assistant
    assistant.close()


def write_chat(assistant: Assistant, messages: list[dict[str, Any]]) -> None:
    """Write the log of a chat by hand: a question, and the messages behind it."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 2, "id": "old", "timestamp": TIME, "vault": None}
    ]
    parent, turn = None, 1
    for number, message in enumerate([said("Where is the barrel?", "user"), *messages]):
        turn += number > 0 and message["role"] == "user"
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": TIME}
        status = {"model": "m", "usage": None, "status": "complete"}
        if message["role"] != "assistant":
            status = {}
        lines.append({**entry, **message, "turnId": f"t{turn}", **status})
        parent = entry["id"]
    folder = assistant.paths.sessions
    folder.mkdir(parents=True)
    (folder / "old.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("poison", POISONS)
def test_a_chat_that_was_poisoned_goes_on(assistant: Assistant, poison: str, mode: str) -> None:
    write_chat(assistant, POISONS[poison])
    with ModelServer(strict()) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        for question in ("And now?", "And then?"):
            found = result_of(ask(assistant, question, mode=mode, session="old"))
            assert (found.answer.end.status, found.answer.text) == ("complete", "All is well.")
        assert len(server.bodies) == 2  # the first try of each was taken
        full = assistant.history.read_last_context("old", full=True)["wire"]
        assert full == server.bodies[-1]


def test_what_is_well_is_sent_as_it_is(assistant: Assistant) -> None:
    write_chat(assistant, called(call("read_note", path="A b.md"), before=[text("I look.")]))
    with ModelServer(Answer("Yes.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        ask(assistant, "And now?", mode="chat", session="old")
        sent = server.bodies[-1]["messages"][2:5]
    function = {"name": "read_note", "arguments": '{"path":"A b.md"}'}
    assert sent == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Two notes."},
        {"role": "assistant", "content": "There are two."},
    ]
