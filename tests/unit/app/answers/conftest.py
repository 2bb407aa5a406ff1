"""Questions to notes that a module writes, asked without a model."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.turn_answer import TurnAnswer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder

Asking = Callable[[str], TurnAnswer]


@pytest.fixture(scope="module")
def answer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Asking]:
    """Ask about the notes in `NOTES` of the module, in a chat of its own for each question."""
    notes: Mapping[str, str] = request.module.NOTES
    folder = tmp_path_factory.mktemp("notes")
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    home = {HOME_VARIABLE: str(tmp_path_factory.mktemp("home"))}
    assistant = _open(home, folder, embedder)
    yield lambda question: result_of(ask(assistant, question, model="extractive")).answer
    assistant.close()


def _open(home: dict[str, str], folder: Path, embedder: Embedder) -> Assistant:
    assistant = build(Paths.find(home), embedder=embedder)
    assistant.open_vault(folder, remember=False)
    list(assistant.index(CancelToken()))
    return assistant
