"""The page `BENCHMARKS.md`: the results of each bench, with the run in which they were measured.

A run replaces the results of the benches that it ran, as each of them ends. The results of the
other benches are kept as they are, with their own date, commit, machine and versions.
"""

import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from tests.benchmarks.measure import ROOT, Ratio

__all__ = ["BenchPage", "Run"]

PAGE: Final = ROOT / "BENCHMARKS.md"
# The benches of each section, in the order of the page.
SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Relevance": ("relevance", "chunking", "answers", "phrasings", "life", "review", "claims"),
    "Time machine": ("time_machine",),
    "Search latency": ("search",),
    "Cold and warm start": ("start", "cold"),
    "Indexing": ("index", "change"),
    "Memory": ("memory", "long_use"),
    "Price": ("price",),
    "Compaction": ("exam",),
    "Long chats": ("open", "turns", "prepare", "guard", "stream", "busy"),
    "Endurance": ("kills", "index_kills", "walk"),
}
PACKAGES: Final = (
    "torch",
    "onnxruntime",
    "sentence-transformers",
    "chromadb",
    "PySide6-Essentials",
)
INTRODUCTION: Final = """# Benchmarks

`make bench` writes this page. It holds what was measured, and nothing else. Figures are ratios:
what Strata takes or reaches, divided by what a baseline takes or reaches in the same run on the
same machine. The last column has both. `make bench BENCHES="search start"` runs only some benches;
the others keep their rows, each with the run in which it was measured.
"""
_BLOCK: Final = re.compile(r"<!-- bench (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->\n", re.DOTALL)


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
        """The line below the results of a bench."""
        return f"Measured on {self.date} at {self.commit}. {self.machine}. {self.versions}."


class BenchPage:
    """The page with the results of all benches."""

    def __init__(self, path: Path, run: Run) -> None:
        """Read the results of earlier runs, if there are any."""
        self._path = path
        self._run = run
        text = path.read_text("utf-8") if path.exists() else ""
        self._blocks = {found["name"]: found["text"] for found in _BLOCK.finditer(text)}
        self._measured: list[str] = []

    def write_bench(self, name: str, ratios: Sequence[Ratio]) -> None:
        """Replace the results of a bench, and write the page."""
        rows = [_write_row(ratio) for ratio in ratios]
        table = ["| measured | ratio | goal | result | Strata against the baseline |"]
        table += ["|---|---:|---|---|---|", *rows]
        self._blocks[name] = "\n".join([*table, "", self._run.sentence, ""])
        self._measured.append(name)
        self._path.write_text(self._compose(), "utf-8")

    def _compose(self) -> str:
        sections = [self._write_section(title, names) for title, names in SECTIONS.items()]
        return "\n".join([INTRODUCTION, self._describe_last_run(), *sections])

    def _describe_last_run(self) -> str:
        kept = [name for name in self._blocks if name not in self._measured]
        lines = [f"Last run: {self._run.date}, with {_join(self._measured)}."]
        lines += [f"Not measured in it, so of earlier runs: {_join(kept)}."] if kept else []
        return "\n".join([*lines, ""])

    def _write_section(self, title: str, names: Sequence[str]) -> str:
        found = [name for name in names if name in self._blocks]
        lines = [f"## {title}", ""]
        for name in found:
            lines += [f"<!-- bench {name} -->", f"{self._blocks[name]}<!-- end -->", ""]
        missing = [name for name in names if name not in self._blocks]
        lines += [f"Not measured yet: {_join(missing)}.", ""] if missing else []
        return "\n".join(lines)


def _write_row(ratio: Ratio) -> str:
    goal = f"≤ {ratio.at_most:g}" if ratio.at_most is not None else ""
    goal = f"≥ {ratio.at_least:g}" if ratio.at_least is not None else goal
    result = "" if not goal else "met" if ratio.is_met else "**missed**"
    cells = (ratio.name, f"{ratio.value:,.3f}", goal, result, ratio.detail)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


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
