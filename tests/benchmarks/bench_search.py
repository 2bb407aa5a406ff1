"""A search from end to end, against its raw parts: query encoding, FTS5, vector scan."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from tests.benchmarks.measure import Ratio, percentile, unpack_vault
from vault.embedder import Embedder
from vault.store import VaultIndex
from vault.words import any_of, query_terms

NOTES = 250
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
    """Index a part of a vault, then take queries by turns through both ways."""
    notes = unpack_vault("eips", folder / "eips")
    for note in sorted(notes.rglob("*.md"))[NOTES:]:
        note.unlink()
    embedder = Embedder()
    index = VaultIndex(notes, folder / "index", embedder=embedder)
    try:
        report = index.update()
        return _compare(index, embedder, report.chunks)
    finally:
        index.close()
        embedder.close()


def _compare(index: VaultIndex, embedder: Embedder, chunks: int) -> list[Ratio]:
    parts = _RawParts(index, embedder)
    whole = [_time(index.search, query) for query in QUERIES * ROUNDS]
    raw = [_time(parts.run, query) for query in QUERIES * ROUNDS]
    detail = (
        f"{chunks} chunks, p50 {median(whole) * 1000:.1f} ms against {median(raw) * 1000:.1f} ms"
    )
    p95 = percentile(whole, 95) / percentile(raw, 95)
    return [
        Ratio("search: p50 / raw parts", median(whole) / median(raw), at_most=1.3, detail=detail),
        Ratio("search: p95 / raw parts", p95, at_most=1.3),
    ]


class _RawParts:
    """What no search can do without, and nothing else."""

    def __init__(self, index: VaultIndex, embedder: Embedder):
        from vault.catalog import Catalog

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
