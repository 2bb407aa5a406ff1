"""Indexes of notes whose texts are not embedded, since views only use the catalog."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from vault.embedder import Embedder
from vault.errors import EmbedderFailed
from vault.vault import Vault

WordIndexer = Callable[[Mapping[str, str]], Vault]


@pytest.fixture(scope="module")
def index_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordIndexer]:
    """Write notes, by their paths, and read them into an index for all tests of a module."""
    made: list[Vault] = []

    def make(notes: Mapping[str, str]) -> Vault:
        root = tmp_path_factory.mktemp("vault")
        for path, text in notes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        made.append(Vault(root, tmp_path_factory.mktemp("index"), (), NoEmbedder()))
        update_words(made[-1])
        return made[-1]

    yield make
    for index in made:
        index.close()


def update_words(vault: Vault) -> None:
    """Read the notes into an index, and embed none."""
    with suppress(EmbedderFailed):
        vault.update()
    assert vault.note_count


class NoEmbedder(Embedder):
    """An embedder without a process, which embeds nothing."""

    def start(self, passages: int = 0) -> None:
        """Start nothing."""

    def embed(self, *_args: Any, **_options: Any) -> Iterator[Any]:
        """Raise an error in place of each batch."""
        raise EmbedderFailed("This test embeds nothing.")
