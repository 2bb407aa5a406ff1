"""Addresses of servers as people paste them: the requests go to the pages of the API."""

from typing import Any

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program


@pytest.mark.parametrize(
    ("pasted", "query"),
    [
        ("/v1", ""),
        ("/v1/", ""),
        ("/v1/chat/completions", ""),
        ("/v1/chat/completions/", ""),
        ("/v1/models", ""),
        ("/v1/completions", ""),
        ("/v1#top", ""),
        ("/v1/?api-version=1", "?api-version=1"),
        ("/v1/chat/completions?api-version=1&x=a%20b", "?api-version=1&x=a%20b"),
    ],
)
def test_requests_go_to_the_pages_of_the_api(program: Program, pasted: str, query: str) -> None:
    with ModelServer(Answer("In the shed.")) as server:
        place = ("--set", f"chat.apiBase={server.root}{pasted}", "--set", "chat.titles=false")
        argv = ("ask", "Where?", "--mode", "chat", "--model", "openai/scripted", *place)
        answer: dict[str, Any] = program.json(*argv)
        assert answer["answer"] == "In the shed."
        paths = [received.path for received in server.received]
    assert paths[-1] == f"/v1/chat/completions{query}"
    assert f"/v1/models{query}" in paths
