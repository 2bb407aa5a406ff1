"""A search through the installed program, against its raw parts: encoding, FTS5, vector scan.

The program runs as it does for an editor, and each query goes to it and back. Once on a small index
as it is made, where what surrounds the parts weighs most; then on catalogs of 1,000, 10,000 and
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
from tests.benchmarks.measure import Ratio, SearchedVault, index_dir_of, percentile, unpack_vault
from vault.catalog import CATALOG_FILE, Catalog
from vault.embedder import Embedder
from vault.notes.keywords import build_query_terms, match_any

NOTES = 250
SIZES = tuple(map(int, os.environ.get("STRATA_BENCH_CHUNKS", "1000,10000,100000").split(",")))
ROUNDS = 4
K = 8
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
        ratios = _compare(_as_made(folder), embedder)
        for chunks in SIZES:
            ratios += _compare(fill_vault(folder / str(chunks), chunks), embedder)
        return ratios
    finally:
        embedder.close()


def _as_made(folder: Path) -> SearchedVault:
    notes = unpack_vault("eips", folder / "eips")
    for note in sorted(notes.rglob("*.md"))[NOTES:]:
        note.unlink()
    return SearchedVault(notes, folder / "home")


def fill_vault(folder: Path, chunks: int) -> SearchedVault:
    """Fill a catalog; one more note, which is really embedded, gets all of it into Chroma."""
    notes = unpack_vault("tldr", folder / "notes")
    fill(notes, index_dir_of(folder / "home", notes), chunks, copies_too=True)
    for note in set(notes.rglob("*.md")) - _indexed(folder / "home", notes):
        note.unlink()
    (notes / "one-more.md").write_text("# One more\n\nA note about the gas price.\n")
    return SearchedVault(notes, folder / "home")


def _indexed(home: Path, notes: Path) -> set[Path]:
    """Give the notes that the catalog knows: filling it ends at a number of passages."""
    catalog = Catalog(index_dir_of(home, notes) / CATALOG_FILE, is_writable=False)
    try:
        return {notes / row[0] for row in catalog.rows("SELECT path FROM files")}
    finally:
        catalog.close()


def _compare(vault: SearchedVault, embedder: Embedder) -> list[Ratio]:
    parts = _RawParts(vault.catalog, embedder)

    def ask(query: str) -> object:
        return vault.search(query, K)

    try:
        for act in (ask, parts.run):
            act(QUERIES[0])
        whole = [_time(ask, query) for query in QUERIES * ROUNDS]
        raw = [_time(parts.run, query) for query in QUERIES * ROUNDS]
    finally:
        parts.close()
        vault.close()
    chunks = parts.count
    name = f"raw parts, {chunks:,} chunks"
    return [
        _divide(f"search: p50 / {name}", median(whole), median(raw)),
        _divide(f"search: p95 / {name}", percentile(whole, 95), percentile(raw, 95)),
    ]


def _divide(name: str, ours_s: float, raw_s: float) -> Ratio:
    detail = f"{ours_s * 1000:.1f} ms against {raw_s * 1000:.1f} ms"
    return Ratio(name, ours_s / raw_s, at_most=1.3, detail=detail)


class _RawParts:
    """What no search can do without, and nothing else."""

    def __init__(self, catalog: Path, embedder: Embedder):
        self._embedder = embedder
        self._catalog = Catalog(catalog, is_writable=False)
        rows = self._catalog.rows("SELECT vector FROM vectors")
        self.count = int(self._catalog.rows("SELECT count(*) FROM chunks")[0][0])
        joined = b"".join(bytes(row[0]) for row in rows)
        self._matrix = np.frombuffer(joined, "<f4").reshape(len(rows), -1)

    def run(self, query: str) -> Sequence[int]:
        """Encode, match words, scan vectors."""
        vector = self._embedder.embed_query(query)
        self._catalog.rows(
            "SELECT rowid, bm25(words) AS cost FROM words WHERE words MATCH ?"
            " ORDER BY cost LIMIT 100",
            (match_any(build_query_terms(query)),),
        )
        # Not `@`: its worker threads spin on for a while and slow the next query's encoding.
        cosines = np.einsum("ij,j->i", self._matrix, vector)
        nearest: Sequence[int] = np.argsort(-cosines)[:100].tolist()
        return nearest

    def close(self) -> None:
        """Let go of the catalog."""
        self._catalog.close()


def _time(act: Callable[[str], object], query: str) -> float:
    started = time.perf_counter()
    act(query)
    return time.perf_counter() - started
