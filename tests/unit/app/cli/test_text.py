"""What is printed on a terminal."""

from app.cli.text import list_edits


def test_the_notes_that_an_answer_changed_are_listed_with_the_way_to_undo_it() -> None:
    notes = [
        {"path": "a.md", "old_path": None, "is_new": False, "diff": ""},
        {"path": "b\x1b.md", "old_path": None, "is_new": True, "diff": ""},
        {"path": "d.md", "old_path": "c.md", "is_new": False, "diff": ""},
    ]
    assert list(list_edits({"run": "12ab34cd", "notes": notes})) == [
        "",
        "Changed notes:",
        "  a.md",
        "  b\\x1b.md (new)",
        "  d.md (was c.md)",
        "Undo with: strata undo --run 12ab34cd",
    ]
