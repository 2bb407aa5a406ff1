"""Whether somebody has a thing is searched. The notes tagged with it are no answer."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Dogs/Kennels.md": "# Kennels\n\nA list of kennels near Kiel. #dog #hund #chien #perro\n",
    "Dogs/Food.md": "# Food\n\nDry food keeps for a year. #dog #hund #chien #perro\n",
    "People/Ada.md": "---\ntags: [person, choir]\nbirthday: 1990-06-03\n---\n# Ada\n\n"
    "Ada has a dog called Bix. Sie hat einen Hund. Elle a un chien. Tiene un perro.\n",
    "Soup.md": "# Soup\n\nLentils, cumin and a lemon.\n",
    "Roof.md": "# Roof\n\nThe tiles were laid in 1962.\n",
    "Server.md": "# Server\n\nThe backup runs at four in the morning.\n",
    "Garden.md": "# Garden\n\nBeans go in after the last frost.\n",
    "Trip.md": "# Trip\n\nThe ferry to Bergen takes nine hours.\n",
    "People/Bo.md": "---\ntags: [person]\n---\n# Bo\n\nBo repairs bicycles.\n",
}


@pytest.mark.parametrize(
    "question",
    [
        "Does anybody have a dog?",
        "Does anyone own a dog?",
        "Has anyone got a dog?",
        "Is there anyone with a dog?",
        "Is there anybody who has a dog?",
        "Do we know somebody with a dog?",
        "Who has a dog?",
        "Hat jemand einen Hund?",
        "Kennt jemand einen Hund?",
        "Gibt es jemanden mit Hund?",
        "Wer hat einen Hund?",
        "Quelqu'un a-t-il un chien ?",
        "Est-ce que quelqu'un a un chien ?",
        "Qui a un chien ?",
        "¿Alguien tiene un perro?",
        "¿Hay alguien con un perro?",
        "¿Quién tiene un perro?",
    ],
)
def test_who_has_a_thing_is_searched_and_not_listed(answer: Asking, question: str) -> None:
    found = answer(question)
    assert found.kind not in ("list", "tasks")
    assert "Bix" in found.text


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Which people have the tag choir?", "1 note in the folder “People”, with the tag #choir"),
        ("Does anybody have a birthday in June?", "1 note with birthday: in June of any year"),
        ("Is there any note with the tag dog?", "2 notes with the tag #dog"),
    ],
)
def test_people_and_notes_are_still_listed(answer: Asking, question: str, begins: str) -> None:
    assert answer(question).text.startswith(begins)
