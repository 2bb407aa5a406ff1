"""What "not" and "or" are said of, which way a link goes, and what a list does not answer.

The vault and the questions were made by someone who did not know the reader.
"""

from datetime import date
from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.questions.reader import read_question
from vault.questions.vocabulary import VaultNames
from vault.vault import Vault

NOTES: Final = {
    "Projects/Plan.md": "---\nstatus: active\n---\n[[Materials]] and [[Mira Holt]] #project\n\n"
    "- [ ] Draw the plan\n- [x] Measure\n",
    "Projects/Materials.md": "---\nstatus: active\n---\nLumen heater. [[Plan]] #project #waiting\n",
    "Projects/Boat.md": "---\nstatus: paused\n---\nFor Jonas. #project/boat\n\n- [ ] Sand it\n",
    "People/Mira Holt.md": "[[Plan]] She lives in Freiburg. #person\n",
    "People/Jonas Weber.md": "Boat builder from Kiel. #person\n",
    "Daily/2026-11-24.md": "Rain. Plan with Mira.\n\n- [ ] Buy seeds\n",
    "Daily/2026-11-25.md": "Jonas called.\n",
    "Haushalt.md": "- [x] Filter\n- [ ] Fenster\n",
    "Recettes/Tarte.md": "Du beurre et des pommes. #recette\n",
    "Recettes/Soupe.md": "Du beurre et des oignons. #recette\n",
    "Books/Emma.md": "---\nrating: 3\nborn: 1985\ndue: 2026-12-15\n---\n#book\n",
}
PEOPLE: Final = {"Mira Holt", "Jonas Weber"}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def list_names(index: Vault, question: str) -> set[str] | None:
    """Return the names of the notes that a question lists, or None if it claims nothing."""
    reading = index.read_question(question)
    if reading is None or reading.operation == "about":
        return None
    found = index.list_notes(reading.query, 100)
    return {hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits}


