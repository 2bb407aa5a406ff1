"""What the tests of the use-cases share: a real assistant, notes, a scripted model."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.cli.search import open_notes
from app.paths import Paths
from app.wiring import build
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.hidden_notes import Chat, write_notes
from vault.embedder import Embedder


@pytest.fixture
def assistant(embedder: Embedder) -> Iterator[Assistant]:
    assistant = build(Paths.find(), embedder=embedder)
    yield assistant
    assistant.close()


@pytest.fixture(autouse=True)
def _command_line_shares_the_embedder(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the command line that runs in this process the embedder of the other tests."""
    monkeypatch.setattr("app.cli.verbs.build", partial(build, embedder=embedder))
    monkeypatch.setattr("app.cli.search.open_notes", partial(open_notes, embedder=embedder))


@pytest.fixture
def reading(assistant: Assistant, small_vault: Path) -> Assistant:
    """An assistant with the garden's notes open, not indexed yet."""
    assistant.open_vault(small_vault, remember=False)
    return assistant


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer(Answer("Understood.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        yield server


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The folder with the notes that are hidden later."""
    return write_notes(tmp_path / "vault")


@pytest.fixture
def chatting(assistant: Assistant, server: ModelServer, vault: Path) -> Chat:
    """A chat over these notes."""
    assistant.open_vault(vault, remember=False)
    assistant.agents.connect(None, "all")
    return Chat(assistant, server)
