"""What notes call otherwise is found: a sum, a state, and who took part on a day."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Bills/Heating.md": "---\namount: 210 €\npaid: false\n---\nThe heating.\n",
    "Bills/Phone.md": "---\namount: 25 €\npaid: true\n---\nThe phone.\n",
    "Bills/Insurance.md": "---\namount: 480 €\npaid: false\n---\nThe house.\n",
    "Meetings/2026-11-20 Board.md": "---\nattendees: [Marek, Noor]\n---\n# Board\n\nPaint.\n",
    "Meetings/2026-10-16 Board.md": "---\nattendees: [Ada]\n---\n# Board\n\nRoof.\n",
    "Meetings/2026-11-23 Office.md": "---\nattendees:\n  - [[Cy]]\n  - [[Di]]\n---\n# Office\n",
    "Meetings/2026-11-21 Staff.md": "---\nattendees: [Bo]\n---\n# Staff\n\nRota.\n",
}


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("How much do the unpaid bills cost in total?", "690"),
        ("What do the unpaid bills cost altogether?", "690"),
        ("How much do all bills cost in total?", "715"),
        ("Wie viel kosten alle Rechnungen zusammen?", "715"),
    ],
)
def test_a_cost_is_added_up_whatever_its_property_is_called(
    answer: Asking, question: str, total: str
) -> None:
    assert total in answer(question).text.partition("\n")[0]


@pytest.mark.parametrize(
    "question",
    [
        "Welche Rechnungen sind noch nicht bezahlt?",
        "Welche Rechnungen sind unbezahlt?",
        "Quelles factures ne sont pas encore payées ?",
        "¿Qué facturas no están pagadas?",
    ],
)
def test_a_state_is_known_in_other_languages(answer: Asking, question: str) -> None:
    text = answer(question).text
    assert text.startswith("2 notes in the folder “Bills”, without paid: true")
    assert "Phone" not in text


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who attended the board meeting on 20 November?", "attendees: [Marek, Noor]"),
        ("Who attended the board meeting on 16 October 2026?", "attendees: [Ada]"),
        ("Who attended the office meeting?", "attendees: Cy, Di"),
        ("Who attended the staff meeting?", "attendees: [Bo]"),
    ],
)
def test_a_note_is_told_by_the_day_in_its_name(answer: Asking, question: str, names: str) -> None:
    assert names in answer(question).text


def test_of_a_day_without_such_a_note_nothing_is_told(answer: Asking) -> None:
    text = answer("Who attended the board meeting on 3 November?").text
    assert not text.startswith(("attendees", "No note"))
