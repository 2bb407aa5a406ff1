"""Questions in other words and letters than the notes: what is shown, and how sure it is."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Auto.md": "# Auto\n\nDas Öl wird alle 15.000 km gewechselt.\n",
    "Haus.md": "# Haus\n\nFrau Jäger hat die Wände verputzt, und Herr Bruemmer das Dach gedeckt.\n",
    "Rat.md": "# Rat\n\nDie Sitzung fing um 19:30 Uhr an. Frau Öz stellte das Gutachten vor.\n",
    "Chor.md": "# Chor\n\nDie Probe wird um acht anfangen. An ihr haben 14 Leute teilgenommen.\n",
    "Paket.md": "# Paket\n\nDas Paket wurde von Jonas abgeholt und die Rechnung beigelegt.\n",
    "Harvest.md": "# Harvest\n\n| crop | kg |\n|---|---|\n| beans | 11.5 |\n| plums | 31 |\n",
    "Stew.md": "# Stew\n\n- 2 kg lamb\n- 3 l stock\n\nIt simmers for 90 min.\n",
    "Ernte.md": "# Ernte\n\nDieses Jahr gab es 14 kg Quitten.\n",
    "Vendange.md": "# Vendange\n\nNous avons fait 40 l de jus de raisin.\n",
    "Aceite.md": "# Aceite\n\nLa cooperativa vendió 12 l de aceite a la escuela.\n",
    "Crêpes.md": "# Crêpes\n\nOn bat les œufs avec le lait, puis la pâte repose une heure.\n",
    "Łódź.md": "# Łódź\n\nThe train to Łódź leaves at 8:15 from platform 4.\n",
    "Barco.md": "# Barco\n\nLa lancha Køge lleva dos años en el puerto de Gijón.\n",
}


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Wann wird das Oel gewechselt?", "15.000 km"),
        ("Wer hat die Waende verputzt?", "Jäger"),
        ("Was hat Frau Jaeger verputzt?", "Wände"),
        ("Was hat Herr Brümmer gedeckt?", "Dach"),
        ("Avec quoi bat-on les oeufs ?", "avec le lait"),
        ("When does the train to Lodz leave?", "8:15"),
        ("¿Cuántos años lleva la lancha Koge en el puerto?", "dos años"),
    ],
)
def test_letters_that_a_keyboard_lacks_are_written_in_other_ways(
    answer: Asking, question: str, shown: str
) -> None:
    found = answer(question)
    assert shown in found.text
    assert found.kind == "answer"


@pytest.mark.parametrize(
    ("question", "lit"),
    [
        ("Wann fängt die Sitzung an?", "Die Sitzung fing um 19:30 Uhr an."),
        ("Wann hat die Sitzung angefangen?", "Die Sitzung fing um 19:30 Uhr an."),
        ("Wer stellt das Gutachten vor?", "Frau Öz stellte das Gutachten vor."),
        ("Wer hat das Gutachten vorgestellt?", "Frau Öz stellte das Gutachten vor."),
        ("Wann fängt die Probe an?", "Die Probe wird um acht anfangen."),
        ("Wer holte das Paket ab?", "von Jonas abgeholt"),
    ],
)
def test_a_german_verb_is_found_beside_its_particle_and_joined_with_it(
    answer: Asking, question: str, lit: str
) -> None:
    found = answer(question)
    assert lit in found.text
    assert found.kind == "answer"


@pytest.mark.parametrize(
    ("question", "lit"),
    [
        ("How many kilos of plums did we harvest?", "plums | 31 [1]"),
        ("How many kilos of lamb does the stew need?", "2 kg lamb [1]"),
        ("How many litres of stock does the stew need?", "3 l stock [1]"),
        ("How many hours does the stew simmer?", "90 min. [1]"),
        ("Wie viele Kilo Quitten gab es dieses Jahr?", "14 kg Quitten. [1]"),
        ("Combien de litres de jus de raisin avons-nous fait ?", "40 l de jus de raisin. [1]"),
        ("¿Cuántos litros de aceite vendió la cooperativa?", "12 l de aceite a la escuela. [1]"),
    ],
)
def test_an_amount_answers_in_any_unit_of_what_is_asked(
    answer: Asking, question: str, lit: str
) -> None:
    found = answer(question)
    assert lit in found.text
    assert found.kind == "answer"


def test_no_amount_of_something_else_is_an_answer(answer: Asking) -> None:
    assert answer("How many kilos of pears did we harvest?").kind != "answer"


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Which notes mention Oel?", "1 note containing “Öl”"),
        ("Welche Notizen enthalten Waende?", "1 note containing “Wände”"),
        ("Welche Notizen enthalten Brümmer?", "1 note containing “Bruemmer”"),
        ("Which notes mention Koenig?", "No note containing “Koenig”"),
    ],
)
def test_a_list_says_how_the_notes_write_its_words(
    answer: Asking, question: str, begins: str
) -> None:
    assert answer(question).text.startswith(begins)
