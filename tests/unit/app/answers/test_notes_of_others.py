"""Tags, properties and dates as other programs write them are found by questions and filters."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Bread.md": "# Bread\n\n#bread baking# #recipes\n\nFeed the starter every evening.\n",
    "Focaccia.md": "# Focaccia\n#bread baking#\n\nIt needs a night in the fridge.\n",
    "Shed.md": "---\nproject:\n  name: Boat shed\n  state: waiting\n  lead: [[Marek]]\n---\n"
    "# Shed\n\nCedar boards.\n",
    "Scan.md": "---\nproject: {name: Archive, state: done}\n---\n# Scan\n\nOld letters.\n",
    "Board.md": "---\nattendees:\n  - [[Marek]]\n  - [[Noor]]\n---\n# Board\n\nPaint the hall.\n",
    "Staff.md": "---\nattendees:\n  - [[Noor]]\n---\n# Staff\n\nNew rota.\n",
    "Marek.md": "# Marek\n\nA carpenter.\n",
    "Noor.md": "# Noor\n\nPlays the cello.\n",
    "journals/2026_11_25.md": "- Lunch\n- TODO Pay the rent\n  DEADLINE: <2026-12-01 Tue>\n"
    "- LATER Sort the slides\n  SCHEDULED: <2026-12-05 Sat>\n",
}


@pytest.mark.parametrize(
    ("question", "begins", "name"),
    [
        ("#bread baking#", "2 notes with the tag #bread baking", "Focaccia"),
        ("List all notes tagged #bread baking#", "2 notes with the tag #bread baking", "Bread"),
        ("Which notes have the tag bread baking?", "2 notes with the tag #bread baking", "Bread"),
        ('tag:"bread baking" tag:recipes', "1 note with the tag #bread baking", "Bread"),
        ("[project.state:waiting]", "1 note with project.state: waiting", "Shed"),
        ("Which notes have the project state done?", "1 note with project.state: done", "Scan"),
        ("Which notes have the attendee Marek?", "1 note with attendees: Marek", "Board"),
        ("[attendees:Noor]", "2 notes with attendees: Noor", "Staff"),
        ("[project.lead:Marek]", "1 note with project.lead: Marek", "Shed"),
    ],
)
def test_names_of_other_programs_are_filters(
    answer: Asking, question: str, begins: str, name: str
) -> None:
    text = answer(question).text
    assert text.startswith(begins)
    assert f"- {name}" in text


@pytest.mark.parametrize(
    "question",
    ["Which tasks are open?", "Welche Aufgaben sind offen?", "due:..2027", "tareas abiertas"],
)
def test_a_task_is_shown_with_the_deadline_below_it(answer: Asking, question: str) -> None:
    found = answer(question)
    assert "Pay the rent DEADLINE: <2026-12-01 Tue>" in found.text
    lit = [each.lines for each in found.checked.citations if "rent" in (each.quote or "")]
    assert lit == [(2, 3)]
