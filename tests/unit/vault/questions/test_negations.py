"""What a question excludes is left out of the list, or nothing is claimed."""

from datetime import date
from typing import Final

import pytest

from vault.questions.reader import read_question
from vault.questions.vocabulary import Name, VaultNames

TODAY: Final = date(2026, 11, 26)


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
