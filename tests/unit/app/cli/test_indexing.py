"""`strata index` and `strata selftest`, and the progress that they show."""

from itertools import pairwise
from pathlib import Path

import pytest

from app.cli.output import ProgressLine, format_progress
from tests.support.processes.command_line import Strata, document
from vault.indexing.indexer import IndexProgress


def test_the_self_test_asks_for_the_notes_that_are_there(strata: Strata, small_vault: Path) -> None:
    where = ("--vault", str(small_vault))
    assert "`strata index` makes it" in strata("selftest", *where)[2]
    strata("index", str(small_vault))
    code, out, _ = strata("selftest", *where, "--json")
    result = document(out)
    assert code == 0
    assert set(result) == {
        *("questions", "recall_at_1", "recall_at_10", "mrr", "p50_ms", "p95_ms", "ranking"),
        "tuning",
    }
    assert (result["ranking"], result["tuning"]) == (None, "not_tried")
    assert result["questions"] > 0
    assert result["recall_at_10"] >= 0.5
    said = strata("selftest", *where)[1]
    assert "questions made from your notes" in said
    assert "not tried yet" in said


def test_a_self_test_of_an_empty_folder_shows_no_figures(strata: Strata, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    strata("index", str(tmp_path / "empty"))
    said = "No questions could be made from your notes, so nothing was measured.\n"
    assert strata("selftest", "--vault", str(tmp_path / "empty"))[:2] == (0, said)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (IndexProgress("seen"), "Reading your notes"),
        (IndexProgress("scan", "a.md", 3, 9), "Indexing by words: 3 of 9 notes  a.md"),
        (
            IndexProgress("embed", "", 3, 1_200, 41.6),
            "Indexing by meaning: 3 of 1,200 notes, 42 a second, 29 s left",
        ),
        (
            IndexProgress("embed", "", 12, 60, 0.42),
            "Indexing by meaning: 12 of 60 notes, 0.4 a second, 2 min left",
        ),
        (
            IndexProgress("embed", "", 0, 7_500, 1.0),
            "Indexing by meaning: 0 of 7,500 notes, 1.0 a second, 2 h 5 min left",
        ),
        (IndexProgress("store"), "Updating the vector store"),
    ],
)
def test_progress_says_what_is_being_done(at: IndexProgress, words: str) -> None:
    assert format_progress(at) == words


def test_progress_replaces_the_line_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    line = ProgressLine()
    line.show("Searching…")
    line.show_progress(IndexProgress("scan", "a\nb.md", 3, 9))
    shown = capsys.readouterr().err
    assert shown == "\rSearching…\rIndexing by words: 3 of 9 notes  a b.md"


class Clock:
    """A clock that is set by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    line = ProgressLine(clock)
    said = {}
    for tenth in range(200):
        clock.now = 100 + tenth / 10
        line.show("Searching…")
        line.show_progress(IndexProgress("scan", "a.md", tenth, 999))
        if shown := capsys.readouterr().err:
            said[tenth / 10] = shown
    assert list(said) == [1, 4, 7, 10, 13, 16, 19]
    assert said[4] == "strata: Indexing by words: 40 of 999 notes\n"


def test_lines_of_progress_become_rarer(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    line = ProgressLine(clock)
    for second in range(3 * 3_600):
        clock.now = 100 + second
        line.show_long(f"Loading: {second}")
    times = [int(said.split()[-1]) for said in capsys.readouterr().err.splitlines()]
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps == sorted(gaps)
    assert (gaps[0], gaps[-1]) == (3, 60)


def test_an_index_is_rebuilt_and_a_failed_note_retried_when_asked(
    strata: Strata, small_vault: Path
) -> None:
    (small_vault / "Broken.md").write_bytes(b"\xff\xff")
    where = (str(small_vault), "--json")
    first = document(strata("index", *where)[1])
    assert document(strata("index", *where)[1])["embedded_chunks"] == 0
    again = document(strata("index", "--rebuild", *where)[1])
    assert (again["added"], again["embedded_chunks"]) == (first["notes"], first["embedded_chunks"])
    assert document(strata("index", "--retry", *where)[1])["failed"] == first["failed"]
    assert strata("index", "--retry", "--rebuild", *where)[0] == 2
