"""Tasks are asked for by their priority, as the notes of several programs mark it."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Home.md": "# Home\n\n- [ ] Call the roofer ⏫ 📅 2026-12-20\n- [ ] Pay the rent 🔺\n"
    "- [ ] Sweep the attic 🔽\n- [ ] Buy milk\n- [x] Fix the gate ⏫\n"
    "- [ ] Oil the lock ⏫️ 📅 2026-12-04\n",
    "Work.md": "# Work\n\n- [ ] Send the invoice [priority:: high]\n"
    "- [ ] File the forms (priority:: medium)\n- [ ] Tidy the desk ⏬\n",
    "journals/2026_11_20.md": "- TODO [#A] Water the plants\n- LATER [#C] Read the leaflet\n"
    "- DOING [#B] Paint the door\n",
    "Site.md": "---\npriority: high\n---\n# Site\n\n- [ ] Test the site\n",
}
URGENT: Final = ["Pay the rent", "Oil the lock", "Call the roofer", "Send the invoice", "Water"]


def find_order(text: str, wanted: list[str]) -> list[int]:
    return [text.find(each) for each in wanted]


@pytest.mark.parametrize(
    ("question", "unit"),
    [
        ("Which high priority tasks are open?", "5 open tasks"),
        ("Which open tasks have high priority?", "5 open tasks"),
        ("List all open high-priority todos", "5 open tasks"),
        ("What are my urgent tasks?", "5 open tasks"),
        ("Welche offenen Aufgaben haben hohe Priorität?", "5 open tasks"),
        ("Zeige alle dringenden Aufgaben", "5 open tasks"),
        ("Quelles tâches ouvertes ont une priorité haute ?", "5 open tasks"),
        ("Quelles sont les tâches urgentes ?", "5 open tasks"),
        ("¿Qué tareas abiertas tienen prioridad alta?", "5 open tasks"),
        ("¿Cuáles son las tareas urgentes?", "5 open tasks"),
    ],
)
def test_the_most_urgent_of_high_priority_stand_first(
    answer: Asking, question: str, unit: str
) -> None:
    found = answer(question)
    assert found.kind == "tasks"
    assert found.text.startswith(f"{unit} with high priority or above, most urgent first;")
    places = find_order(found.text, URGENT)
    assert -1 not in places
    assert places[:3] == sorted(places[:3])
    assert "Test the site" not in found.text
    assert "Fix the gate" not in found.text


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Which tasks have a high priority?", "6 tasks with high priority or above"),
        ("Welche Aufgaben haben hohe Priorität?", "6 tasks with high priority or above"),
        ("Quelles tâches ont une haute priorité ?", "6 tasks with high priority or above"),
        ("¿Qué tareas tienen alta prioridad?", "6 tasks with high priority or above"),
        ("How many tasks have medium priority?", "2 tasks with medium priority"),
        ("Welche Aufgaben haben mittlere Priorität?", "2 tasks with medium priority"),
        ("Which tasks have low priority?", "3 tasks with low priority or below"),
        ("tâches de priorité basse", "3 tasks with low priority or below"),
        ("open tasks without a priority", "2 open tasks with no priority"),
        ("offene Aufgaben ohne Priorität", "2 open tasks with no priority"),
        ("tâches ouvertes sans priorité", "2 open tasks with no priority"),
        ("tareas abiertas sin prioridad", "2 open tasks with no priority"),
        ("tasks with high or medium priority", "8 tasks with high priority or above or medium"),
        ("Which tasks are not urgent?", "7 open tasks with medium priority, a lower one or none"),
        ("What are my most urgent tasks?", "7 open tasks with medium priority or above, most"),
        ("Was sind meine dringendsten Aufgaben?", "7 open tasks with medium priority or above"),
        ("Quelles sont mes tâches les plus urgentes ?", "7 open tasks with medium priority or"),
        ("¿Cuáles son mis tareas más urgentes?", "7 open tasks with medium priority or above"),
        (
            "Which task has the highest priority?",
            "7 open tasks with medium priority or above, most",
        ),
        ("List my open tasks by priority", "12 open tasks with any priority or none, most urgent"),
        ("Which open tasks in Home are urgent?", "3 open tasks"),
        ("task:open task-priority:high", "4 open tasks with high priority;"),
        ("task-priority:lowest", "1 task with lowest priority;"),
    ],
)
def test_tasks_are_listed_by_their_priority(answer: Asking, question: str, begins: str) -> None:
    assert answer(question).text.startswith(begins)


@pytest.mark.parametrize(
    "question",
    [
        "What is the priority of the site?",
        "Which tasks mention the word urgent?",
    ],
)
def test_a_priority_that_is_not_that_of_tasks_is_no_filter(answer: Asking, question: str) -> None:
    assert answer(question).kind != "tasks" or "priority" not in answer(question).text


def test_a_priority_that_is_none_is_told(answer: Asking) -> None:
    text = answer("task:open task-priority:urgent rent").text
    assert "1 open task with" not in text
