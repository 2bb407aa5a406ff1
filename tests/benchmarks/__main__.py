"""Run the benches whose names are given, or all, and print their ratios and seconds.

With `--page`, the ratios are also written to `BENCHMARKS.md`, as each bench ends. With `--large`,
all means the benches that take hours. Each bench has a process of its own, so that it does not
find what another one has loaded or set. One that fails is named at the end, and the others run.
"""

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from tests.benchmarks.measure import CACHE_VARIABLE, DataAbsent, Ratio, run_bench
from tests.benchmarks.page import PAGE, BenchPage, Run

# The benches in the order in which they run, each with the package of its module. `memory` indexes
# a vault that those of retrieval search. `relevance` is the last of these, because the program then
# runs for long, and fits its ranking to the notes while it idles.
BENCHES: Final[Mapping[str, str]] = {
    "start": "window",
    "cold": "retrieval",
    "stream": "window",
    "busy": "window",
    "open": "context",
    "kills": "durability",
    "index_kills": "durability",
    "memory": "indexing",
    "long_use": "window",
    "walk": "window",
    "search": "retrieval",
    "index": "indexing",
    "change": "indexing",
    "turns": "context",
    "prepare": "context",
    "previews": "context",
    "guard": "context",
    "price": "context",
    "rehearsal": "context",
    "claims": "context",
    "time_machine": "context",
    "exam": "context",
    "answers": "retrieval",
    "evidence": "retrieval",
    "relevance": "retrieval",
    "chunking": "retrieval",
    "phrasings": "retrieval",
    "life": "retrieval",
    "review": "retrieval",
    "judge": "retrieval",
    "mcp": "retrieval",
    "many_vectors": "retrieval",
    "many_notes": "indexing",
    "first_text": "window",
}
# Those that take hours, which run only by name or with `--large`.
LARGE: Final = ("many_notes", "many_vectors")
OPTIONS: Final = ("--page", "--large")


def main(arguments: list[str]) -> int:
    """Return 1 where a ratio misses its bar or a name is no bench, else 0."""
    names = [name for name in arguments if name not in OPTIONS]
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        options = f"The options are {' and '.join(OPTIONS)}."
        print(f"No such bench: {', '.join(unknown)}. There are: {', '.join(BENCHES)}. {options}")
        return 1
    page = BenchPage(PAGE, Run.begin()) if "--page" in arguments else None
    usual = [name for name in BENCHES if (name in LARGE) is ("--large" in arguments)]
    with tempfile.TemporaryDirectory(prefix="strata-bench-shared-") as shared:
        os.environ.setdefault(CACHE_VARIABLE, shared)
        return _run_all(names or usual, page)


def _run_all(names: list[str], page: BenchPage | None) -> int:
    missed, failed = list[str](), list[str]()
    for name in names:
        try:
            ratios = _run(name)
        except DataAbsent as absent:
            print(f"{name}: left out, {absent}")
            continue
        except Exception:  # noqa: BLE001 - the others take an hour, and are worth it
            traceback.print_exc()
            failed.append(name)
            continue
        missed += [ratio.name for ratio in ratios if not ratio.is_met]
        if page is not None:
            page.write_bench(name, ratios)
    print(f"missed: {', '.join(missed)}" if missed else "every ratio keeps to its bar")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if missed or failed else 0


def _run(name: str) -> list[Ratio]:
    began = time.monotonic()
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        ratios = processes.submit(run_bench, BENCHES[name], name).result()
    for ratio in ratios:
        print(ratio)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return ratios


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
