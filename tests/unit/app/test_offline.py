"""Offline: with networking denied, nothing tries to leave this computer, in any chain."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed, describe
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import CompactionEnded
from chains.llm.urls import is_loopback
from chains.model import _litellm
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder

QUESTION = "How many litres does the barrel hold?"
REMOTE = (
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "cohere/command-r",
)


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Deny the network, and return the hosts that something tried to look up or connect to."""
    _litellm()  # or its import would go on in the background when a test ends
    tried: list[str] = []
    lookup, connect = socket.getaddrinfo, socket.socket.connect

    def deny(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
        if not is_loopback(name):
            tried.append(name)
            raise OSError("the network is denied")

    def looked_up(host: Any, *rest: Any, **options: Any) -> Any:
        deny(host)
        return lookup(host, *rest, **options)

    def connected(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            deny(address[0])
        connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket.socket, "connect", connected)
    return tried


@pytest.fixture
def offline(
    embedder: Embedder, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Assistant]:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "COHERE"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-of-nobody")
    overrides = {
        "privacy.offline": True,
        "retrieval.rewrite": True,
        "vectorStore.url": "https://vectors.invalid",
    }
    with closing(build(Paths.find(), overrides, embedder)) as assistant:
        assistant.open_vault(small_vault, remember=False)
        yield assistant


@pytest.mark.parametrize("mode", ["chat", "vault", "agent"])
def test_offline_no_chain_calls_another_computer(
    offline: Assistant, attempts: list[str], mode: str
) -> None:
    for model in REMOTE:
        with pytest.raises(TurnFailed) as failed:
            ask(offline, QUESTION, mode=mode, model=model)
        info = describe(failed.value)
        assert info.code == "offline"
        assert "Offline is on" in info.message
    assert attempts == []
    assert offline.ledger.list_calls() == []


def test_offline_an_address_of_another_computer_is_asked_for_nothing(
    offline: Assistant, attempts: list[str]
) -> None:
    offline.settings.set("chat.apiBase", "https://models.invalid/v1")
    offline.settings.set("chat.model", "named")
    offline.model_setup.list_choices()
    with pytest.raises(TurnFailed) as failed:
        ask(offline, QUESTION)
    assert describe(failed.value).code == "offline"
    assert attempts == []


def test_offline_summaries_and_later_questions_stay_here_too(
    offline: Assistant, attempts: list[str]
) -> None:
    with ModelServer(Answer("The barrel holds 210 litres [1]. " * 30)) as server:
        offline.settings.set("chat.apiBase", server.url)
        offline.settings.set("chat.model", "local")
        first = result_of(ask(offline, QUESTION))
        result_of(ask(offline, "And in winter?", session=first.session))
        assert first.session is not None
        offline.settings.set("chat.apiBase", "")
        offline.settings.set("chat.summaryModel", "openai/gpt-4o")
        *_, last = offline.compact(first.session, CancelToken())
    assert isinstance(last, CompactionEnded)
    assert attempts == []
    assert {call["host"] for call in offline.ledger.list_calls()} == {"127.0.0.1"}
