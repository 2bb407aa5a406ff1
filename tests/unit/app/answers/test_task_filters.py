"""Notes are asked for by their tasks, tasks without a date, and filters of tasks are joined."""

import re
from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "House/Roof.md": "---\ntags: [house]\n---\n# Roof\n\n- [ ] Call the roofer ⏫ 📅 2020-05-01\n"
    "- [ ] Look at the gutter\n",
    "House/Attic.md": "---\ntags: [house]\ndate: 2020-03-01\n---\n# Attic\n\n- [x] Sweep it ⏫\n",
    "Work/Site.md": "# Site\n\n- [ ] Test it 📅 2020-06-07\n- [ ] Tell Anna\n",
    "Work/Forms.md": "# Forms\n\n- [ ] File them 🔽 📅 2999-01-01\n",
    "Idea.md": "# Idea\n\nA shed.\n",
}


@pytest.mark.parametrize(
    ("question", "begins", "names"),
    [
        ("Which notes have tasks with high priority?", "2 notes with a task", "Attic Roof"),
        ("Which notes have open tasks with high priority?", "1 note with an open task", "Roof"),
        ("Which notes have no open tasks with high priority?", "4 notes", "Attic Forms Idea Site"),
        ("Which notes have overdue tasks?", "2 notes with an open task due until", "Roof Site"),
        (
            "Which notes have tasks due on 1 May 2020 or on 7 June 2020?",
            "2 notes with an open task due 2020-05-01 or 2020-06-07;",
            "Roof Site",
        ),
        ("Which notes have tasks due in 2020?", "2 notes with an open task due", "Roof Site"),
        ("Welche Notizen haben Aufgaben mit hoher Priorität?", "2 notes", "Attic Roof"),
        ("Quelles notes ont des tâches en retard ?", "2 notes", "Roof Site"),
        ("¿Qué notas tienen tareas con prioridad alta?", "2 notes", "Attic Roof"),
        ('has:"open-task task-priority:low"', "1 note", "Forms"),
        ("tag:house OR has:open-task", "4 notes", "Attic Forms Roof Site"),
        ("tag:house OR due:2020-06-07", "3 notes", "Attic Roof Site"),
        ("folder:Work OR date:2020-03", "3 notes", "Attic Forms Site"),
        ("folder:House -due:2020", "1 note", "Attic"),
        ("tag:house -task:open", "1 note", "Attic"),
        ("-date:2020 tag:house", "1 note", "Roof"),
    ],
)
def test_notes_are_listed_by_their_tasks(
    answer: Asking, question: str, begins: str, names: str
) -> None:
    found = answer(question)
    assert found.kind == "list"
    assert found.text.startswith(begins)
    assert sorted(re.findall(r"^- (\w+)", found.text, re.MULTILINE)) == names.split()


@pytest.mark.parametrize(
    "question",
    [
        "Which tasks have no due date?",
        "open tasks without a date",
        "Which tasks have no deadline?",
        "Welche Aufgaben haben kein Fälligkeitsdatum?",
        "Quelles tâches n'ont pas de date d'échéance ?",
        "¿Qué tareas no tienen fecha de vencimiento?",
        "task:open -due:..",
    ],
)
def test_tasks_without_a_date_are_listed(answer: Asking, question: str) -> None:
    found = answer(question)
    assert found.text.startswith("2 open tasks not due on any day;")
    assert "Look at the gutter" in found.text
    assert "Tell Anna" in found.text


@pytest.mark.parametrize(
    ("question", "begins", "tasks"),
    [
        ("task:open due:2020-05 OR task-priority:low", "2 open tasks", "Call File"),
        ("task:any tag:house OR due:2020-06", "4 tasks", "Call Look Sweep Test"),
        ("task:open folder:House OR due:2999", "3 open tasks", "Call File Look"),
        ("task:open -task-priority:>=high folder:House", "1 open task", "Look"),
        ("task:any -task:open", "1 task", "Sweep"),
        ("due:2020-05 OR task-priority:low", "2 tasks", "Call File"),
    ],
)
def test_filters_of_tasks_are_joined_and_excluded(
    answer: Asking, question: str, begins: str, tasks: str
) -> None:
    found = answer(question)
    assert found.kind == "tasks"
    assert found.text.startswith(begins)
    told = re.findall(r"^- (?:\w+: )?(\w+)", found.text, re.MULTILINE)
    assert sorted(told) == tasks.split()


def test_done_tasks_without_a_date_are_done(answer: Asking) -> None:
    found = answer("Which done tasks have no due date?")
    assert found.text.startswith("1 done task not due on any day;")
    assert "Sweep it" in found.text


@pytest.mark.parametrize(
    "question",
    [
        "Which notes have tasks without a due date?",
        "Welche Notizen haben Aufgaben ohne Fälligkeitsdatum?",
        "Which notes have no tasks without a deadline?",
        "Which tasks are without a due date in June?",
    ],
)
def test_nothing_is_claimed_of_one_task_without_a_date_among_others(
    answer: Asking, question: str
) -> None:
    assert answer(question).kind not in ("list", "tasks")


@pytest.mark.parametrize("question", ["tasks without a place", "Which tasks have no tag?"])
def test_what_a_task_may_lack_itself_is_not_claimed_of_notes(answer: Asking, question: str) -> None:
    assert answer(question).kind != "tasks"
