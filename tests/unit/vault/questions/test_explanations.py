"""Questions that begin with a word such as "how" or "why" ask to explain, and list nothing."""

from typing import Final

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

NOTES: Final = {
    "Tasks/Oven.md": "---\ntemperature: 230\n---\n#bread\n\n- [ ] clean the [[Stone]]\n",
    "Tasks/Stone.md": "#bread\n\n- [x] buy a stone\n",
    "Garden/Hedge.md": "Cut in March. [[Stone]]\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    "question",
    [
        "How do I list the open tasks of Oven?",
        "How can I find notes that were modified today?",
        "And how do I tag notes with #bread?",
        "Why are there open tasks in Oven?",
        "Since which note is there a link to Stone?",
        "Since when do the notes in Garden link to Stone?",
        "How long do open tasks stay in the folder Tasks?",
        "How big are the notes in Garden?",
        "What happens when all tasks are done?",
        "What is the folder Garden useful for?",
        "Wie zeige ich alle offenen Aufgaben?",
        "Warum haben alle Notizen das Tag bread?",
        "Seit wann sind die Aufgaben in Oven offen?",
        "Wie lange bleiben offene Aufgaben im Ordner Tasks?",
        "Comment lister toutes les notes avec le tag bread ?",
        "Pourquoi toutes les tâches sont-elles ouvertes ?",
        "Depuis quand y a-t-il des notes dans Garden ?",
        "Combien de temps restent les tâches ouvertes ?",
        "¿Cómo puedo listar todas las notas con la etiqueta bread?",
        "¿Por qué hay tareas pendientes en Oven?",
        "¿Desde cuándo hay notas en Garden?",
        "Filter tasks by due date",
        "Sort notes by date",
        "Group open tasks by folder",
        "Filtere Aufgaben nach Fälligkeit",
        "Notizen nach Datum sortieren",
        "Trier les notes par date",
        "Filtrar tareas por fecha",
    ],
)
def test_an_explanation_is_no_list(index: Vault, question: str) -> None:
    assert index.read_question(question) is None


@pytest.mark.parametrize(
    ("question", "operation", "query"),
    [
        ("How many notes are in Garden?", "count", "folder:Garden"),
        ("How many open tasks are in Oven?", "count", "path:Tasks/Oven.md task:open"),
        ("How high is the temperature of Oven?", "value", "path:Tasks/Oven.md"),
        ("Wie viele Notizen haben das Tag bread?", "count", "tag:bread"),
        ("Wie hoch ist die temperature von Oven?", "value", "path:Tasks/Oven.md"),
        ("Wie heißen die Notizen mit dem Tag bread?", "list", "tag:bread"),
        ("Combien de notes sont dans Garden ?", "count", "folder:Garden"),
        ("¿Cuántas notas hay en Garden?", "count", "folder:Garden"),
        ("¿Cómo se llaman las notas de Garden?", "list", "folder:Garden"),
        ("What is in the folder Garden?", "list", "folder:Garden"),
    ],
)
def test_a_count_and_a_value_are_read(
    index: Vault, question: str, operation: str, query: str
) -> None:
    reading = index.read_question(question)
    assert reading is not None
    read = reading.query.replace('"', "")
    assert (reading.operation, sorted(read.split())) == (operation, sorted(query.split()))


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Filter notes by the tag #bread", "tag:bread"),
        ("Filter open tasks in Tasks", "task:open folder:Tasks"),
        ("Sortiere die Notizen mit dem Tag bread", "tag:bread"),
    ],
)
def test_an_order_that_names_a_filter_lists_its_notes(
    index: Vault, question: str, query: str
) -> None:
    reading = index.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query) == ("list", query)


@pytest.mark.parametrize(
    "question",
    [
        "Which bread notes are the oldest?",
        "Which note in Garden was the first?",
        "Welche Notiz mit dem Tag bread ist am ältesten?",
        "Quelle note avec le tag bread est la plus longue ?",
        "¿Cuál es la última nota con la etiqueta bread?",
    ],
)
def test_a_question_for_one_of_the_notes_is_no_list(index: Vault, question: str) -> None:
    reading = index.read_question(question)
    assert reading is None or reading.operation == "one"