@pytest.mark.parametrize(
    "question",
    [
        "Which notes are not from November 2026 in Daily?",
        "Which notes contain beurre or pommes?",
        "How many notes contain beurre or pommes?",
        "Which notes mention plan or rain?",
        "Which notes are tagged person or mention Kiel?",
        "Which notes contain Jonas but not Kiel?",
        "Which notes mention heater without Lumen?",
        "Quelles notes ne contiennent pas de beurre dans le dossier Recettes ?",
        "¿Qué notas hablan de Mira pero no de Jonas?",
        "Which notes do not link to anything?",
        "Which notes link to something?",
        "Is every task in Haushalt done?",
        "Are all project notes active?",
        "Which notes have status active or paused?",
        "Which notes are not tagged project and waiting?",
        "Which notes are in Projects, People or Daily?",
        "Which books were born after 1985?",
        "Which books were born before 1985?",
        "How many books were born before 2000?",
        "Books above rating 2",
        "Notes below rating 4",
        "Which books are over rating 2?",
        "Books under rating 4",
        "Which books have a due date before 2026-12-01?",
        "How many notes are in Projects and Daily?",
        "Notes in Recettes or Books and Daily",
        "Which notes mention neither Jonas nor Mira?",
    ],
)
def test_what_no_condition_says_is_not_claimed(index: Vault, question: str) -> None:
    listed = list_names(index, question)
    right = {
        "Which notes have status active or paused?": {"Plan", "Materials", "Boat"},
        "Which notes are in Projects, People or Daily?": {
            *("Plan", "Materials", "Boat", "Mira Holt", "Jonas Weber"),
            *("2026-11-24", "2026-11-25"),
        },
        "Which books were born after 1985?": set(),
        "Which books were born before 1985?": set(),
        "How many books were born before 2000?": {"Emma"},
    }
    assert listed is None or listed == right.get(question)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (
            "Which notes are not tagged project or person?",
            {"2026-11-24", "2026-11-25", "Haushalt", "Tarte", "Soupe", "Emma"},
        ),
        ("Which notes in Projects are not tagged waiting?", {"Plan", "Boat"}),
        ("Which notes tagged project are not in Projects?", set()),
        (
            "Which notes are not tagged person and not in Daily?",
            {"Plan", "Materials", "Boat", "Haushalt", "Tarte", "Soupe", "Emma"},
        ),
        ("Which notes link to Plan?", {"Materials", "Mira Holt"}),
        ("Welche Notizen verlinken auf Plan?", {"Materials", "Mira Holt"}),
        (
            "Which notes are tagged person or recette?",
            {"Mira Holt", "Jonas Weber"} | {"Tarte", "Soupe"},
        ),
        ("Which notes mention Kiel with the tag person?", {"Jonas Weber"}),
        ("Which notes mention beurre in Recettes?", {"Tarte", "Soupe"}),
        ("Which notes link to Plan and are tagged person?", {"Mira Holt"}),
        ("How many notes have the tag recette?", {"Tarte", "Soupe"}),
        ("List all books with a rating above 2", {"Emma"}),
        ("Which notes are in Books or Recettes?", {"Emma", "Tarte", "Soupe"}),
        ("Which notes mention both beurre and pommes?", {"Tarte"}),
    ],
)
def test_what_conditions_say_is_listed(index: Vault, question: str, names: set[str]) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("¿Qué tareas no están hechas en Projects?", {"Plan", "Boat"}),
        ("Combien de tâches ne sont pas terminées dans Projects ?", {"Plan", "Boat"}),
        ("Zeige alle nicht erledigten Aufgaben in Projects", {"Plan", "Boat"}),
        ("Show all tasks that are not completed in Haushalt", {"Haushalt"}),
        ("Which open tasks have I not done in Projects?", {"Plan", "Boat"}),
        ("Which notes without open tasks are tagged project?", {"Materials"}),
        ("Welche Notizen ohne offene Aufgaben haben das Tag project?", {"Materials"}),
        ("Which notes with no open tasks are in Recettes?", {"Tarte", "Soupe"}),
        ("Which notes does Plan link to?", {"Materials", "Mira Holt"}),
        ("Auf welche Notizen verlinkt Plan?", {"Materials", "Mira Holt"}),
        ("Which notes are linked to from Plan?", {"Materials", "Mira Holt"}),
        (
            "Which notes have tags?",
            {"Plan", "Materials", "Boat", "Mira Holt", "Jonas Weber", "Tarte", "Soupe", "Emma"},
        ),
        (
            "Welche Notizen haben Tags?",
            {"Plan", "Materials", "Boat", "Mira Holt", "Jonas Weber", "Tarte", "Soupe", "Emma"},
        ),
        ("How many notes have open tasks?", {"Plan", "Boat", "2026-11-24", "Haushalt"}),
        ("Which notes have open tasks?", {"Plan", "Boat", "2026-11-24", "Haushalt"}),
        ("Which notes have no tags?", {"2026-11-24", "2026-11-25", "Haushalt"}),
        (
            "Quelles notes n'ont pas de liens ?",
            {
                "Boat",
                "Jonas Weber",
                "2026-11-24",
                "2026-11-25",
                "Haushalt",
                "Tarte",
                "Soupe",
                "Emma",
            },
        ),
        ("¿A qué notas enlaza Plan?", {"Materials", "Mira Holt"}),
        ("Vers quelles notes Plan renvoie-t-elle ?", {"Materials", "Mira Holt"}),
        ("Open tasks in Projects", {"Plan", "Boat"}),
        ("Offene Aufgaben in Projects", {"Plan", "Boat"}),
        ("Tâches ouvertes dans Projects", {"Plan", "Boat"}),
        ("Tareas pendientes en Projects", {"Plan", "Boat"}),
        ("Which projects have paused status?", {"Boat"}),
        ("Which books are due before 2026-12-20?", {"Emma"}),
        ("Which books have a rating of 3 or better?", {"Emma"}),
        ("Is there a note about Freiburg?", {"Mira Holt"}),
        ("Gibt es eine Notiz über Freiburg?", {"Mira Holt"}),
        ("Quelles personnes mentionnent Kiel ?", {"Jonas Weber"}),
    ],
)
def test_parts_links_and_states_are_conditions(
    index: Vault, question: str, right: set[str]
) -> None:
    assert list_names(index, question) == right


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which notes were changed before 2026-11-01?", "before:2026-11-01"),
        ("Welche Notizen sind älter als 2026-11-01?", "before:2026-11-01"),
        ("notes since 2026-11-20", "date:2026-11-20.."),
        ("notes until 2026-11-24", "date:..2026-11-24"),
        ("notes before 2026-11-24", "date:..2026-11-23"),
        ("list all notes ..2026-11-24", "date:..2026-11-24"),
        (
            "notas desde el 1 de noviembre hasta el 20 de noviembre de 2026",
            "date:2026-11-01..2026-11-20",
        ),
        ("tasks due until 2026-12-01", "task:open due:..2026-12-01"),
        ("¿Qué tareas vencen antes del 1 de diciembre de 2026?", "task:open due:..2026-11-30"),
        ("Quelles tâches ont été faites en août 2026 ?", "task:done date:2026-08-01..2026-08-31"),
    ],
)
def test_the_words_beside_a_date_say_what_it_is_of(index: Vault, question: str, query: str) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", query)


def test_the_day_of_creation_is_not_any_day(index: Vault) -> None:
    reading = index.read_question("Which notes were created in November 2026?")
    assert reading is None or reading.operation == "about"


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("Tasks due in January", "2027-01-01..2027-01-31"),
        ("tasks due on Monday", "2026-11-30"),
        ("Aufgaben, die am Montag fällig sind", "2026-11-30"),
        ("which tasks were due last week?", "2026-11-16..2026-11-22"),
        ("tasks due on Friday", "2026-11-27"),
    ],
)
def test_a_task_is_due_on_the_next_such_day(question: str, days: str) -> None:
    reading = read_question(question, VaultNames, date(2026, 11, 26))
    assert reading is not None
    assert reading.query == f"task:open due:{days}"
