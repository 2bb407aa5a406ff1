import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vault.catalog import Catalog
from vault.embedding.models import DIMENSION
from vault.errors import VectorStoreFailed
from vault.search.exact import ExactScan
from vault.vectors import VectorStore

RNG = np.random.default_rng(7)
MATRIX = RNG.normal(size=(700, DIMENSION)).astype("<f4")
MATRIX /= np.linalg.norm(MATRIX, axis=1, keepdims=True)
HASHES = [index.to_bytes(32, "big") for index in range(len(MATRIX))]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    made = Catalog(tmp_path / "catalog.db", is_writable=True)
    add(made, 0, 600)
    yield made
    made.close()


@pytest.fixture
def store(catalog: Catalog, tmp_path: Path) -> Iterator[VectorStore]:
    made = VectorStore(catalog, tmp_path / "chroma")
    yield made
    made.close()


def add(catalog: Catalog, first: int, last: int) -> None:
    with catalog.transaction():
        catalog.add_vectors(HASHES[first:last], [row.tobytes() for row in MATRIX[first:last]])


def nearest(matrix: np.ndarray, query: np.ndarray, k: int) -> list[bytes]:
    return [HASHES[i] for i in np.argsort(-(matrix @ query), kind="stable")[:k]]


def test_the_exact_scan_finds_the_nearest_and_sees_what_is_added(catalog: Catalog) -> None:
    scan = ExactScan(catalog)
    found = scan.query(MATRIX[650], 10)
    assert [text_hash for text_hash, _ in found] == nearest(MATRIX[:600], MATRIX[650], 10)
    add(catalog, 600, 700)
    assert scan.query(MATRIX[650], 1)[0] == (HASHES[650], pytest.approx(1.0, abs=1e-5))


def test_the_exact_scan_grows_note_by_note(catalog: Catalog) -> None:
    scan = ExactScan(catalog)
    before = scan.query(MATRIX[0], 600)
    for count in range(600, 700, 7):
        add(catalog, count, min(count + 7, 700))
        found = scan.query(MATRIX[count], 1)
        assert found[0] == (HASHES[count], pytest.approx(1.0, abs=1e-5))
    assert dict(before).items() <= dict(scan.query(MATRIX[0], 700)).items()
    assert len(scan.query(MATRIX[0], 10_000)) == 700


def test_the_exact_scan_forgets_what_was_dropped(catalog: Catalog) -> None:
    scan = ExactScan(catalog)
    scan.query(MATRIX[0], 1)
    with catalog.transaction():
        catalog.drop_unused_vectors()  # no passage uses any of them
    assert scan.query(MATRIX[0], 5) == []


def test_chroma_finds_what_the_exact_scan_finds(store: VectorStore, catalog: Catalog) -> None:
    with pytest.raises(VectorStoreFailed, match="not ready"):
        store.query(MATRIX[5], 3)
    store.synchronize()
    assert store.is_ready
    exact = ExactScan(catalog)
    for row in (5, 77, 650):
        by_chroma, by_scan = store.query(MATRIX[row], 20), exact.query(MATRIX[row], 20)
        assert len({h for h, _ in by_chroma} & {h for h, _ in by_scan}) >= 18
        assert by_chroma[0][0] == by_scan[0][0]
        assert by_chroma[0][1] == pytest.approx(by_scan[0][1], abs=1e-3)


def test_a_store_that_lags_or_has_too_much_is_brought_in_line(
    store: VectorStore, catalog: Catalog
) -> None:
    store.synchronize()
    with catalog.transaction():
        catalog.run("DELETE FROM vectors WHERE hash < ?", (HASHES[100],))
    add(catalog, 600, 700)
    store.synchronize()
    found = {text_hash for text_hash, _ in store.query(MATRIX[0], 1000)}
    assert found <= set(HASHES[100:700])
    assert store.size == 600
    assert store.query(MATRIX[650], 1)[0][0] == HASHES[650]


def test_a_killed_child_is_started_again(store: VectorStore) -> None:
    store.synchronize()
    killed = store.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(VectorStoreFailed):
        store.query(MATRIX[0], 1)
    store.synchronize()
    assert store.pid not in {None, killed}
    assert store.query(MATRIX[3], 1)[0][0] == HASHES[3]


@pytest.mark.parametrize("damage", ["database", "folder", "everything"])
def test_a_broken_store_is_thrown_away_and_filled_again(
    catalog: Catalog, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "chroma"
    first = VectorStore(catalog, folder)
    first.synchronize()
    first.close()
    match damage:
        case "database":
            (folder / "chroma.sqlite3").write_bytes(b"no database" * 5000)
        case "folder":
            for part in [entry for entry in folder.iterdir() if entry.is_dir()]:
                for file in part.iterdir():
                    file.write_bytes(os.urandom(64))
        case _:
            shutil.rmtree(folder)
    again = VectorStore(catalog, folder)
    try:
        again.synchronize()
        assert again.size == 600
        assert again.query(MATRIX[9], 1)[0][0] == HASHES[9]
    finally:
        again.close()


def test_a_store_that_refuses_a_question_is_filled_anew(store: VectorStore, tmp_path: Path) -> None:
    store.synchronize()
    with pytest.raises(VectorStoreFailed, match="broke"):
        store.query(MATRIX[0][:5], 1)  # of another dimension
    assert not store.is_ready
    store.synchronize()
    assert store.query(MATRIX[0], 1)[0][0] == HASHES[0]


def test_a_store_that_cannot_be_made_says_so(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    hopeless = VectorStore(catalog, tmp_path / "file" / "chroma")
    try:
        with pytest.raises(VectorStoreFailed, match="Search goes on without it"):
            hopeless.synchronize()
    finally:
        hopeless.close()


def test_its_files_are_for_their_owner_alone(store: VectorStore, tmp_path: Path) -> None:
    store.synchronize()
    modes = [path.stat().st_mode & 0o077 for path in (tmp_path / "chroma").rglob("*")]
    assert modes
    assert not any(modes)


def test_what_is_embedded_while_the_store_is_filled_gets_in_too(
    catalog: Catalog, store: VectorStore
) -> None:
    added: list[int] = []

    def embed_more(done: int) -> None:
        if not added:
            added.append(done)
            add(catalog, 600, 700)

    store.synchronize(embed_more)
    assert store.size == 700
    assert store.query(MATRIX[650], 1)[0][0] == HASHES[650]


def test_who_asks_for_the_place_it_has_does_not_wait_for_a_fill(
    catalog: Catalog, store: VectorStore
) -> None:
    asked: list[bool] = []

    def ask_meanwhile(_done: int) -> None:
        asking = threading.Thread(target=store.use, args=(None,))
        asking.start()
        asking.join(30)
        asked.append(asking.is_alive())

    store.synchronize(ask_meanwhile)
    assert asked
    assert not any(asked)
