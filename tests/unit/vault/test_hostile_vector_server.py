"""A vector server that sends what should not be believed: nothing of it is built or run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.servers.hostile_chroma import HostileChroma, write_trap
from vault.catalog import Catalog
from vault.embedding.models import DIMENSION
from vault.errors import VectorStoreFailed
from vault.options import VectorServer
from vault.vectors import VectorStore

COUNT = 250
HASHES = [number.to_bytes(32, "big") for number in range(COUNT)]
VECTORS = np.eye(COUNT, DIMENSION, dtype="<f4")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The file that exists once code of the server's choice has run."""
    return tmp_path / "ran"


@pytest.fixture
def server(tmp_path: Path, marker: Path) -> Iterator[HostileChroma]:
    with HostileChroma(write_trap(tmp_path / "vault" / "model", marker)) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path, server: HostileChroma) -> Iterator[VectorStore]:
    catalog = Catalog(tmp_path / "catalog.db", is_writable=True)
    with catalog.transaction():
        catalog.add_vectors(HASHES, [row.tobytes() for row in VECTORS])
    store = VectorStore(catalog, tmp_path / "store", VectorServer(server.url))
    yield store
    store.close()
    catalog.close()


def test_an_embedding_function_that_a_server_names_is_never_built(
    store: VectorStore, server: HostileChroma, marker: Path
) -> None:
    store.synchronize()
    assert store.size == COUNT
    assert [text_hash for text_hash, _ in store.query(VECTORS[0], 3)] == HASHES[:3]
    assert any(path.endswith("/upsert") for path in server.paths)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("POST get", {"ids": ["not a hash"], "include": []}),
        ("POST get", {"ids": [7], "include": []}),
        ("POST get", {"ids": ["ab", "é" * 64], "include": []}),
        ("POST get", {"include": []}),
        ("POST get", []),
        ("GET pre-flight-checks", {"max_batch_size": 0}),
        ("GET pre-flight-checks", {"max_batch_size": -3}),
        ("GET pre-flight-checks", {"max_batch_size": "many"}),
        ("GET collections", {"error": "no"}),
        ("GET collections", [{"name": 7}]),
        ("POST collections", []),
        ("POST collections", {"name": "x"}),
    ],
)
def test_a_server_that_talks_nonsense_cannot_be_used(
    store: VectorStore, server: HostileChroma, marker: Path, place: str, answer: Any
) -> None:
    server.answers[place] = answer
    with pytest.raises(VectorStoreFailed, match=r"The vector store at .* cannot be used"):
        store.synchronize()
    assert not marker.exists()


def test_a_server_that_repeats_a_page_is_not_read_for_ever(
    store: VectorStore, server: HostileChroma
) -> None:
    server.answers["POST get"] = {"ids": [HASHES[0].hex()], "include": []}
    store.synchronize()
    assert len([path for path in server.paths if path.endswith("/get")]) == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"ids": [[HASHES[0].hex()]], "distances": [["near"]]},
        {"ids": [[HASHES[0].hex()]], "distances": [[None]]},
        {"ids": [[HASHES[0].hex()]], "distances": [[0.1, 0.2]]},
        {"ids": [["zz"]], "distances": [[0.1]]},
        {"ids": [[{}]], "distances": [[0.1]]},
        {"ids": [], "distances": []},
        {"ids": None, "distances": None},
        {},
        7,
    ],
)
def test_what_a_search_returns_is_checked(
    store: VectorStore, server: HostileChroma, answer: Any
) -> None:
    store.synchronize()
    server.answers["POST query"] = answer
    with pytest.raises(VectorStoreFailed, match="The vector store broke"):
        store.query(VECTORS[0], 3)
