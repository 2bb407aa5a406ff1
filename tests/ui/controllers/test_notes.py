"""Where a link in a text leads."""

import pytest

from ui.controllers.notes import find_note
from vault.index import NoteState

NOTES = (
    NoteState("a/Plan.md", "The plan", "indexed"),
    NoteState("b/paper.pdf", "paper", "indexed"),
    NoteState("b/paper.md", "About the paper", "indexed"),
)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Plan", "a/Plan.md"),
        ("a/plan", "a/Plan.md"),
        ("the plan", "a/Plan.md"),
        ("paper.pdf", "b/paper.pdf"),
        ("b/paper.pdf", "b/paper.pdf"),
        ("paper.md", "b/paper.md"),
        ("Nothing", None),
    ],
)
def test_a_link_leads_to_a_path_a_name_or_a_title(name: str, path: str | None) -> None:
    assert find_note(NOTES, name) == path
