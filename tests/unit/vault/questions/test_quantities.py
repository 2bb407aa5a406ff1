"""Numbers in questions keep their sign and unit, and the limits of a range hold for one value."""

from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

GAINS: Final = {"Loss": "-5", "Win": "5", "Dip": "-5.5", "Minus": "−7 EUR"}
WEIGHTS: Final = {"Heavy": "5 kg", "Light": "2 kg", "Tiny": "500 g", "Ton": "1 t"}
NOTES: Final = (
    {f"Gains/{name}.md": f"---\ngain: {gain}\n---\n" for name, gain in GAINS.items()}
    | {f"Weights/{name}.md": f"---\nweight: {each}\n---\n" for name, each in WEIGHTS.items()}
    | {
        "Lists/Apart.md": "---\nscore: [2, 10]\ndays: [2025-05-01, 2027-05-01]\n---\n",
        "Lists/Near.md": "---\nscore: [1, 4]\ndays: [2026-05-01]\n---\n",
        "Lists/Eight.md": "---\nscore: 8\n---\n",
        "Times/Film.md": "---\nduration: 90 min\nfee: 5 boxes\n---\n",
        "Times/Nap.md": "---\nduration: 0.5 h\nfee: 3 EUR\n---\n",
        "Times/Walk.md": "---\nduration: 45\nfee: 7 EUR\n---\n",
    }
)


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def list_names(index: Vault, question: str) -> str | None:
    """Return the names that a question lists, or None if it is not read as a list or count."""
    reading = index.read_question(question)
    if reading is None or reading.operation not in ("list", "count"):
        return None
    found = index.list_notes(reading.query, 100)
    return " ".join(sorted(hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a gain of 5?", "Win"),
        ("Which notes have a gain of -5?", "Loss"),
        ("Which notes have a gain of −5?", "Loss"),
        ("Which notes have a gain above -5.2?", "Loss Win"),
        ("Which notes have gain > -5.2?", "Loss Win"),
        ("Which notes have gain>-5.2?", "Loss Win"),
        ("List all notes with gain: -5", "Loss"),
        ("Which notes have a gain of -7 EUR?", "Minus"),
        ("Which notes have a gain of 7 EUR?", ""),
        ("Which notes have a gain between -6 and -4?", "Dip Loss"),
        ("Which notes have a gain other than -5?", "Dip Minus Win"),
        ("Welche Notizen haben einen gain unter -5,2?", "Dip Minus"),
        ("List all notes with score 2-4", "Apart Near"),
        ("List all notes with score 2 - 4", "Apart Near"),
    ],
)
def test_a_minus_belongs_to_its_number(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names
