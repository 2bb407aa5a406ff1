"""What synchronisation and Git leave behind is offered for a look."""

from pathlib import Path

import pytest

from tests.support.vaults.reviewed import review
from vault.notes.note import parse_note

MERGE = (
    "# Merge\n\n<<<<<<< HEAD\nThe gate opens at 7.\n=======\nThe gate opens at 8.\n>>>>>>> other\n"
    "\nThe gate is green.\n"
)


def test_the_marks_of_a_conflict_are_neither_heading_nor_quotation() -> None:
    note, _ = parse_note("Merge.md", MERGE.encode())
    assert [heading.text for heading in note.headings] == ["Merge"]
    assert note.markdown is not None
    assert note.markdown.quoted == ""
    three = MERGE.replace("=======", "||||||| base\nThe gate opens.\n=======")
    note, _ = parse_note("Merge.md", three.encode())
    assert [heading.text for heading in note.headings] == ["Merge"]


def test_marks_that_do_not_belong_together_are_markdown() -> None:
    note, _ = parse_note("Title.md", b"A title\n=======\n\n<<<<<<< HEAD\nText\n")
    assert [heading.text for heading in note.headings] == ["A title"]


def test_a_note_with_a_conflict_is_reported(tmp_path: Path) -> None:
    fenced = f"# Git\n\n```\n{MERGE}```\n"
    (found,) = review(tmp_path, {"Merge.md": MERGE, "Git.md": fenced})
    assert found.kind == "git_conflict"
    assert found.reason.startswith(
        "Git has left two versions of the same lines in this note, from “HEAD” and “other”."
    )
    assert [(note.path, note.first, note.quote) for note in found.notes] == [
        ("Merge.md", 4, "The gate opens at 7."),
        ("Merge.md", 6, "The gate opens at 8."),
    ]


CONFLICT = "<<<<<<< HEAD\nThe gate opens at 7.\n=======\nThe gate opens at 8.\n>>>>>>> other"


@pytest.mark.parametrize(
    "text",
    [
        f"{CONFLICT}\n\nThe gate is green.\n",
        f"\n\n{CONFLICT}\n\n# Gate\n\nIt is green.\n",
        CONFLICT,
        f"---\ntags: gate\n---\n{CONFLICT}\n",
        f"# Gate\n\nIt is green.\n\n{CONFLICT}",
        f"{CONFLICT}\n\n# Gate\n\n{CONFLICT}\n".replace("\n", "\r\n"),
        CONFLICT.replace("The gate opens at 7.", "# Seven\n\n- 7").replace("The", "- The"),
        CONFLICT.replace("The gate opens at 7.\n", ""),
    ],
    ids=range(8),
)
def test_a_conflict_is_found_wherever_its_marks_are(tmp_path: Path, text: str) -> None:
    (found,) = review(tmp_path, {"Gate.md": text})
    assert found.kind == "git_conflict"
    assert "from “HEAD” and “other”" in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "A title\n=======\n\nText.\n\n> > > > > > > deep\n",
        "<<<<<<< HEAD\nThe gate.\n=======\nText.\n",
    ],
)
def test_half_a_conflict_is_none(tmp_path: Path, text: str) -> None:
    assert review(tmp_path, {"Gate.md": text}) == ()


def test_a_conflicted_copy_is_reported_though_it_is_short(tmp_path: Path) -> None:
    copy = "Yusuf (conflicted copy 2026-11-02).md"
    notes = {"Yusuf.md": "# Yusuf\n\nEats peanuts.\n", copy: "# Yusuf\n\nEats nothing.\n"}
    (found,) = review(tmp_path, notes)
    assert found.kind == "conflict_copy"
    assert [note.path for note in found.notes] == [copy, "Yusuf.md"]
    assert found.reason.startswith("The first note is a copy that a synchronisation program made")
