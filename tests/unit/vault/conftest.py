"""What the vault's tests share: one loaded model, indexes that are closed, patient waiting."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.models.remembering_embedder import RememberingEmbedder
from vault.embedder import Embedder
from vault.vault import Vault

IndexMaker = Callable[..., Vault]
NotesIndexer = Callable[[Mapping[str, str]], Vault]


@pytest.fixture(autouse=True)
def _all_notes_are_embedded(embedder: RememberingEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Embed all notes, those too that other tests have embedded: the work is what is tested."""
    monkeypatch.setattr(embedder, "remembers", False)


@pytest.fixture(scope="module")
def index_of_notes(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[NotesIndexer]:
    """Write notes, by their paths, and make an index of them for all tests of a module."""
    made: list[Vault] = []

    def make(notes: Mapping[str, str]) -> Vault:
        root = tmp_path_factory.mktemp("vault")
        for path, text in notes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        made.append(Vault(root, tmp_path_factory.mktemp("index"), (), embedder))
        made[-1].update()
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def make_index(tmp_path: Path, embedder: Embedder) -> Iterator[IndexMaker]:
    """Make indexes over a folder; all are closed when the test ends."""
    made: list[Vault] = []

    def make(root: Path, name: str = "index", exclude: Sequence[str] = ()) -> Vault:
        made.append(Vault(root, tmp_path / name, exclude, embedder))
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def interpreter_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let children find modules in a folder, which no variable can tell them to do."""

    def use(folder: Path) -> None:
        script = tmp_path / "python"
        script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))

    return use


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Wait for a condition, not for a time."""

    def wait(condition: Callable[[], bool], timeout_s: float = 60) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "the condition was never met"
            time.sleep(0.01)

    return wait


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file of the vault `notes` below the test's folder."""

    def write_file(path: str, content: str | bytes) -> Path:
        target = tmp_path / "notes" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode("utf-8") if isinstance(content, str) else content
        target.write_bytes(data)
        return target

    (tmp_path / "notes").mkdir(exist_ok=True)
    return write_file
