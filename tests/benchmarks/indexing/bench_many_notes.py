"""100,000 notes indexed to the end by the installed program: time, memory, disk, start, a change.

The pages of tldr three times over: each copy has a line of its own in each note, so that no passage
is embedded for another one. `STRATA_BENCH_CACHE` is a folder that keeps the notes, the index and
what was measured so far, so that an interrupted run goes on. `STRATA_BENCH_SHARE=0.1` takes a tenth
of the notes.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.indexing.bench_memory import list_memory
from tests.benchmarks.measure import (
    Ratio,
    SearchedVault,
    index_dir_of,
    run_strata,
    unpack_vault,
)

NOTES: Final = int(100_000 * float(os.environ.get("STRATA_BENCH_SHARE", "1")))
COPIES: Final = 3
ROUNDS: Final = 5
MOST_MB: Final = 1_800.0
LOOK_S: Final = 2.0


def run(folder: Path) -> list[Ratio]:
    """Index all notes, then start again, and change some."""
    if cache := os.environ.get("STRATA_BENCH_CACHE"):
        folder = Path(cache) / f"notes-{NOTES}"
    notes, home = folder / "notes", folder / "home"
    if not (folder / "written").exists():
        _write_notes(unpack_vault("tldr", folder / "tldr"), notes)
        (folder / "written").touch()
    seconds, megabytes = _index(notes, home, folder / "measured.json")
    index_dir = index_dir_of(home, notes)
    disk = sum(file.stat().st_size for file in index_dir.rglob("*") if file.is_file())
    start = _time_index(notes, home)
    found = _time_changes(notes, home)
    title = f"{NOTES:,} notes"
    size = sum(file.stat().st_size for file in notes.rglob("*.md"))
    return [
        Ratio(
            f"{title}: seconds to the end", seconds, detail=f"{NOTES / seconds:.1f} notes a second"
        ),
        Ratio(f"{title}: memory in MB, all processes", megabytes, at_most=MOST_MB),
        Ratio(f"{title}: disk / notes", disk / size, detail=f"{disk / 1e6:,.0f} MB"),
        Ratio(f"{title}: start without change in s", start),
        Ratio(f"{title}: a saved change found after, ms", found * 1_000),
    ]


def _write_notes(pages: Path, target: Path) -> None:
    for copy, page in islice(_list_copies(pages), NOTES):
        note = target / f"copy {copy}" / page.relative_to(pages)
        note.parent.mkdir(parents=True, exist_ok=True)
        lines = page.read_text("utf-8").splitlines()
        changed = [f"{line} (version {copy})" if line.startswith("- ") else line for line in lines]
        note.write_text("\n".join([*changed, "", f"Written for version {copy}.", ""]), "utf-8")


def _list_copies(pages: Path) -> Iterator[tuple[int, Path]]:
    files = sorted(pages.rglob("*.md"))
    for copy in range(1, COPIES + 1):
        yield from ((copy, file) for file in files)


def _index(notes: Path, home: Path, file: Path) -> tuple[float, float]:
    """Index until the end, and return the seconds and the most megabytes of all runs."""
    seconds, most, is_done = json.loads(file.read_text("utf-8")) if file.exists() else (0.0, 0.0, 0)
    if is_done:
        return seconds, most
    program = Path(sys.executable).with_name("strata")
    environment = {**os.environ, "STRATA_HOME": str(home)}
    command = [str(program), "index", str(notes), "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as running:
        started = time.monotonic()
        try:
            while running.poll() is None:
                time.sleep(LOOK_S)
                most = max(most, sum(size for _, size in list_memory(running.pid)))
                so_far = seconds + time.monotonic() - started
                file.write_text(json.dumps([so_far, most, 0]), "utf-8")
        finally:
            running.terminate()
    if running.returncode:
        raise RuntimeError(f"strata index ended with {running.returncode}")
    seconds += time.monotonic() - started
    file.write_text(json.dumps([seconds, most, 1]), "utf-8")
    return seconds, most


def _time_index(notes: Path, home: Path) -> float:
    started = time.monotonic()
    run_strata(home, "index", str(notes))
    return time.monotonic() - started


def _time_changes(notes: Path, home: Path) -> float:
    """Return the median seconds from saving a note until a search finds it."""
    vault = SearchedVault(notes, home)
    changed = notes / "copy 1" / "changed.md"
    try:
        vault.search("git", 1)
        return median(_time_change(vault, changed, number) for number in range(ROUNDS))
    finally:
        vault.close()
        changed.unlink(missing_ok=True)


def _time_change(vault: SearchedVault, note: Path, number: int) -> float:
    word = f"quokka{number}{os.getpid()}"
    note.write_text(f"# Changed\n\nThe {word} was here.\n", "utf-8")
    started = time.monotonic()
    for _ in count():
        if any(hit["path"].endswith(note.name) for hit in vault.search(word, 1)):
            return time.monotonic() - started
    raise AssertionError
