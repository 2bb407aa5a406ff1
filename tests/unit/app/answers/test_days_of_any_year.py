"""A month without a year means that month of any year, if a property holds days of other years."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "People/Ada.md": "---\nbirthday: 2017-12-03\n---\n# Ada\n\nPlays the violin.\n",
    "People/Nils.md": "birthday:: [[1971-06-08]]\n\n- Builds chimneys.\n",
    "People/Leila.md": "---\nbirthday: 1984-02-17\n---\n# Leila\n\nMakes pots.\n",
    "House/Van.md": "---\ninspection: 2031-04-01\n---\n# Van\n\nIt is blue.\n",
    "House/Boiler.md": "---\nserviced: 2026-04-09\n---\n# Boiler\n\nIt hums.\n",
    "House/Stove.md": "---\nserviced: 2019-04-02\n---\n# Stove\n\nIt is hot.\n",
}


@pytest.mark.parametrize(
    ("question", "begins", "name"),
    [
        ("Who has a birthday in December?", "in December of any year", "Ada"),
        ("Who has a birthday on 3 December?", "on 3 December of any year", "Ada"),
        ("Does anybody have a birthday in June?", "in June of any year", "Nils"),
        ("Which birthdays are in June?", "in June of any year", "Nils"),
        ("Wer hat im Dezember Geburtstag?", "in December of any year", "Ada"),
        ("Qui a son anniversaire en juin ?", "in June of any year", "Nils"),
        ("¿Quién cumple años en febrero?", "in February of any year", "Leila"),
        ("Which notes have an inspection in April?", "in April of any year", "Van"),
    ],
)
def test_a_day_that_comes_every_year_is_found(
    answer: Asking, question: str, begins: str, name: str
) -> None:
    text = answer(question).text
    assert text.startswith("1 note with")
    assert begins in text
    assert f"- {name}: " in text


def test_of_several_years_the_one_that_a_month_usually_means_is_meant(answer: Asking) -> None:
    text = answer("Which notes have a serviced date in April?").text
    assert "Boiler" in text
    assert "Stove" not in text


def test_finding_none_names_the_month(answer: Asking) -> None:
    text = answer("Who has a birthday in August?").text
    assert text.startswith("No note with birthday: in August of any year")


def test_a_year_that_is_named_is_kept(answer: Asking) -> None:
    assert answer("Who has a birthday in June 1972?").text.startswith("No note with")
    assert answer("Who was born in 1984?").text.startswith("1 note with birthday:")


@pytest.mark.parametrize(
    "question",
    [
        "How old is Ada?",
        "Wie alt ist Ada?",
        "Quel âge a Ada ?",
        "¿Cuántos años tiene Ada?",
    ],
)
def test_a_birthday_tells_how_old_someone_is(answer: Asking, question: str) -> None:
    assert "birthday: 2017-12-03 [1]" in answer(question).text
