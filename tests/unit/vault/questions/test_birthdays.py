"""Birthdays come every year: none is passed over, whatever year somebody was born in."""

from datetime import date
from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

TODAY: Final = date.today()
NOTES: Final = {
    "People/Ada.md": "---\nbirthday: 1985-06-09\n---\n# Ada\n",
    "People/Tom.md": f"---\nbirthday: {TODAY.year}-06-07\n---\n# Tom\n",
    "People/Nils.md": f"---\nbirthday: 1971-{TODAY:%m-%d}\n---\n# Nils\n",
    "Pets/Rex.md": "---\nadopted: 2019-08-03\n---\n# Rex\n",
    "Pets/Mia.md": "---\nadopted: August 9, 2021\n---\n# Mia\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Who has a birthday in June?", "[birthday:--06]"),  # Tom was born in June of this year
        ("Who was born in June?", "[birthday:--06]"),
        ("Who has a birthday on June 7?", "[birthday:--06-07]"),
        ("Who has a birthday today?", f"[birthday:--{TODAY:%m-%d}]"),
        ("Whose birthday is today?", f"[birthday:--{TODAY:%m-%d}]"),
        ("Who has a birthday this month?", f"[birthday:--{TODAY:%m}]"),
        ("Who was born in June 1985?", "[birthday:>=1985-06-01 <1985-07-01]"),
        (
            "Who was born this year?",
            f"[birthday:>={TODAY.year}-01-01 <{TODAY.year + 1}-01-01]",
        ),
    ],
)
def test_a_birthday_is_that_of_any_year(index: Vault, question: str, condition: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", condition)


@pytest.mark.parametrize(
    "question",
    [
        "Who has a birthday next week?",
        "Who has a birthday this year?",
        "Which birthdays are before June?",
    ],
)
def test_no_list_is_made_of_days_that_no_condition_can_say(index: Vault, question: str) -> None:
    assert index.read_question(question) is None


def test_no_list_is_made_where_a_day_is_written_in_words(index: Vault) -> None:
    assert index.read_question("Which notes have an adopted date in August?") is None
