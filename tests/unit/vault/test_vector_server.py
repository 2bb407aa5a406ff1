from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from context.json_codec import encode
from tests.support.servers.chroma_server import ChromaServer
from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.embedding.models import DIMENSION
from vault.errors import VectorStoreFailed
from vault.options import IndexOptions, VectorServer
from vault.vault import Vault
from vault.vectors import VectorStore

Until = Callable[[Callable[[], bool]], None]

MATRIX = np.random.default_rng(7).normal(size=(700, DIMENSION)).astype("<f4")
MATRIX /= np.linalg.norm(MATRIX, axis=1, keepdims=True)
HASHES = [index.to_bytes(32, "big") for index in range(len(MATRIX))]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def open_store(tmp_path: Path, server: ChromaServer) -> Iterator[Callable[..., VectorStore]]:
    made: list[tuple[Catalog, VectorStore]] = []

    def make(name: str = "a", count: int = 700, url: str = server.url) -> VectorStore:
        catalog = Catalog(tmp_path / f"{name}.db", is_writable=True)
        with catalog.transaction():
            catalog.add_vectors(HASHES[:count], [row.tobytes() for row in MATRIX[:count]])
        store = VectorStore(catalog, tmp_path / name, VectorServer(url, token="a key"))
        made.append((catalog, store))
        return store

    yield make
    for catalog, store in made:
        store.close()
        catalog.close()


def nearest(store: VectorStore, row: int, k: int = 5) -> list[bytes]:
    return [text_hash for text_hash, _ in store.query(MATRIX[row], k)]


def test_a_server_holds_what_the_catalog_holds_and_nothing_lies_here(
    open_store: Callable[..., VectorStore], tmp_path: Path
) -> None:
    store = open_store()
    store.synchronize()
    assert store.size == 700  # more than it gives or takes at once
    exact = [HASHES[i] for i in np.argsort(-(MATRIX @ MATRIX[9]), kind="stable")[:20]]
    assert len(set(nearest(store, 9, 20)) & set(exact)) >= 18
    assert not (tmp_path / "a").exists()


def test_two_indexes_on_one_server_know_nothing_of_each_other(
    open_store: Callable[..., VectorStore],
) -> None:
    one, other = open_store("one", 400), open_store("other", 50)
    one.synchronize()
    other.synchronize()
    assert (one.size, other.size) == (400, 50)
    assert nearest(one, 399)[0] == HASHES[399]
    assert set(nearest(other, 399, 60)) == set(HASHES[:50])


def test_what_a_server_has_is_not_sent_again(open_store: Callable[..., VectorStore]) -> None:
    first = open_store()
    first.synchronize()
    first.close()
    told: list[int] = []
    again = open_store()
    again.synchronize(told.append)
    assert told == []
    assert nearest(again, 3)[0] == HASHES[3]


def test_a_collection_that_was_deleted_is_filled_again(
    open_store: Callable[..., VectorStore],
) -> None:
    store = open_store()
    store.synchronize()
    store.discard()
    with pytest.raises(VectorStoreFailed, match="not ready"):
        store.query(MATRIX[0], 1)
    told: list[int] = []
    store.synchronize(told.append)
    assert told == [0, 512]
    assert nearest(store, 3)[0] == HASHES[3]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:9", "store at 127.0.0.1 cannot be used"),
        ("ftp://127.0.0.1", "no address of a Chroma server"),
        ("http://127.0.0.1:none", "no address of a Chroma server"),
    ],
)
def test_a_server_that_does_not_answer_is_said_at_once(
    open_store: Callable[..., VectorStore], url: str, says: str
) -> None:
    store = open_store("lost", 9, url)
    with pytest.raises(VectorStoreFailed, match=says):
        store.synchronize()
    assert "Search goes on without it" in store.failure


def test_tenant_and_database_are_part_of_the_address() -> None:
    address = VectorServer("https://host:1?tenant=mine&database=notes", "key").to_dict()
    assert (address["tenant"], address["database"]) == ("mine", "notes")
    assert (address["ssl"], address["port"], address["token"]) == (True, 1, "key")
    assert VectorServer("https://host").to_dict()["port"] == 443
    assert "key" not in repr(VectorServer("https://host", "key"))


def test_an_index_is_searched_by_a_server_and_without_it_when_it_is_gone(
    embedder: Embedder, small_vault: Path, tmp_path: Path, until: Until
) -> None:
    with ChromaServer(tmp_path / "data") as server:
        options = IndexOptions(server=VectorServer(server.url))
        index = Vault(small_vault, tmp_path / "index", (), embedder, lambda: options)
        try:
            index.update()
            checks = {name: detail for name, _, detail in index.health()}
            assert checks["vector store"].endswith(
                "in Chroma at 127.0.0.1, in line with the catalog"
            )
            before = index.search("rain barrel", 3)
            assert before.warnings == ()
            assert not (tmp_path / "index" / "chroma").exists()

            server.stop()
            assert index.search("rain barrel", 3).hits == before.hits
            until(lambda: bool(index.search("rain barrel", 3).warnings))
            assert "Search goes on without it" in index.search("rain barrel", 3).warnings[-1]
            assert {name: ok for name, ok, _ in index.health()}["vector store"] is False
            (small_vault / "New.md").write_text("# Snow\n\nSnow is slow.\n")
            report = index.update()
            assert report.embedded_chunks == 1
            assert "cannot be used" in encode(report)["warnings"][0]

            server.start()
            assert {name: ok for name, ok, _ in index.health()}["vector store"] is True
            assert index.search("slow snow", 1).warnings == ()
        finally:
            index.close()


def test_a_server_elsewhere_is_not_asked_while_offline(
    embedder: Embedder, small_vault: Path, tmp_path: Path, until: Until
) -> None:
    server = VectorServer("https://vectors.invalid", is_refused=True)
    index = Vault(
        small_vault, tmp_path / "index", (), embedder, lambda: IndexOptions(server=server)
    )
    try:
        index.update()
        until(lambda: bool(index.search("rain barrel", 3).warnings))
        assert "privacy.offline" in index.search("rain barrel", 3).warnings[-1]
        assert index.search("rain barrel", 3).hits
        assert index._handle.store is not None
        assert index._handle.store.pid is None
    finally:
        index.close()
