"""Exhaustive answers over 10,000 notes, in which 5, 50 and 500 are planted, by a scripted judge.

The judge sees the words of a set and nothing else, so that what is measured is Strata: whether each
note reaches it once, and each verdict arrives. The run of the middle set is killed at ten places.
Vectors are drawn at random, since judging needs none.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, index_dir_of
from tests.support.kills.killed_judging import (
    HoldingJudge,
    kill_at,
    list_planted,
    name_set,
    plant_notes,
)
from tests.support.models.model_server import ModelServer
from tests.support.processes.program import Program

NOTES: Final = 10_000
SETS: Final = (5, 50, 500)
KILLED: Final = 50
# After how many more answers each run is killed, from early to late.
PLACES: Final = (1, 2, 5, 20, 50, 100, 7, 150, 200, 250)


def run(folder: Path) -> list[Ratio]:
    """Judge all notes by each set, kill one of the runs, and ask again."""
    notes = plant_notes(folder / "notes", NOTES, SETS)
    home = folder / "home"
    fill(notes, index_dir_of(home, notes), 2 * NOTES)
    ratios: list[Ratio] = []
    with ModelServer() as server:
        options = ("--vault", str(notes), "--set", f"chat.apiBase={server.url}")
        program = Program(home, (*options, "--set", "chat.model=gpt-4o"))
        for size in SETS:
            ratios += _measure_set(program, server, size)
    return ratios


def _measure_set(program: Program, server: ModelServer, size: int) -> Iterator[Ratio]:
    judge = HoldingJudge(name_set(size))
    server.script(judge)
    words = ("judge", f"Which notes say {size}?", "--yes", "--json", "--no-index")
    began = time.monotonic()
    table = kill_at(program, words, judge, PLACES if size == KILLED else ())
    took = time.monotonic() - began
    yield from _compare(table, list_planted(NOTES, size), f"{size} of {NOTES:,}; {took:.0f} s")
    twice = [name for name, count in judge.answered.items() if count > 1]
    missed = NOTES - len(judge.answered)
    if size == KILLED:
        detail = f"{len(PLACES)} kills; {missed} notes not asked about"
        yield Ratio("judge: notes answered twice after kills", len(twice), 0, detail=detail)
        yield _ask_again(program, words)


def _compare(table: Any, planted: Sequence[str], detail: str) -> Iterator[Ratio]:
    """Compare the verdicts with what was planted. Only a table whose sum closes counts."""
    found = {row["path"] for row in table["rows"] if row["verdict"] == "yes" and row["quote"]}
    right = len(found.intersection(planted)) if table["is_complete"] else 0
    size = len(planted)
    yield Ratio(f"judge: recall, {size} planted", right / size, at_least=1, detail=detail)
    precision = right / len(found) if found else 0.0
    yield Ratio(f"judge: precision, {size} planted", precision, at_least=1)


def _ask_again(program: Program, words: Sequence[str]) -> Ratio:
    """Measure the same question once more, less what the program takes without any notes."""
    bare = _time(program, "settings", "get", "chat.model")
    again = _time(program, *words)
    detail = f"{again:.2f} s, of which {bare:.2f} s to start the program"
    return Ratio("judge: seconds to ask again", again - bare, at_most=1, detail=detail)


def _time(program: Program, *words: str) -> float:
    took: list[float] = []
    for _ in range(3):
        began = time.monotonic()
        done = program.run(*words)
        took.append(time.monotonic() - began)
        assert done.code == 0, done.err
    return min(took)
