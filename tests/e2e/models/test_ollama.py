"""Ollama through its own interface, with the context length that the settings say."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.models.model_server import Answer, ModelServer, Played
from tests.support.processes.program import Program


@pytest.fixture
def ollama() -> Iterator[ModelServer]:
    with ModelServer(Answer("In the shed."), ollama_context=32_768) as server:
        yield server


def asked(program: Program, *argv: str) -> dict[str, Any]:
    answer: dict[str, Any] = program.json("ask", "Where?", *argv)
    return answer


@pytest.mark.parametrize(
    ("model", "path"), [("ollama/llama3", ""), ("ollama_chat/llama3", "/v1"), ("llama3", "/v1")]
)
def test_a_model_is_loaded_with_the_window(
    program: Program, ollama: ModelServer, model: str, path: str
) -> None:
    place = ("--set", f"chat.apiBase={ollama.root}{path}", "--set", "chat.localContext=8192")
    answer = asked(program, "--mode", "chat", "--model", model, *place)
    assert answer["answer"] == "In the shed."
    (body,) = ollama.bodies
    chat = next(r for r in ollama.received if r.body and r.path != "/api/show")
    assert (chat.path, body["model"]) == ("/api/chat", "llama3")
    context = answer["context"]
    assert body["options"]["num_ctx"] == context["window"] == context["model_limit"] == 8_192
    assert "authorization" not in chat.headers


def test_the_length_that_ollama_reports_is_believed(program: Program, ollama: ModelServer) -> None:
    place = ("--set", f"chat.apiBase={ollama.root}", "--set", "chat.localContext=100000")
    answer = asked(program, "--mode", "chat", "--model", "llama3", *place)
    assert answer["context"]["window"] == 32_768
    assert ollama.bodies[-1]["options"]["num_ctx"] == 32_768


def test_tools_are_called_also_without_arguments(with_notes: Program, ollama: ModelServer) -> None:
    calls = (("", "list_folder", "{}"), ("", "read_note", '{"path": "Watering.md"}'))
    ollama.script(Answer("", calls=calls), Answer("Behind the shed."))
    place = ("--set", f"chat.apiBase={ollama.url}", "--model", "llama3")
    answer = asked(with_notes, "--mode", "agent", "--no-index", *place)
    assert answer["answer"] == "Behind the shed."
    told = [(tool["name"], tool["status"]) for tool in answer["tools"]]
    assert told == [("list_folder", "ok"), ("read_note", "ok")]
    sent = ollama.bodies[-1]["messages"]
    assert [message["role"] for message in sent[-3:]] == ["assistant", "tool", "tool"]
    assert "210 litres" in json.dumps(sent[-1])


@pytest.mark.parametrize("cut_at", [None, 5])
def test_an_error_behind_text_keeps_its_reason(
    program: Program, ollama: ModelServer, cut_at: int | None
) -> None:
    line = {"model": "llama3", "created_at": "", "message": {"role": "assistant", "content": "In"}}
    said = json.dumps({**line, "done": False}).encode() + b"\n"
    failed = b'{"error":"the model needs more memory"}\n'
    steps = [said + failed] if cut_at is None else [said, failed[:cut_at], failed[cut_at:]]
    ollama.script(Played(tuple(steps), content_type="application/x-ndjson"))
    place = ("--set", f"chat.apiBase={ollama.root}", "--model", "llama3")
    answer = asked(program, "--mode", "chat", *place)
    assert (answer["answer"], answer["status"]) == ("In", "interrupted")
    assert "the model needs more memory" in answer["warnings"][0]


def test_a_context_length_out_of_range_is_refused(program: Program) -> None:
    done = program.run("settings", "set", "chat.localContext", "2047", "--json")
    assert done.error["code"] == "bad_setting"
    assert "from 2,048 to 2,000,000" in done.error["message"]
