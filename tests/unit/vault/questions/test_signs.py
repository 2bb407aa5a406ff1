"""Signs such as ">" and "≥" in questions compare as words such as "above" do, or claim nothing."""

from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES: Final = {
    f"Books/B{number}.md": f"---\nrating: {number}\ndue: 2026-12-1{number}\n---\n#book\n"
    for number in range(1, 6)
} | {
    "Trees/Oak.md": "---\nheight: 4\n---\n#tree\n",
    "Trees/Elm.md": "---\nheight: 5\n---\n#tree\n",
    "Paths.md": "From rain to snow.\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("List all notes with rating > 3", "B4 B5"),
        ("List all notes with rating>3", "B4 B5"),
        ("List all notes with rating >= 4", "B4 B5"),
        ("List all notes with rating > = 4", "B4 B5"),
        ("List all notes with rating => 4", "B4 B5"),
        ("List all notes with rating ≥4", "B4 B5"),
        ("List all notes with rating > -3", "B1 B2 B3 B4 B5"),
        ("List all notes with rating above -3", "B1 B2 B3 B4 B5"),
        ("List all notes with rating < 3", "B1 B2"),
        ("List all notes with rating <= 2", "B1 B2"),
        ("List all notes with rating ≤ 2", "B1 B2"),
        ("List all notes with rating = 5", "B5"),
        ("List all notes with rating 4+", "B4 B5"),
        ("List all books with rating: >3", "B4 B5"),
        ("How many books have > 3 rating?", "B4 B5"),
        ("Liste alle Notizen mit rating ≥ 4", "B4 B5"),
        ("Quels livres ont rating < 2 ?", "B1"),
        ("List all notes with rating > 2 and rating < 5", "B3 B4"),
        ("Which books have due < 2026-12-13?", "B1 B2"),
        ("Which books have due <= 2026-12-13?", "B1 B2 B3"),
        ("Which books have due > 2026-12-13?", "B4 B5"),
        ("Which books have due >= 2026-12-13 and rating < 5?", "B3 B4"),
        ("Which books have due < 2026-12-13 and rating 2?", "B2"),
        ("Show all notes with height>4 and the tag tree!", "Elm"),
    ],
)
def test_a_sign_compares(index: Vault, question: str, names: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    found = index.list_notes(reading.query, 100)
    listed = sorted(hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits)
    assert listed == names.split()


@pytest.mark.parametrize(
    "question",
    [
        "List all notes with rating !> 3",
        "List all notes with rating >> 3",
        "List all notes with rating ~ 4",
        "List all notes with rating > -3-4",
        "List all notes with rating 2 -4",
        "List all notes where 3 < rating",
        "List all notes where 2 < rating < 5",
        "List all books with due below 2026-12-13",
        "List all trees > 4",
        "Which trees are higher than 4?",
        "Which trees are taller than 4?",
        "List all trees higher than 4",
        "How many trees are over 4?",
        "Which books are older than 3?",
        "Which books are younger than 1983?",
        "Welche Bäume sind höher als 4?",
    ],
)
def test_a_comparison_without_a_condition_is_searched(index: Vault, question: str) -> None:
    reading = index.read_question(question)
    assert reading is None or reading.operation == "about"


def test_an_arrow_is_no_sign(index: Vault) -> None:
    reading = index.read_question("List all notes that mention rain -> snow")
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", "rain snow")
