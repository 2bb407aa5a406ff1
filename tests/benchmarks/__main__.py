"""Run the benches whose names are given, or all, and print their ratios.

With `--page`, the ratios are also written to `BENCHMARKS.md`, as each bench ends. With `--large`,
all means the benches that take hours.
"""

import importlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import DataAbsent, Ratio
from tests.benchmarks.page import PAGE, BenchPage, Run

# The benches, each with the package of its module.
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
    "claims": "context",
    "time_machine": "context",
    "exam": "context",
    "relevance": "retrieval",
    "chunking": "retrieval",
    "answers": "retrieval",
    "phrasings": "retrieval",
    "life": "retrieval",
    "review": "retrieval",
    "evidence": "retrieval",
    "judge": "retrieval",
    "mcp": "retrieval",
    "many_vectors": "retrieval",
    "many_notes": "indexing",
    "first_text": "window",
}
# Those that take hours, which run only by name or with `--large`.
LARGE: Final = ("many_notes", "many_vectors")


def main(arguments: list[str]) -> int:
    """Return 1 where a ratio misses its bar or a name is no bench, else 0."""
    names = [name for name in arguments if not name.startswith("--")]
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"No such bench: {', '.join(unknown)}. There are: {', '.join(BENCHES)}.")
        return 1
    page = BenchPage(PAGE, Run.begin()) if "--page" in arguments else None
    missed = list[str]()
    usual = [name for name in BENCHES if (name in LARGE) is ("--large" in arguments)]
    for name in names or usual:
        ratios = _run(name)
        missed += [ratio.name for ratio in ratios if not ratio.is_met]
        if page is not None and ratios:
            page.write_bench(name, ratios)
    print(f"missed: {', '.join(missed)}" if missed else "every ratio keeps to its bar")
    return 1 if missed else 0


def _run(name: str) -> list[Ratio]:
    bench = importlib.import_module(f"tests.benchmarks.{BENCHES[name]}.bench_{name}")
    with tempfile.TemporaryDirectory(prefix=f"strata-bench-{name}-") as folder:
        try:
            ratios: list[Ratio] = bench.run(Path(folder))
        except DataAbsent as absent:
            print(f"{name}: left out, {absent}")
            return []
    for ratio in ratios:
        print(ratio, flush=True)
    return ratios


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
