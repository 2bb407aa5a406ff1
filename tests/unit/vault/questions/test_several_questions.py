"""A second question adds nothing to the filter of the first one."""

from datetime import date
from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import Reading, read_question
from vault.questions.vocabulary import Name, VaultNames
from vault.vault import Vault

TODAY: Final = date(2026, 11, 26)
NOTES: Final = {
    "A.md": "- [ ] Draw the next plan 📅 2026-12-01\n- [ ] Sand the boat\n- [ ] Oil it\n",
    "B.md": "- [ ] Call Mira 📅 2026-12-05\n- [x] Measure\n#recipe\n",
    "C.md": "A soup. It rains. #recipe #soup\n",
}


def read(question: str) -> Reading | None:
    names = VaultNames()
    names.add("recipe", Name("tag", "recipe"))
    names.add("soup", Name("tag", "soup"))
    return read_question(question, lambda: names, TODAY)


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    "question",
    [
        "How many open tasks are there, and when is the next one due?",
        "How many open tasks are there? When is the next one due?",
        "How many open tasks do I have and in which note is the oldest?",
        "How many tasks are open, and how many are done?",
        "Wie viele offene Aufgaben gibt es, und wann ist die nächste fällig?",
        "Wie viele Aufgaben sind offen? Welche ist die nächste?",
        "Wie viele offene Aufgaben gibt es da. Was ist am dringendsten?",
        "Combien de tâches ouvertes y a-t-il, et quand est la prochaine échéance ?",
        "Combien de tâches sont ouvertes ? Quelle est la prochaine ?",
        "¿Cuántas tareas abiertas hay y cuándo vence la siguiente?",
        "¿Cuántas tareas abiertas hay? ¿Cuál es la próxima?",
    ],
)
def test_the_first_of_two_questions_is_counted(index: Vault, question: str) -> None:
    reading = index.read_question(question, TODAY)
    assert reading == Reading("count", "task:open")
    assert reading.left_out
    assert question.endswith(reading.left_out)
    assert index.list_notes(reading.query, 10).total == 4


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("How many recipes are there and which one is the best?", ("count", "tag:recipe")),
        ("List all recipes. Which one is the fastest?", ("list", "tag:recipe")),
        ("List all recipes and tell me the oldest", ("list", "tag:recipe")),
        ("Wie viele Rezepte gibt es und welches ist das beste?", ("count", "tag:recipe")),
        ("Combien de recettes y a-t-il et laquelle est la meilleure ?", ("count", "tag:recipe")),
        ("¿Cuántas recetas hay y cuál es la mejor?", ("count", "tag:recipe")),
    ],
)
def test_what_is_asked_beside_a_list_is_no_condition(
    question: str, read_as: tuple[str, str]
) -> None:
    found = read(question)
    assert found is not None
    assert (found.operation, found.query) == read_as


@pytest.mark.parametrize(
    "question",
    [
        "Which task is next?",
        "When is the next open task due?",
        "Welche offene Aufgabe ist die nächste?",
        "Quelle est la prochaine tâche ouverte ?",
        "¿Cuál es la próxima tarea abierta?",
    ],
)
def test_the_next_one_is_no_word_that_tasks_contain(index: Vault, question: str) -> None:
    reading = index.read_question(question, TODAY)
    assert reading is None or reading.operation == "one"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("List the notes that have the tag recipe and which mention rain", "tag:recipe rain"),
        ("Which notes are tagged recipe and soup?", "tag:recipe tag:soup"),
        ("notas que tienen la etiqueta recipe y que mencionan rain", "tag:recipe rain"),
        ("notes qui ont le tag recipe et qui mentionnent rain", "tag:recipe rain"),
    ],
)
def test_a_clause_goes_on_with_its_question(question: str, query: str) -> None:
    found = read(question)
    assert found is not None
    assert found.query == query


@pytest.mark.parametrize(
    "question",
    ["Which notes mention Prof. Meier?", "How many notes mention St. Gallen and Bern?"],
)
def test_an_abbreviation_ends_no_question(question: str) -> None:
    found = read(question)
    assert found is not None
    assert found.query.split()[-1] in ("Meier", "Bern")


@pytest.mark.parametrize(
    ("question", "left_out"),
    [
        ("List all recipes. Which one is the fastest?", "Which one is the fastest?"),
        ("How many recipes are there, and when was the last?", "and when was the last?"),
        ("Wie viele Rezepte gibt es und welches ist das beste?", "und welches ist das beste?"),
        ("How many recipes are there?", ""),
        ("List the notes that have the tag recipe and which mention rain", ""),
    ],
)
def test_what_is_not_read_is_kept(question: str, left_out: str) -> None:
    found = read(question)
    assert found is not None
    assert found.left_out == left_out
