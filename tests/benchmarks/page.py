"""The page `BENCHMARKS.md`: ten lines to choose by, then the results of each bench.

A run replaces the results of the benches that it ran, as each of them ends. The results of the
other benches are kept as they are, with their own date, commit, machine and versions. Where all
were measured in one run, the page has one date.
"""

import os
import platform
import re
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import ROOT, Ratio
from tests.benchmarks.missed import explain_missed
from tests.benchmarks.rows import HEAD, parse_rows, write_row
from tests.benchmarks.top_lines import write_top_lines

__all__ = ["SECTIONS", "BenchPage", "Run"]

PAGE: Final = ROOT / "BENCHMARKS.md"
# The benches of each section, in the order of the page.
SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Relevance": ("relevance", "chunking", "answers", "phrasings", "life", "review", "claims"),
    "Evidence in the request": ("evidence", "rehearsal"),
    "Exhaustive answers": ("judge",),
    "Time machine": ("time_machine",),
    "Search latency": ("search", "mcp"),
    "Cold and warm start": ("start", "first_text", "cold"),
    "Indexing": ("index", "change"),
    "Memory": ("memory", "long_use"),
    "Price": ("price",),
    "Compaction": ("exam",),
    "Long chats": ("open", "turns", "prepare", "previews", "guard", "stream", "busy"),
    "Endurance": ("kills", "index_kills", "walk"),
    "Large": ("many_notes", "many_vectors"),
}
PACKAGES: Final = (
    "torch",
    "onnxruntime",
    "sentence-transformers",
    "chromadb",
    "PySide6-Essentials",
)
INTRODUCTION: Final = """# Benchmarks

`make bench` and `make bench-large` write this page. It holds what was measured, and nothing else.
Figures are ratios: what Strata takes or reaches, divided by what a baseline takes or reaches in the
same run on the same machine. The last column has both. `make bench BENCHES="search start"` runs
only some benches; the others keep their rows.
"""
_BLOCK: Final = re.compile(r"<!-- bench (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->\n", re.DOTALL)
_RUN: Final = re.compile(r"^Measured on .*$", re.MULTILINE)
_MISSED: Final = "\nMissed: "


@dataclass(frozen=True)
class Run:
    """A run of benches: when, of which commit, on which machine, with which versions."""

    date: str
    commit: str
    machine: str
    versions: str

    @classmethod
    def begin(cls) -> "Run":
        """Return the run that begins now."""
        return cls(
            f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            _read_commit(),
            _describe_machine(),
            _list_versions(),
        )

    @property
    def sentence(self) -> str:
        """When and where the results of a bench were measured."""
        return f"Measured on {self.date} at {self.commit}. {self.machine}. {self.versions}."


@dataclass(frozen=True)
class _Block:
    """The results of a bench: a table, and the sentence of the run that measured it."""

    table: str
    run: str

    @classmethod
    def read(cls, text: str, usual_run: str) -> "_Block":
        """Read a block of the page. Without a sentence of its own, it is of the usual run."""
        sentence = _RUN.search(text)
        table = _RUN.sub("", text).split(_MISSED)[0].strip()
        return cls(table, sentence[0] if sentence else usual_run)


class BenchPage:
    """The page with the results of all benches."""

    def __init__(self, path: Path, run: Run) -> None:
        """Read the results of earlier runs, if there are any."""
        self._path = path
        self._run = run
        text = path.read_text("utf-8") if path.exists() else ""
        usual = _RUN.search(_BLOCK.sub("", text))
        run_of_page = usual[0] if usual else ""
        self._blocks = {
            found["name"]: _Block.read(found["text"], run_of_page)
            for found in _BLOCK.finditer(text)
        }

    def write_bench(self, name: str, ratios: Sequence[Ratio]) -> None:
        """Replace the results of a bench, and write the page."""
        table = "\n".join([HEAD, *map(write_row, ratios)])
        self._blocks[name] = _Block(table, self._run.sentence)
        self._path.write_text(self._compose(), "utf-8")

    def _compose(self) -> str:
        sections = [self._write_section(title, names) for title, names in SECTIONS.items()]
        tables = {name: parse_rows(block.table) for name, block in self._blocks.items()}
        return "\n".join([INTRODUCTION, write_top_lines(tables), self._describe_run(), *sections])

    def _describe_run(self) -> str:
        """Describe the run that measured most benches. The others have theirs beside them."""
        others = [name for name, block in self._blocks.items() if block.run != self._usual_run]
        lines = [self._usual_run]
        lines += [f"Of other runs, named below: {_join(others)}."] if others else []
        return "\n".join([*lines, ""])

    @property
    def _usual_run(self) -> str:
        runs = [block.run for block in self._blocks.values()]
        return max(runs, key=lambda run: (runs.count(run), run))

    def _write_section(self, title: str, names: Sequence[str]) -> str:
        lines = [f"## {title}", ""]
        for name in names:
            lines += self._write_block(name) if name in self._blocks else []
        missing = [name for name in names if name not in self._blocks]
        lines += [f"Not measured yet: {_join(missing)}.", ""] if missing else []
        return "\n".join(lines)

    def _write_block(self, name: str) -> list[str]:
        block = self._blocks[name]
        missed = defaultdict[str, list[str]](list)
        for row in parse_rows(block.table).values():
            if row.is_missed:
                missed[explain_missed(row.name)].append(row.name)
        lines = [f"<!-- bench {name} -->", block.table]
        lines += [f"{_MISSED}{'; '.join(rows)}. {reason}" for reason, rows in missed.items()]
        lines += ["", block.run] if block.run != self._usual_run else []
        return [*lines, "<!-- end -->", ""]


def _join(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _read_commit() -> str:
    commit = _ask_git("rev-parse", "--short", "HEAD").strip()
    if not commit:
        return "an unknown commit"
    changes = _ask_git("status", "--porcelain", "--", ".", f":!{PAGE.name}")
    return f"commit {commit}{' with changes' if changes else ''}"


def _ask_git(*words: str) -> str:
    """Return what git prints, or nothing if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def _describe_machine() -> str:
    names = re.findall(r"^model name\s*: (.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    processor = names[0] if names else platform.processor() or platform.machine()
    memory = re.search(r"^MemTotal:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    size = f", {int(memory[1]) / 2**20:.0f} GB of memory" if memory else ""
    return f"{os.cpu_count()} cores of {processor}{size}, {platform.system()}"


def _list_versions() -> str:
    found = [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except OSError:
        return ""
