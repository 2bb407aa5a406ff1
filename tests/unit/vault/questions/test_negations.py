"""What a question excludes is left out of the list, or nothing is claimed."""

from datetime import date
from typing import Final

import pytest

from tests.support.vaults.listed_notes import list_note_names
from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import read_question
from vault.questions.vocabulary import Name, VaultNames
from vault.vault import Vault

TODAY: Final = date(2026, 11, 26)
NOTES: Final = {
    "Films/Tenet.md": "---\ntags: [film]\nrating: 2\n---\nNolan.\n",
    "Films/Stalker.md": "---\ntags: [film]\nrating: 5\n---\nTarkovsky.\n",
    "Films/Parasite.md": "---\ntags: [film]\nrating: 5\n---\nBong.\n",
    "Films/Paterson.md": "---\ntags: [film]\nrating: 4\n---\nJarmusch.\n",
    "Food/Goulash.md": "---\ntags: [recipe]\nduration: 3 h\n---\nBeef.\n",
    "Food/Risotto.md": "---\ntags: [recipe]\nduration: 40 min\n---\nRice.\n",
    "People/Nora.md": "---\ntags: [person]\nchildren: none\n---\nA friend.\n",
    "People/Emil.md": "---\ntags: [person]\nchildren: 2\n---\nThe neighbour.\n",
    "People/Ines.md": "---\ntags: [person]\nchildren: keine\n---\nPlays the oboe.\n",
    "People/Otto.md": "---\ntags: [person]\n---\nRows.\n",
    "Dune.md": "---\ntags: [book]\n---\nSand.\n",
    "Books/Dune.md": "---\ntags: [book]\n---\nMore sand.\n",
    "Books/Emma.md": "---\ntags: [book]\n---\nA comedy.\n",
}


def read(question: str) -> tuple[str, str] | None:
    names = VaultNames()
    for tag in ("recipe", "task", "recurring", "sweet"):
        names.add(tag, Name("tag", tag))
    names.add("House", Name("folder", "House"))
    reading = read_question(question, lambda: names, TODAY)
    return None if reading is None else (reading.operation, reading.query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("#task -#recurring", "-tag:recurring tag:task"),
        ("#task !#recurring", "-tag:recurring tag:task"),
        ("#task not #recurring", "tag:task -tag:recurring"),
        ("-#recurring", "-tag:recurring"),
        ("notes #task -#recurring", "-tag:recurring tag:task"),
        ("Notizen -#recurring", "-tag:recurring"),
        ("all notes except recipes", "-tag:recipe"),
        ("all notes excluding recipes", "-tag:recipe"),
        ("all notes apart from recipes", "-tag:recipe"),
        ("Which recipes aren't sweet?", "tag:recipe -tag:sweet"),
        ("alle Notizen ohne das Tag sweet", "-tag:sweet"),
        ("alle Notizen ausgenommen Rezepte", "-tag:recipe"),
        ("alle Notizen außer Rezepten", "-tag:recipe"),
        ("Welche Rezepte haben nicht das Tag sweet?", "tag:recipe -tag:sweet"),
        ("toutes les notes sauf les recettes", "-tag:recipe"),
        ("toutes les notes sans le tag sweet", "-tag:sweet"),
        ("toutes les notes hormis les recettes", "-tag:recipe"),
        ("todas las notas excepto recetas", "-tag:recipe"),
        ("todas las notas salvo recetas", "-tag:recipe"),
        ("todas las notas sin la etiqueta sweet", "-tag:sweet"),
    ],
)
def test_what_is_excluded_is_left_out(question: str, query: str) -> None:
    assert read(question) == ("list", query)


@pytest.mark.parametrize(
    "question",
    [
        "Which notes are not about tasks?",
        "Which notes are not about recipes?",
        "Which notes aren't about rain?",
        "Which notes never mention rain?",
        "Which notes are about anything but tasks?",
        "Which notes mention rain apart from snow?",
        "Welche Notizen handeln nicht von Aufgaben?",
        "Welche Notizen erwähnen Regen nie?",
        "Welche Notizen sind nicht über Aufgaben?",
        "Quelles notes ne parlent pas de tâches ?",
        "Quelles notes ne parlent jamais de pluie ?",
        "¿Qué notas no tratan de tareas?",
        "¿Qué notas nunca hablan de lluvia?",
    ],
)
def test_what_no_filter_excludes_is_not_claimed(question: str) -> None:
    assert read(question) is None


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("all films but Tenet", ["Parasite", "Paterson", "Stalker"]),
        ("films with rating 5 except Stalker", ["Parasite"]),
        ("all films except Tenet, Stalker and Paterson", ["Parasite"]),
        ("How many recipes are there apart from Risotto?", ["Goulash"]),
        (
            "which films do I have with the exception of the Tenet",
            ["Parasite", "Paterson", "Stalker"],
        ),
        ("alle Filme bis auf Tenet", ["Parasite", "Paterson", "Stalker"]),
        ("alle Filme bis auf Tenet und Stalker", ["Parasite", "Paterson"]),
        ("alle Rezepte mit Ausnahme von Risotto", ["Goulash"]),
        ("alle Filme bis auf die mit rating 5", ["Paterson", "Tenet"]),
        ("toutes les recettes sauf Goulash", ["Risotto"]),
        ("les recettes à part Risotto", ["Goulash"]),
        ("tous les films à l'exception de Tenet", ["Parasite", "Paterson", "Stalker"]),
        ("les films, mis à part Tenet et Stalker", ["Parasite", "Paterson"]),
        ("todas las películas menos Tenet", ["Parasite", "Paterson", "Stalker"]),
        ("las recetas salvo Risotto", ["Goulash"]),
        ("todas las recetas con excepción de Goulash", ["Risotto"]),
    ],
)
def test_a_named_note_is_left_out(index: Vault, question: str, names: list[str]) -> None:
    assert list_note_names(index, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "books except Dune",  # the path of one is a part of the other's
        "all films except Tenet and not Stalker",
        "all films but the recipes",
        "alle Filme bis auf Solaris",
        "toutes les recettes sauf le gratin",
    ],
)
def test_nothing_is_claimed_of_what_is_not_clearly_excepted(index: Vault, question: str) -> None:
    reading = index.read_question(question)
    assert reading is None or reading.operation not in ("list", "count")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("people without children", ["Ines", "Nora", "Otto"]),
        ("which people have no children", ["Ines", "Nora", "Otto"]),
        ("people with children", ["Emil"]),
        ("which people have the property children", ["Emil", "Ines", "Nora"]),
    ],
)
def test_a_value_that_means_nothing_counts_as_none(
    index: Vault, question: str, names: list[str]
) -> None:
    assert list_note_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("films with a duration above 2 hours", "with the tag #film has the property duration"),
        (
            "How many films have a duration over 2 hours?",
            "with the tag #film has the property duration",
        ),
        (
            "notes with the tag person with a rating above 3",
            "with the tag #person has the property rating",
        ),
        ("films with rating above 5", "with the tag #film, with rating: above 5"),
    ],
)
def test_a_property_that_no_note_has_there_is_told_as_absent(
    index: Vault, question: str, told: str
) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    said = index.list_notes(reading.query, 10).describe_total()
    assert said == f"No note {told}; searched all {len(NOTES)} notes."
