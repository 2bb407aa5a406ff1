"""Overdue tasks, old drafts and notes of one title are found, and what only looks so is not."""

from pathlib import Path

import pytest

from tests.support.vaults.reviewed import review


@pytest.mark.parametrize(
    "task",
    [
        "- [ ] Call the roofer 📅 2026-05-30",
        "* [/] Call the roofer [due:: 2026-05-30]",
        "1. [ ] Call the roofer, due 2026-05-30 ⏳ 2026-07-01",
        "> - [ ] Call the roofer ➕ 2026-01-01 📅 2026-05-30",
        "- TODO [#A] Call the roofer\n  DEADLINE: <2026-05-30 Sat>",
    ],
)
def test_an_open_task_that_was_due_is_overdue(tmp_path: Path, task: str) -> None:
    (found,) = review(tmp_path, {"House.md": f"# House\n\n{task}\n"}, kinds=["overdue"])
    assert found.reason == "This task was due on 30 May 2026."
    assert found.notes[0].first == 3


@pytest.mark.parametrize(
    "task",
    [
        "- [x] Call the roofer 📅 2026-05-30",
        "- [-] Call the roofer 📅 2026-05-30",
        "- [ ] Call the roofer 📅 2026-06-01",
        "- [ ] Call the roofer ⏳ 2026-05-30",
        "- [ ] Call the roofer ⏳ 2026-05-30 📅 2026-06-02",
        "- [ ] Call the roofer ➕ 2026-05-30",
        "- Call the roofer 📅 2026-05-30",
        "- DONE Call the roofer\n  DEADLINE: <2026-05-30 Sat>",
        "- LATER Call the roofer\n  SCHEDULED: <2026-05-30 Sat>",
        "```\n- [ ] Call the roofer 📅 2026-05-30\n```",
    ],
)
def test_other_tasks_are_not(tmp_path: Path, task: str) -> None:
    assert review(tmp_path, {"House.md": f"# House\n\n{task}\n"}, kinds=["overdue"]) == ()


def test_overdue_tasks_of_a_note_are_one_finding(tmp_path: Path) -> None:
    text = "- [ ] A 📅 2026-05-30\n- [ ] B 📅 2026-05-02\n- [ ] C\n"
    (found,) = review(tmp_path, {"House.md": text}, kinds=["overdue"])
    assert found.reason == "2 open tasks are overdue, the oldest since 2 May 2026."
    assert (found.notes[0].first, found.notes[0].quote) == (2, "B 📅 2026-05-02")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Essay.md", "---\nstatus: Draft\n---\nText.\n"),
        ("Essay.md", "---\ndraft: true\n---\nText.\n"),
        ("Essay.md", "Text. #draft\n"),
        ("Drafts/Essay.md", "Text.\n"),
        ("Essay (Entwurf).md", "Text.\n"),
        ("Essay.md", "---\nstatus: draft\nupdated: 2025-03-01\n---\nText.\n"),
    ],
)
def test_a_draft_that_was_not_touched_for_a_year_is_found(
    tmp_path: Path, path: str, text: str
) -> None:
    day = "2026-05-01" if "updated" in text else "2025-03-01"
    (found,) = review(tmp_path, {path: text}, {path: day}, kinds=["draft"])
    assert found.reason == "This draft was last changed on 1 March 2025."


@pytest.mark.parametrize(
    ("path", "text", "day"),
    [
        ("Essay.md", "---\nstatus: draft\n---\nText.\n", "2025-08-01"),
        ("Essay.md", "---\nstatus: done\n---\nText.\n", "2024-08-01"),
        ("Essay.md", "---\ndraft: false\n---\nText.\n", "2024-08-01"),
        ("Essay.md", "A draft of the essay.\n", "2024-08-01"),
        ("Draughts.md", "Text.\n", "2024-08-01"),
    ],
)
def test_other_notes_are_no_old_drafts(tmp_path: Path, path: str, text: str, day: str) -> None:
    assert review(tmp_path, {path: text}, {path: day}, kinds=["draft"]) == ()


def test_notes_of_one_title_are_found(tmp_path: Path) -> None:
    notes = {
        "House/Insurance.md": "Call Berger.\n",
        "Work/Insurance.md": "Call Lund.\n",
        "Work/Policy.md": "# insurance\n\nCall nobody.\n",
        "House/README.md": "House.\n",
        "Work/README.md": "Work.\n",
    }
    (found,) = review(tmp_path, notes, kinds=["same_title"])
    assert found.reason == "3 notes have the title “Insurance”."
    assert [note.path for note in found.notes] == list(notes)[:3]


def test_copies_are_not_reported_for_their_title_too(tmp_path: Path) -> None:
    text = "# Plan\n\n" + " ".join(f"word{n}" for n in range(60))
    found = review(tmp_path, {"Plan.md": text, "Old/Plan.md": text})
    assert [each.kind for each in found if each.kind != "orphan"] == ["duplicate"]
