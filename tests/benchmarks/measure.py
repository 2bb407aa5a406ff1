"""What every bench needs: ratios with their bars, real vaults, the installed program."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from app.paths import HOME_VARIABLE, Paths

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("STRATA_BENCH_DATA", ROOT.parent / "shared" / "data"))
# Names a folder for vaults and indexes that several benches need. Without one, each run has its
# own, which is removed at its end.
CACHE_VARIABLE = "STRATA_BENCH_CACHE"


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


def run_bench(package: str, name: str) -> list[Ratio]:
    """Run a bench in a temporary folder, and return its ratios.

    Args:
        package: the package below `tests.benchmarks` that the bench belongs to.
        name: the name of the bench.

    Raises:
        DataAbsent: a set of data is not at hand.
    """
    bench = importlib.import_module(f"tests.benchmarks.{package}.bench_{name}")
    with tempfile.TemporaryDirectory(prefix=f"strata-bench-{name}-") as folder:
        ratios: list[Ratio] = bench.run(Path(folder))
        return ratios


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


@dataclass(frozen=True)
class SharedVault:
    """A vault that several benches use, so that a run indexes it once.

    Attributes:
        notes: the folder of notes.
        home: the folder of Strata's own files, with the index if a bench has made it.
    """

    notes: Path
    home: Path

    @classmethod
    def locate(cls, name: str, folder: Path) -> "SharedVault":
        """Return where the vault of a name is, in the cache of the run or else in a folder."""
        place = Path(os.environ.get(CACHE_VARIABLE, folder)) / "vaults"
        place.mkdir(parents=True, exist_ok=True)
        return cls(place / name, place / f"{name}-home")

    def write(self, write: Callable[[Path], object]) -> None:
        """Write the notes with a function, unless another bench has written them.

        What an interrupted run has written is not used.
        """
        if not self.notes.exists():
            begun = self.notes.with_name(f"{self.notes.name}.begun")
            shutil.rmtree(begun, ignore_errors=True)
            write(begun)
            begun.rename(self.notes)

    @classmethod
    def unpack(cls, name: str, folder: Path) -> "SharedVault":
        """Return one of the packed vaults.

        Raises:
            DataAbsent: the archive is not at hand.
        """
        vault = cls.locate(name, folder)
        vault.write(lambda target: unpack_vault(name, target))
        return vault


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
