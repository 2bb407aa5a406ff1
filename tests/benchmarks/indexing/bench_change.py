"""One note that is saved while its folder is watched, and how soon it is found.

Below a few notes, and below very many. The time runs from when the change was seen until a search
finds it by its words and by its meaning.
"""

import queue
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, unpack_vault
from vault.embedder import Embedder
from vault.indexing.progress import IndexReport
from vault.vault import Vault

SMALL, LARGE = 1_000, 1_000_000
ROUNDS = 15
WITHIN_S = 0.150
PATIENCE_S = 60.0


def run(folder: Path) -> list[Ratio]:
    """Save notes one by one, below a few notes and below all of a large folder."""
    notes = unpack_vault("tldr", folder / "tldr")
    embedder = Embedder()
    try:
        small, few = _seconds(_first(notes, folder / "small"), folder / "few", embedder)
        large, many = _seconds(notes, folder / "many", embedder)
    finally:
        embedder.close()
    detail = f"{large * 1000:.0f} ms among {many:,} passages, {small * 1000:.0f} among {few:,}"
    return [
        Ratio("change: found / 150 ms", max(small, large) / WITHIN_S, at_most=1.0, detail=detail),
        Ratio("change: in a large vault / in a small one", large / small, at_most=1.5),
    ]


def _first(notes: Path, target: Path) -> Path:
    target.mkdir()
    for note in sorted(notes.rglob("*.md"))[:SMALL]:
        (target / f"{note.parent.name}-{note.name}").write_bytes(note.read_bytes())
    return target


def _seconds(notes: Path, index_dir: Path, embedder: Embedder) -> tuple[float, int]:
    """Give the usual time until a note is found, and how many passages there are."""
    fill(notes, index_dir, LARGE)
    index = Vault(notes, index_dir, embedder=embedder)
    told: queue.Queue[IndexReport] = queue.Queue()
    try:
        (notes / "first.md").write_text("First.\n")
        passages = index.update().chunks  # with the vectors in Chroma, since there is a new one
        index.search("warm up")
        index.watch(told.put)
        _until_watched(notes, told)
        return median(_once(index, notes, number, told) for number in range(ROUNDS)), passages
    finally:
        index.close()


def _until_watched(notes: Path, told: "queue.Queue[IndexReport]") -> None:
    """Touch a file until a change of it is told: nothing says when the system watches."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        (notes / "first.md").write_text(f"First at {time.monotonic()}.\n")
        try:
            told.get(timeout=0.5)
        except queue.Empty:
            continue
        return
    raise RuntimeError("the folder is not watched")


def _once(index: Vault, notes: Path, number: int, told: "queue.Queue[IndexReport]") -> float:
    word = f"zyzzyva{number}"
    (notes / "saved.md").write_text(f"# Saved\n\nThe {word} was seen at dusk by the pond.\n")
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        report = told.get(timeout=PATIENCE_S)  # it may be of an update that began before the save
        started = time.perf_counter()
        (hit,) = index.search(f"{word} at dusk", 1).hits
        if word in hit.text and hit.signals["dense"] is not None:
            return report.seconds + time.perf_counter() - started
    raise RuntimeError(f"{word} is not found")
