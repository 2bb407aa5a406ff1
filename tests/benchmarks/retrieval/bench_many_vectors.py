"""The nearest of 1,000,000 vectors: exact scan, store on this computer, and a Chroma server.

The vectors are made: 50 near each of many centres, as passages are near their topics, and each
query is near a centre too. What is exact is what the scan finds. Each way is asked by one client,
and by four at once, which are threads of one program. The ways run one after the other, because of
their memory.

`STRATA_BENCH_CACHE` is a folder that keeps vectors and stores, so that an interrupted run goes on.
`STRATA_BENCH_SHARE=0.1` takes a tenth of the vectors.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Final

import numpy as np

from tests.benchmarks.measure import Ratio, percentile
from tests.support.servers.chroma_server import ChromaServer
from vault.catalog import Catalog
from vault.embedding.models import DIMENSION
from vault.options import VectorServer
from vault.search.exact import ExactScan
from vault.vectors import VectorStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

VECTORS: Final = int(1_000_000 * float(os.environ.get("STRATA_BENCH_SHARE", "1")))
CENTRES: Final = VECTORS // 50  # five times as many near a centre as are looked for
SPREAD: Final = 0.8  # of a vector around its centre, in lengths of the centre
PART: Final = 10_000
QUERIES: Final = 100
CLIENTS: Final = (1, 4)
K: Final = 10
MOST_MS: Final = 150.0
LEAST_RECALL: Final = 0.99

Found = Sequence[tuple[bytes, float]]
Search = Callable[["NDArray[np.float32]", int], Found]


def run(folder: Path) -> list[Ratio]:
    """Make the vectors, and ask each way the same."""
    if cache := os.environ.get("STRATA_BENCH_CACHE"):
        folder = Path(cache) / f"vectors-{VECTORS}"
    folder.mkdir(parents=True, exist_ok=True)
    catalog = Catalog(folder / "catalog.db", is_writable=True)
    try:
        _fill(catalog)
        queries = list(_draw(np.random.default_rng(11), QUERIES))
        exact, ratios = _measure("exact scan", ExactScan(catalog).query, queries, None)
        for name, opened in (("store", _open_local), ("server", _open_server)):
            with opened(catalog, folder) as search:
                ratios += _measure(name, search, queries, exact)[1]
        return ratios
    finally:
        catalog.close()


def _fill(catalog: Catalog) -> None:
    """Add the vectors that are not there yet, part by part. Each part has a seed of its own."""
    there = int(catalog.rows("SELECT count(*) FROM vectors")[0][0])
    for part in range(there // PART, VECTORS // PART):
        drawn = _draw(np.random.default_rng(1_000 + part), PART)
        hashes = [(part * PART + at).to_bytes(16, "big") for at in range(PART)]
        with catalog.transaction():
            catalog.add_vectors(hashes, [vector.tobytes() for vector in drawn])


def _draw(chance: np.random.Generator, count: int) -> "NDArray[np.float32]":
    """Draw vectors of unit length, each near one of the centres."""
    centres = np.random.default_rng(7).standard_normal((CENTRES, DIMENSION), dtype="<f4")
    drawn = centres[chance.integers(CENTRES, size=count)]
    drawn = drawn + SPREAD * chance.standard_normal((count, DIMENSION), dtype="<f4")
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn.astype("<f4")


@contextmanager
def _open_local(catalog: Catalog, folder: Path) -> Iterator[Search]:
    store = VectorStore(catalog, folder / "chroma")
    try:
        store.synchronize(_print_progress)
        yield store.query
    finally:
        store.close()


@contextmanager
def _open_server(catalog: Catalog, folder: Path) -> Iterator[Search]:
    with ChromaServer(folder / "server") as server:
        store = VectorStore(catalog, folder / "unused", VectorServer(server.url))
        try:
            store.synchronize(_print_progress)
            yield store.query
        finally:
            store.close()


def _print_progress(done: int) -> None:
    if done % (100 * 512) == 0:
        print(f"  {done:,} vectors added", flush=True)


def _measure(
    name: str, search: Search, queries: "Sequence[NDArray[np.float32]]", exact: list[Found] | None
) -> tuple[list[Found], list[Ratio]]:
    """Ask with one client and with several; return what was found, and the ratios."""
    search(queries[0], K)  # what the first one loads is not counted
    ratios, found = list[Ratio](), list[Found]()
    for clients in CLIENTS:
        with ThreadPoolExecutor(clients) as pool:
            timed = list(pool.map(lambda query: _time(search, query), queries))
        found = [each for _, each in timed]
        milliseconds = [seconds * 1_000 for seconds, _ in timed]
        p50, p95 = percentile(milliseconds, 50), percentile(milliseconds, 95)
        title = f"{VECTORS:,} vectors: {name}, {clients} client{'s' if clients > 1 else ''}"
        most = MOST_MS if clients == 1 else None
        ratios.append(Ratio(f"{title}, p95 in ms", p95, at_most=most, detail=f"p50 {p50:.1f} ms"))
    if exact is not None:
        recall = mean(_compare(*pair) for pair in zip(found, exact, strict=True))
        title = f"{VECTORS:,} vectors: {name}, recall@{K}"
        ratios.append(Ratio(title, recall, at_least=LEAST_RECALL, detail="of the exact scan's"))
    return found, ratios


def _time(search: Search, query: "NDArray[np.float32]") -> tuple[float, Found]:
    started = time.perf_counter()
    found = search(query, K)
    return time.perf_counter() - started, found


def _compare(found: Found, exact: Found) -> float:
    return len({each[0] for each in found} & {each[0] for each in exact}) / K
