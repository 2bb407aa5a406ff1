"""Kill `strata index`, or one of its processes, and check what must hold afterwards."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes.program import Done, Program, children_of, wait_until
from vault.catalog import Catalog
from vault.embedding.chunking import chunk_note
from vault.notes.note import parse_note, read_bytes
from vault.scan import scan

__all__ = ["DoomedIndex", "Kill", "seconds", "texts_of"]

_LONGEST_S = 1_800
_TARGETS = ("all", "parent", "child")


@dataclass(frozen=True)
class Kill:
    """When a run is killed, and which of its processes."""

    after_s: float
    target: str

    @classmethod
    def by_chance(cls, seed: int, within_s: float) -> "Kill":
        """Choose a moment and a process at random, by a seed."""
        drawn = random.Random(seed)
        return cls(drawn.uniform(0.05, within_s), drawn.choice(_TARGETS))


class DoomedIndex:
    """The index of one folder, whose runs can be killed."""

    def __init__(self, home: Path, notes: Path):
        """Set the folders; no run is started yet.

        Args:
            home: the folder for Strata's own files.
            notes: the folder to index.
        """
        self.program = Program(home)
        self.notes = notes

    @property
    def folder(self) -> Path:
        """The folder of the index."""
        (catalog,) = self.program.home.rglob("catalog.db")
        return catalog.parent

    def finish(self) -> Mapping[str, Any]:
        """Run the indexing to its end and return its report."""
        done = _ended(self.program.start("index", str(self.notes), "--json"))
        assert done.code == 0, done
        report: Mapping[str, Any] = done.document
        return report

    def die(self, kill: Kill) -> list[str]:
        """Kill a run, and return what is wrong immediately afterwards, one sentence each."""
        run = self.program.start("index", str(self.notes), "--json")
        with suppress(subprocess.TimeoutExpired):
            run.wait(kill.after_s)
        children = children_of(run.pid) if run.returncode is None else []
        doomed = {"all": [run.pid, *children], "parent": [run.pid], "child": children[:1]}
        for pid in doomed[kill.target]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        done = _ended(run)
        wait_until(lambda: not any(map(_is_running, children)), "the end of all children")
        has_ended_well = done.code in (0, -signal.SIGKILL)
        if kill.target == "child":
            has_ended_well = done.code == 0
        return [] if has_ended_well else [f"{kill}: {done.code} {done.out}{done.err}"]

    def committed(self) -> tuple[set[bytes], set[bytes]]:
        """Return the texts of the stored passages, and the texts of those that have a vector."""
        if not any(self.program.home.rglob("catalog.db")):
            return set(), set()
        catalog = Catalog(self.folder / "catalog.db", is_writable=False)
        try:
            if catalog.is_new:
                return set(), set()
            rows = catalog.rows("SELECT DISTINCT hash FROM chunks")
            return {bytes(row[0]) for row in rows}, catalog.read_vector_hashes()
        finally:
            catalog.close()


def texts_of(notes: Path) -> set[bytes]:
    """Return the passages' texts that the index of these notes must contain."""
    found = set()
    for path in scan(notes).files:
        note, document = parse_note(path, read_bytes(notes, path))
        found |= {chunk.hash for chunk in chunk_note(note, document)}
    return found


def _ended(run: "subprocess.Popen[bytes]") -> Done:
    """Wait for the end of a run, which may have much work."""
    out, err = run.communicate(timeout=_LONGEST_S)
    return Done(run.returncode, out.decode(), err.decode())


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def seconds(act: Callable[[], object]) -> float:
    """Measure how many seconds a call takes."""
    began = time.monotonic()
    act()
    return time.monotonic() - began
