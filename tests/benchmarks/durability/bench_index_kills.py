"""A hundred runs of `strata index` that are killed at random moments, and what they lose.

Half of them die while notes are read and embedded, each from nothing; after each, one run to the
end has to embed what is missing and nothing else. The others die while a Chroma store of 20,000
vectors is filled, one after the other on the same index. `STRATA_INDEX_KILLS` sets another number.
"""

import os
import shutil
from pathlib import Path

import numpy as np

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, index_dir_of, unpack_vault
from tests.support.kills.killed_index import DoomedIndex, Kill, seconds, texts_of
from vault.catalog import Catalog
from vault.embedding.models import DIMENSION
from vault.search.exact import ExactScan
from vault.vectors import VectorStore

KILLS = int(os.environ.get("STRATA_INDEX_KILLS", "100"))
STORED = 20_000
NOTES = 120
MOST = 1_000_000
QUERIES = 20


def run(folder: Path) -> list[Ratio]:
    """Kill runs of both kinds, and count those after which anything is not as it has to be."""
    tldr = unpack_vault("tldr", folder / "tldr")
    notes = sorted(tldr.rglob("*.md"))
    reading, of_reading = _while_reading(_take(notes, NOTES, folder / "few"), folder)
    storing, of_storing = _while_storing(_take(notes, STORED, folder / "many"), folder)
    return [
        Ratio("index kills: losing, while embedding", reading, 0, detail=of_reading),
        Ratio("index kills: losing, while filling Chroma", storing, 0, detail=of_storing),
    ]


def _take(found: list[Path], count: int, target: Path) -> Path:
    """Copy so many notes, from all over a vault."""
    target.mkdir()
    for number, note in enumerate(found[:: max(1, len(found) // count)][:count]):
        shutil.copy(note, target / f"{number}-{note.name}")
    return target


def _while_reading(notes: Path, folder: Path) -> tuple[int, str]:
    wanted = texts_of(notes)
    whole_s = seconds(DoomedIndex(folder / "whole", notes).finish)
    losses: list[str] = []
    for seed in range(KILLS // 2):
        index = DoomedIndex(folder / f"home-{seed}", notes)
        index.program.home.mkdir()
        losses += _lost_while_reading(index, wanted, Kill.by_chance(seed, whole_s))
        shutil.rmtree(index.program.home)
    return _told(losses, KILLS // 2, f"{len(wanted)} passages, {whole_s:.0f} s")


def _lost_while_reading(index: DoomedIndex, wanted: set[bytes], kill: Kill) -> list[str]:
    losses = index.die(kill)
    texts, vectors = index.committed()
    report = index.finish()
    now_texts, now_vectors = index.committed()
    missing = len(wanted - vectors)
    found = index.program.json("search", "list files", "--vault", str(index.notes))
    checks = {
        f"{kill}: {len(texts - now_texts)} passages went": not texts - now_texts,
        f"{kill}: {len(vectors - now_vectors)} vectors went": not vectors - now_vectors,
        f"{kill}: passages are missing": now_texts == wanted,
        f"{kill}: texts have no vector": wanted <= now_vectors,
        f"{kill}: {report['embedded_chunks']} embedded, {missing} were missing": (
            report["embedded_chunks"] == missing
        ),
        f"{kill}: nothing is found": bool(found["hits"]),
    }
    return losses + [said for said, is_so in checks.items() if not is_so]


def _while_storing(notes: Path, folder: Path) -> tuple[int, str]:
    home = folder / "stored"
    index = DoomedIndex(home, notes)
    place = index_dir_of(home, notes)
    fill(notes, place, MOST)
    whole_s = seconds(lambda: _change_and_finish(index, 0))
    losses: list[str] = []
    for seed in range(KILLS - KILLS // 2):
        if seed % 5 == 0:
            shutil.rmtree(place / "chroma", ignore_errors=True)
        before = index.committed()[1]
        _change(index, seed + 1)
        losses += index.die(Kill.by_chance(1_000 + seed, whole_s))
        gone = before - index.committed()[1]
        losses += [f"seed {seed}: {len(gone)} vectors went"] if gone else []
    _change_and_finish(index, KILLS)
    losses += _unlike_the_catalog(place)
    return _told(losses, KILLS - KILLS // 2, f"{STORED} vectors, {whole_s:.0f} s")


def _change(index: DoomedIndex, number: int) -> None:
    """Add a note, so that a run has a reason to bring the store in line."""
    (index.notes / f"added-{number}.md").write_text(f"# Added {number}\n\nNumber {number}.\n")


def _change_and_finish(index: DoomedIndex, number: int) -> None:
    _change(index, number)
    index.finish()


def _unlike_the_catalog(place: Path) -> list[str]:
    """Tell where the store that was killed so often answers otherwise than the catalog."""
    catalog = Catalog(place / "catalog.db", is_writable=True)
    store, exact = VectorStore(catalog, place / "chroma"), ExactScan(catalog)
    try:
        store.synchronize()
        drawn = np.random.default_rng(11).standard_normal((QUERIES, DIMENSION), dtype="<f4")
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        shares = [_share(store, exact, vector) for vector in drawn]
        sound = store.size == len(catalog.read_vector_hashes())
    finally:
        store.close()
        catalog.close()
    is_alike = float(np.mean(shares)) > 0.5  # random vectors are the hardest for its graph
    return ([] if sound else ["the store lacks vectors"]) + ([] if is_alike else [f"{shares}"])


def _share(store: VectorStore, exact: ExactScan, vector: "np.ndarray") -> float:
    found = {text_hash for text_hash, _ in store.query(vector, 10)}
    return len(found & {text_hash for text_hash, _ in exact.query(vector, 10)}) / 10


def _told(losses: list[str], kills: int, size: str) -> tuple[int, str]:
    for loss in losses:
        print(f"  {loss}", flush=True)
    return len(losses), f"{kills} kills, {size}"
