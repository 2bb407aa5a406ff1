"""A review reads the whole catalog, tells its progress, can be ended, and takes linear time."""

import time
from pathlib import Path
from random import Random

import pytest

from tests.support.vaults.reviewed import make_catalog, name_paths, review
from vault.errors import IndexUnusable
from vault.review.findings import Finding, FindingNote, choose_findings
from vault.review.review import ReviewProgress, ReviewReport, review_notes

BARREL = "# {}\n\nThe rain barrel holds {} litres.\n"


class Ended(Exception):
    """The test ends a review."""


def test_the_kinds_come_in_order_and_progress_is_told(tmp_path: Path) -> None:
    copy = " ".join(f"word{n}" for n in range(100))
    notes = {
        "Barrel.md": BARREL.format("Barrel", 210),
        "Copy.md": copy,
        "Copy 2.md": copy,
        "Garden.md": BARREL.format("Garden", 200),
        "Plan.md": "# Plan\n\nSource: [[Barrel]]\n",
        **{f"Other {n}.md": f"Note number {n}.\n" for n in range(30)},
    }
    make_catalog(tmp_path, notes, {"Barrel.md": "2026-04-01"})
    *progress, report = review_notes(tmp_path, tmp_path)
    assert isinstance(report, ReviewReport)
    assert name_paths(report.findings) == [
        ("contradiction", "Barrel.md", "Garden.md"),
        ("duplicate", "Copy 2.md", "Copy.md"),
        ("outdated", "Plan.md", "Barrel.md"),
    ]
    assert report.notes == 35
    assert progress == [ReviewProgress(20, 35), ReviewProgress(35, 35, is_comparing=True)]


def test_a_review_ends_where_its_check_raises(tmp_path: Path) -> None:
    make_catalog(tmp_path, {f"{n}.md": f"Note {n}.\n" for n in range(50)}, {})
    checks = 0

    def check() -> None:
        nonlocal checks
        checks += 1
        if checks == 30:
            raise Ended

    with pytest.raises(Ended):
        list(review_notes(tmp_path, tmp_path, check))


def test_without_an_index_there_is_nothing_to_review(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="not indexed yet"):
        list(review_notes(tmp_path, tmp_path))


def test_an_empty_vault_has_no_findings(tmp_path: Path) -> None:
    assert review(tmp_path, {"Empty.md": "\n"}) == ()


def test_a_note_is_in_few_findings_of_a_kind() -> None:
    findings = [
        Finding("duplicate", (FindingNote("A.md", ""), FindingNote(f"{n}.md", "")), "", "", n)
        for n in range(9)
    ]
    chosen = choose_findings(findings)
    assert [one.notes[1].path for one in chosen] == ["8.md", "7.md", "6.md", "5.md"]


def test_the_key_of_a_finding_does_not_depend_on_the_order_of_its_notes() -> None:
    notes = FindingNote("A.md", "A"), FindingNote("B.md", "B")
    one = Finding("duplicate", notes, "why", "", 1.0)
    other = Finding("duplicate", (notes[1], notes[0]), "because", "", 2.0)
    assert one.key == other.key
    assert one.key != Finding("duplicate", notes, "why", "changed", 1.0).key


def test_the_time_grows_with_the_notes_and_not_with_their_pairs(tmp_path: Path) -> None:
    random, words = Random(3), [f"word{n}" for n in range(4_000)]

    def measure(count: int) -> float:
        folder = tmp_path / str(count)
        notes = {
            f"{n}.md": f"# {n}\n\nThere are {n} " + " ".join(random.choices(words, k=80))
            for n in range(count)
        }
        make_catalog(folder, notes, {})
        started = time.process_time()
        list(review_notes(folder, folder))
        return time.process_time() - started

    measure(20)  # imports
    assert measure(800) < 12 * measure(200) + 0.5
