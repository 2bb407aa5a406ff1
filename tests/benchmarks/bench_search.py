"""A search from end to end, against its raw parts: query encoding, FTS5, vector scan.

It is what `strata search` does, excerpts included. Once on a small index as it is made, where
some milliseconds of talk with Chroma's process weigh most; then on catalogs of 10,000 and
100,000 passages of real notes whose vectors are drawn at random, since a scan takes as long over
any.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, percentile, unpack_vault
from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.store import VaultIndex
from vault.words import any_of, query_terms

NOTES = 250
SIZES = tuple(map(int, os.environ.get("STRATA_BENCH_CHUNKS", "10000,100000").split(",")))
ROUNDS = 4
QUERIES = (
    "gas price of a transaction",
    "how are validators punished",
    "signature of a typed message",
    "account abstraction",
    "what happens to the base fee when blocks are full",
    "non-fungible token metadata",
    "precompile for elliptic curve pairing",
    "hard fork activation block",
    "storage layout of proxy contracts",
    "who may upgrade a contract?",
)


def run(folder: Path) -> list[Ratio]:
    """Take queries by turns through both ways, at each size."""
    embedder = Embedder()
    try:
        ratios = _as_made(folder, embedder)
        for chunks in SIZES:
            ratios += _as_drawn(folder / str(chunks), chunks, embedder)
        return ratios
    finally:
        embedder.close()


def _as_made(folder: Path, embedder: Embedder) -> list[Ratio]:
    notes = unpack_vault("eips", folder / "eips")
    for note in sorted(notes.rglob("*.md"))[NOTES:]:
        note.unlink()
    index = VaultIndex(notes, folder / "index", embedder=embedder)
    try:
        report = index.update()
        return _compare(index, embedder, report.chunks)
    finally:
        index.close()


def _as_drawn(folder: Path, chunks: int, embedder: Embedder) -> list[Ratio]:
    notes = unpack_vault("tldr", folder / "notes")
    index = VaultIndex(notes, folder / "index", embedder=embedder)
    try:
        fill(notes, index.index_dir, chunks, copies_too=True)
        return _compare(index, embedder, chunks)
    finally:
        index.close()


def _compare(index: VaultIndex, embedder: Embedder, chunks: int) -> list[Ratio]:
    parts = _RawParts(index, embedder)
    for act in (index.excerpts, parts.run):
        act(QUERIES[0])
    whole = [_time(index.excerpts, query) for query in QUERIES * ROUNDS]
    raw = [_time(parts.run, query) for query in QUERIES * ROUNDS]
    detail = (
        f"{chunks} chunks, p50 {median(whole) * 1000:.1f} ms against {median(raw) * 1000:.1f} ms"
    )
    p95 = percentile(whole, 95) / percentile(raw, 95)
    name = f"raw parts, {chunks:,} chunks"
    return [
        Ratio(f"search: p50 / {name}", median(whole) / median(raw), at_most=1.3, detail=detail),
        Ratio(f"search: p95 / {name}", p95, at_most=1.3),
    ]


class _RawParts:
    """What no search can do without, and nothing else."""

    def __init__(self, index: VaultIndex, embedder: Embedder):
        self._embedder = embedder
        self._catalog = Catalog(index.index_dir / "catalog.db", is_writable=False)
        rows = self._catalog.rows("SELECT vector FROM vectors")
        joined = b"".join(bytes(row[0]) for row in rows)
        self._matrix = np.frombuffer(joined, "<f4").reshape(len(rows), -1)

    def run(self, query: str) -> Sequence[int]:
        """Encode, match words, scan vectors."""
        vector = self._embedder.embed_query(query)
        self._catalog.rows(
            "SELECT rowid, bm25(words) AS cost FROM words WHERE words MATCH ?"
            " ORDER BY cost LIMIT 100",
            (any_of(query_terms(query)),),
        )
        # Not `@`: its worker threads spin on for a while and slow the next query's encoding.
        cosines = np.einsum("ij,j->i", self._matrix, vector)
        nearest: Sequence[int] = np.argsort(-cosines)[:100].tolist()
        return nearest


def _time(act: Callable[[str], object], query: str) -> float:
    started = time.perf_counter()
    act(query)
    return time.perf_counter() - started
