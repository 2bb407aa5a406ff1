"""What every bench needs: ratios with their bars, real vaults, the installed program."""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from app.paths import HOME_VARIABLE, Paths

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("STRATA_BENCH_DATA", ROOT.parent / "shared" / "data"))


class DataAbsent(Exception):
    """A bench lacks its data set; it is left out, not failed."""


@dataclass(frozen=True)
class Ratio:
    """One measured ratio and its bar; a figure without one is only printed."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    detail: str = ""

    @property
    def is_met(self) -> bool:
        """Tell whether the ratio keeps to its bar."""
        below = self.at_most is None or self.value <= self.at_most
        above = self.at_least is None or self.value >= self.at_least
        return below and above

    def __str__(self) -> str:
        """Return the line that the bench prints."""
        bar = f"≤ {self.at_most:g}" if self.at_most is not None else ""
        bar = f"≥ {self.at_least:g}" if self.at_least is not None else bar
        verdict = "" if not bar else ("met" if self.is_met else "MISSED")
        return f"{self.name:<52} {self.value:>8.3f}  {bar:<8} {verdict:<7} {self.detail}"


def unpack_vault(name: str, target: Path) -> Path:
    """Unpack one of the packed vaults below `target` and return its folder.

    Raises:
        DataAbsent: the archive is not at hand.
    """
    archive = DATA / "vaults" / f"{name}.tar.xz"
    if not archive.exists():
        raise DataAbsent(f"{archive} is not there")
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    return target


def run_strata(home: Path, *words: str, **environment: str) -> Mapping[str, Any]:
    """Run the installed program with `--json` and return what it printed."""
    program = Path(sys.executable).with_name("strata")
    done = subprocess.run(
        [program, *words, "--json"],
        env={**os.environ, "STRATA_HOME": str(home), **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    document: Mapping[str, Any] = json.loads(done.stdout)
    return document


def index_dir_of(home: Path, notes: Path) -> Path:
    """Return where the installed program keeps the index of some notes."""
    return Paths.find({HOME_VARIABLE: str(home)}).index_folder(notes)


class SearchedVault:
    """Notes that the installed program indexes and searches, one query after the other."""

    def __init__(self, notes: Path, home: Path) -> None:
        """Index the notes."""
        self.home = home
        run_strata(home, "index", str(notes))
        self._program = subprocess.Popen(
            [Path(sys.executable).with_name("strata"), "--vault", notes, "rpc"],
            env={**os.environ, "STRATA_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @property
    def catalog(self) -> Path:
        """The index as it lies among the program's files."""
        return next(self.home.rglob("catalog.db"))

    def search(self, query: str, k: int) -> Sequence[Mapping[str, Any]]:
        """Return the hits as `strata search` prints them."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        asked = {"id": 1, "type": "search", "query": query, "k": k}
        self._program.stdin.write(json.dumps(asked).encode() + b"\n")
        self._program.stdin.flush()
        for line in self._program.stdout:
            said = json.loads(line)
            if said["type"] == "response":
                hits: Sequence[Mapping[str, Any]] = said["data"]["hits"]
                return hits
        raise RuntimeError("strata rpc ended")

    def close(self) -> None:
        """End the program."""
        self._program.communicate()


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile of at least two values, between 1 and 99."""
    return quantiles(values, n=100, method="inclusive")[percent - 1]
