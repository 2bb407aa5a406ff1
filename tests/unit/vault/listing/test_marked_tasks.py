"""Lists of tasks that begin with a marker, as in Logseq: by question, filter and Dataview query."""

from datetime import date, datetime

import pytest

from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block
from vault.views.view import ComputedView

TODAY = date(2026, 11, 28)
JOURNAL = """- Morning walk
- TODO Buy soil #family
  SCHEDULED: <2026-11-20 Fri>
- DOING [#A] Pay the rent
  DEADLINE: <2026-11-27 Fri>
- WAITING Parcel from Ann
\tDEADLINE: <2026-12-24 Thu>
- DONE Water the plants #family
- CANCELLED Paint the fence
  DEADLINE: <2026-11-02 Mon>
- The TODO of yesterday is a long list
"""


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(
        {
            "journals/2026_11_28.md": JOURNAL,
            "pages/Lists.md": "TODO lists are useful.\n\n- TODO\n",
            "pages/Old.md": "# Old\n\n- [ ] Oil the gate #family\n",
        }
    )


def ask(index: Vault, question: str) -> list[str]:
    reading = index.read_question(question, TODAY)
    assert reading is not None
    return [hit.text for hit in index.list_notes(reading.query, 10).hits]


@pytest.mark.parametrize(
    "question",
    ["open tasks", "Welche Aufgaben sind offen?", "tâches ouvertes", "¿Qué tareas están abiertas?"],
)
def test_open_tasks_are_listed(index: Vault, question: str) -> None:
    assert ask(index, question) == [
        "- TODO Buy soil #family\n  SCHEDULED: <2026-11-20 Fri>",
        "- DOING [#A] Pay the rent\n  DEADLINE: <2026-11-27 Fri>",
        "- WAITING Parcel from Ann\n\tDEADLINE: <2026-12-24 Thu>",
        "- [ ] Oil the gate #family",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Which tasks are done?",
        "Welche Aufgaben sind erledigt?",
        "Quelles tâches sont faites ?",
        "¿Qué tareas están hechas?",
    ],
)
def test_done_tasks_are_listed(index: Vault, question: str) -> None:
    assert ask(index, question) == ["- DONE Water the plants #family"]


@pytest.mark.parametrize(
    "question",
    [
        "Which tasks are overdue?",
        "Welche Aufgaben sind überfällig?",
        "Quelles tâches sont en retard ?",
        "¿Qué tareas están vencidas?",
    ],
)
def test_overdue_tasks_are_those_with_an_earlier_deadline(index: Vault, question: str) -> None:
    assert ask(index, question) == ["- DOING [#A] Pay the rent\n  DEADLINE: <2026-11-27 Fri>"]


@pytest.mark.parametrize(
    "question",
    [
        "open tasks with the tag #family",
        "offene Aufgaben mit dem Tag #family",
        "tâches ouvertes avec le tag #family",
        "tareas abiertas con la etiqueta #family",
    ],
)
def test_open_tasks_with_a_tag_are_listed(index: Vault, question: str) -> None:
    assert ask(index, question) == [
        "- TODO Buy soil #family\n  SCHEDULED: <2026-11-20 Fri>",
        "- [ ] Oil the gate #family",
    ]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("has:task", {"journals/2026_11_28.md", "pages/Old.md"}),
        ("task:open rent", {"journals/2026_11_28.md"}),
        ("task:any fence", {"journals/2026_11_28.md"}),
    ],
)
def test_notes_with_marked_tasks_are_found(index: Vault, query: str, paths: set[str]) -> None:
    assert {hit.path for hit in index.list_notes(query, 10).hits} == paths


def test_a_dataview_query_lists_marked_tasks(index: Vault) -> None:
    block = ViewBlock("dataview", "TASK WHERE !completed AND due", (1, 1))
    (view,) = compute_block(index, block, "pages/Old.md", now=datetime(2026, 11, 28, 9, 0)).views
    assert isinstance(view, ComputedView)
    assert [row.task.text for row in view.rows if row.task] == ["Pay the rent", "Parcel from Ann"]


def test_a_dataview_query_knows_the_priority_of_a_task(index: Vault) -> None:
    block = ViewBlock("dataview", 'TASK WHERE priority = "high"', (1, 1))
    (view,) = compute_block(index, block, "pages/Old.md", now=datetime(2026, 11, 28, 9, 0)).views
    assert isinstance(view, ComputedView)
    assert [row.task.text for row in view.rows if row.task] == ["Pay the rent"]
