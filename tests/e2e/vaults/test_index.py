"""Indexing and searching real notes, with the real model and the real stores."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.program import (
    Program,
    children_of,
    command_of,
    ended,
    kill,
    wait_until,
)

looks_at_processes = pytest.mark.started

WATCHED_RUN = """
import json, os, sys
from pathlib import Path
from app.library.library import IndexFinished
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from tests.support.processes.program import children_of, command_of

assistant = build(Paths.find())
assistant.open_vault(Path(sys.argv[1]), remember=False)
children = set()
for event in assistant.index(CancelToken()):
    children |= {command_of(child) for child in children_of(os.getpid())}
print(json.dumps({
    "embedded": event.report.embedded_chunks,
    "children": sorted(children),
    "loaded": [name for name in ("torch", "chromadb", "sentence_transformers", "litellm")
               if name in sys.modules],
}))
assistant.close()
"""


def many_notes(folder: Path, count: int) -> Path:
    """Write notes that all differ, enough to be met in the middle of an index.

    The notes of each folder differ from those of others, whose vectors are kept (`kept_vectors`).
    """
    folder.mkdir()
    year = hashlib.sha256(bytes(folder)).hexdigest()[:8]
    for number in range(count):
        row = f"In bed {number} grows row {number * 7} of the {number}th sowing of {year}."
        text = f"# Bed {number}\n\n{row}\n"
        (folder / f"bed-{number}.md").write_text(text, "utf-8")
    return folder


def child_named(parent: int, name: str) -> int | None:
    """Return the child process that runs this module."""
    return next((child for child in children_of(parent) if name in command_of(child)), None)


def test_only_what_is_new_is_embedded(program: Program, small_vault: Path) -> None:
    first = program.json("index", str(small_vault))
    assert (first["notes"], first["added"], first["failed"]) == (5, 5, [])
    assert first["embedded_chunks"] == first["chunks"] >= 5
    assert first["vault"] == str(small_vault)
    again = program.json("index", str(small_vault))
    assert (again["embedded_chunks"], again["added"], again["changed"]) == (0, 0, 0)
    assert (again["notes"], again["chunks"]) == (first["notes"], first["chunks"])
    (small_vault / "garden").rename(small_vault / "beds")
    moved = program.json("index", str(small_vault))
    assert (moved["embedded_chunks"], moved["renamed"]) == (0, 2)
    with (small_vault / "beds" / "Kompost.md").open("a", encoding="utf-8") as note:
        note.write("\nEierschalen gehören hinein.\n")
    changed = program.json("index", str(small_vault))
    assert changed["changed"] == 1
    assert 1 <= changed["embedded_chunks"] < first["chunks"]


def test_search_finds_by_meaning_and_names_the_lines(with_notes: Program) -> None:
    # The note is nearest by far, so that it is first in each precision of the embedding model. The
    # precision is the one that was faster on this computer, and moves a cosine by up to 0.002.
    result = with_notes.json("search", "which crop can be picked soonest", "-k", "3")
    assert set(result) == {"query", "filters", "hits", "by", "seconds"}
    assert result["by"] == ["words", "meaning"]
    best = result["hits"][0]
    assert best["path"] == "garden/Tomatoes.md", result
    first, last = best["lines"]
    note = Path(with_notes.options[1], best["path"]).read_text("utf-8").splitlines()
    assert best["text"].splitlines()[0] in note[first - 1]
    assert 1 <= first <= last <= len(note)
    assert set(best["signals"]) == {"dense", "words", "title", "links", "tags", "dates", "rerank"}


@looks_at_processes
def test_both_children_work_and_the_program_itself_loads_no_heavy_library(
    program: Program, small_vault: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_RUN, str(small_vault)],
        env={**os.environ, "STRATA_HOME": str(program.home)},
        capture_output=True,
        check=True,
    )
    seen = json.loads(done.stdout)
    assert seen["embedded"] >= 5
    assert seen["loaded"] == []
    for worker in ("vault.embed_worker", "vault.vector_worker"):
        (command,) = [command for command in seen["children"] if worker in command]
        assert " -P " in command


@looks_at_processes
def test_killing_the_program_while_indexing_leaves_no_child_and_the_next_run_goes_on(
    program: Program, tmp_path: Path
) -> None:
    notes = many_notes(tmp_path / "many", 100)
    run = program.start("index", str(notes))
    wait_until(lambda: child_named(run.pid, "vault.embed_worker") is not None, "the child")
    children = children_of(run.pid)
    kill(run)
    wait_until(lambda: not any(map(command_of, children)), "the end of the children")
    report = program.json("index", str(notes))
    assert (report["notes"], report["failed"]) == (100, [])
    assert program.json("search", "bed 17", "--vault", str(notes))["hits"]
    assert sorted(path.name for path in notes.iterdir()) == sorted(
        f"bed-{number}.md" for number in range(100)
    )


@looks_at_processes
def test_children_that_are_killed_are_started_again(program: Program, tmp_path: Path) -> None:
    notes = many_notes(tmp_path / "many", 60)
    run = program.start("index", str(notes), "--json")
    for worker in ("vault.embed_worker", "vault.vector_worker"):
        wait_until(lambda name=worker: child_named(run.pid, name) is not None, worker)
        child = child_named(run.pid, worker)
        assert child is not None
        os.kill(child, signal.SIGKILL)
    done = ended(run)
    assert done.code == 0, done
    assert done.document["notes"] == 60
    assert program.json("index", str(notes))["embedded_chunks"] == 0


@looks_at_processes
def test_ctrl_c_stops_indexing_and_says_so(program: Program, tmp_path: Path) -> None:
    notes = many_notes(tmp_path / "many", 400)
    run = program.start("index", str(notes))
    wait_until(lambda: child_named(run.pid, "vault.embed_worker") is not None, "the child")
    run.send_signal(signal.SIGINT)
    done = ended(run)
    assert done.code == 130
    assert "Indexing stopped" in done.out
    assert "Traceback" not in done.err


@looks_at_processes
def test_ctrl_c_while_searching_ends_at_once(with_notes: Program) -> None:
    run = with_notes.start("search", "which vegetable", "--json")
    wait_until(lambda: child_named(run.pid, "vault.embed_worker") is not None, "the child")
    run.send_signal(signal.SIGINT)
    done = ended(run)
    assert (done.code, done.error["code"]) == (130, "cancelled")
    assert "Traceback" not in done.err
