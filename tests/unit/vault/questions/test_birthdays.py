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
        ("Which birthdays are before June?", "[birthday:--01-01..--05-31]"),
        ("Who has a birthday between May and July?", "[birthday:--05-01..--07-31]"),
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
    ("question", "today", "condition"),
    [
        ("Who has a birthday next week?", date(2026, 11, 28), "[birthday:--11-30..--12-06]"),
        ("Who has a birthday next week?", date(2026, 12, 23), "[birthday:--12-28..--01-03]"),
        ("Who was born last week?", date(2026, 11, 28), "[birthday:--11-16..--11-22]"),
        ("Whose birthday was last week?", date(2026, 11, 28), "[birthday:--11-16..--11-22]"),
        ("Who has a birthday this week?", date(2026, 11, 28), "[birthday:--11-23..--11-29]"),
        (
            "Who has a birthday in the next two weeks?",
            date(2026, 11, 28),
            "[birthday:--11-29..--12-12]",
        ),
        ("Who has a birthday next month?", date(2026, 11, 28), "[birthday:--12]"),
        ("Who has a birthday this year?", date(2026, 11, 28), "[birthday:--01-01..--12-31]"),
        ("Which birthdays are before 1 June?", date(2026, 11, 28), "[birthday:--01-01..--05-31]"),
        (
            "Who has a birthday between 20 and 28 February?",
            date(2026, 11, 28),
            "[birthday:--02-20..--02-29]",
        ),
        ("Wer hat nächste Woche Geburtstag?", date(2026, 11, 28), "[birthday:--11-30..--12-06]"),
        ("Wer wurde letzte Woche geboren?", date(2026, 11, 28), "[birthday:--11-16..--11-22]"),
        (
            "Qui a son anniversaire la semaine prochaine ?",
            date(2026, 11, 28),
            "[birthday:--11-30..--12-06]",
        ),
        (
            "¿Quién cumple años la próxima semana?",
            date(2026, 11, 28),
            "[birthday:--11-30..--12-06]",
        ),
    ],
)
def test_days_that_depend_on_today_are_those_of_any_year(
    index: Vault, question: str, today: date, condition: str
) -> None:
    reading = index.read_question(question, today)
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", condition)


def test_a_range_of_any_year_may_end_in_the_next_one(index_of_notes: NotesIndexer) -> None:
    days = ("1990-12-30", "2001-01-02", "1980-01-04", "1999-12-27", "some day")
    vault = index_of_notes({f"{day}.md": f"---\nbirthday: {day}\n---\n" for day in days})
    found = vault.list_notes("[birthday:--12-28..--01-03]", 10)
    assert {hit.path for hit in found.hits} == {"1990-12-30.md", "2001-01-02.md"}
    assert "from 28 December to 3 January of any year" in found.describe_total()


def test_no_list_is_made_of_days_that_no_condition_can_say(index: Vault) -> None:
    assert index.read_question("Who was born before 3 June?") is None


def test_no_list_is_made_where_a_day_is_written_in_words(index: Vault) -> None:
    assert index.read_question("Which notes have an adopted date in August?") is None
