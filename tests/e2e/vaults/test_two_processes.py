"""Two processes on one vault: one keeps its index, the other reads it, and neither harms it."""

import os
import signal
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from app.library.library import Library
from app.paths import Paths
from chains.cancel import CancelToken
from tests.e2e.vaults.test_index import child_named, many_notes
from tests.support.kills.killed_index import DoomedIndex, texts_of
from tests.support.processes.program import Program, ended, wait_until
from vault.errors import IndexBusy

NOTES = 120


@pytest.fixture
def index(tmp_path: Path) -> DoomedIndex:
    return DoomedIndex(tmp_path / "home", many_notes(tmp_path / "many", NOTES))


def assert_whole(index: DoomedIndex) -> None:
    """Nothing is missing, and nothing is to be done again."""
    report = index.finish()
    assert (report["notes"], report["embedded_chunks"], report["added"]) == (NOTES, 0, 0)
    wanted = texts_of(index.notes)
    assert index.committed() == (wanted, wanted)
    doctor = index.program.json("doctor", "--vault", str(index.notes))
    assert doctor["ok"], doctor


def embedder_of(run: "subprocess.Popen[bytes]") -> int | None:
    return child_named(run.pid, "vault.embed_worker")


@pytest.mark.started  # its child is looked at
def test_of_two_that_index_one_does_and_the_other_says_so(index: DoomedIndex) -> None:
    first = index.program.start("index", str(index.notes), "--json")
    wait_until(lambda: embedder_of(first) is not None, "the first to begin")
    second = index.program.run("index", str(index.notes), "--json")
    found = index.program.run("search", "bed 17", "--vault", str(index.notes), "--json")
    done = ended(first)
    assert (second.code, second.document["error"]["code"]) == (1, "busy")
    assert "Another Strata" in second.document["error"]["message"]
    assert found.code == 0, found
    assert (done.code, done.document["notes"]) == (0, NOTES)
    assert_whole(index)


def test_when_the_one_that_indexes_dies_the_next_takes_over_where_it_was(
    index: DoomedIndex,
) -> None:
    first = index.program.start("index", str(index.notes), "--json")
    wait_until(lambda: len(index.committed()[1]) >= 32, "the first vectors")
    os.kill(first.pid, signal.SIGKILL)
    ended(first)
    committed = len(index.committed()[1])
    second = index.program.json("index", str(index.notes))
    assert second["embedded_chunks"] == NOTES - committed
    assert_whole(index)


def test_a_run_that_is_killed_between_words_and_vectors_goes_on_with_the_vectors(
    index: DoomedIndex,
) -> None:
    wanted = texts_of(index.notes)
    first = index.program.start("index", str(index.notes), "--json")
    wait_until(lambda: index.committed()[0] == wanted, "the words of all notes")
    os.kill(first.pid, signal.SIGKILL)
    ended(first)
    texts, vectors = index.committed()
    assert texts == wanted
    assert len(vectors) < len(wanted)
    found = index.program.json("search", "bed 17", "--vault", str(index.notes))
    assert "17" in found["hits"][0]["path"]
    assert any(said.endswith("by meaning, all by words.") for said in found["warnings"])
    report = index.finish()
    assert (report["added"], report["changed"]) == (0, 0)  # no note was read again
    assert report["embedded_chunks"] == len(wanted - vectors)
    assert_whole(index)


def test_beside_an_open_window_the_command_line_searches_and_does_not_index(
    index: DoomedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATA_HOME", str(index.program.home))
    cli: Program = index.program
    with closing(Library.open(index.notes, Paths.find())) as window:
        list(window.update(CancelToken()))
        (index.notes / "new.md").write_text("# Zebra\n\nA zebra crossing.\n")
        busy = cli.run("index", str(index.notes), "--json")
        assert (busy.code, busy.document["error"]["code"]) == (1, "busy")
        where = ("--vault", str(index.notes))
        assert "zebra" not in str(cli.json("search", "zebra crossing", "-k", "1", *where)["hits"])
        list(window.update(CancelToken()))
        assert (
            cli.json("search", "zebra crossing", "-k", "1", *where)["hits"][0]["path"] == "new.md"
        )
        with pytest.raises(IndexBusy), closing(Library.open(index.notes, Paths.find())) as other:
            other.vault.rebuild()
        assert window.vault.status().notes == NOTES + 1
    assert cli.json("index", str(index.notes))["embedded_chunks"] == 0


def test_a_search_while_another_process_indexes_answers_at_once_and_says_what_it_covers(
    index: DoomedIndex,
) -> None:
    where = ("--vault", str(index.notes))
    before = index.program.run("search", "bed 17", *where)
    assert (before.code, "not indexed yet" in before.err) == (0, True)
    first = index.program.start("index", str(index.notes), "--json")
    wait_until(lambda: len(index.committed()[1]) >= 32, "the first vectors")
    os.kill(first.pid, signal.SIGSTOP)  # it holds the lock for as long as it stands still
    try:
        during = index.program.json("search", "bed 17", *where)
        answer = index.program.json("ask", "Which row grows in bed 17?", *where)
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert during["hits"]
    covered = f"of {NOTES} notes searched by meaning, all by words."
    assert any(covered in warning for warning in during["warnings"])
    assert answer["citations"]
    assert any("Another Strata" in warning for warning in answer["warnings"])
    assert ended(first).code == 0
    assert "warnings" not in index.program.json("search", "bed 17", *where)
