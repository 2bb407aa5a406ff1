"""Questions for tasks, for what was changed, and for more, without a name of the vault."""

from datetime import date

import pytest

from vault.questions.reader import Reading, read_question
from vault.questions.vocabulary import Name, VaultNames

TODAY = date(2026, 11, 26)  # a Thursday


def read(question: str, today: date = TODAY) -> Reading | None:
    return read_question(question, VaultNames, today)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What are my open tasks?", "task:open"),
        ("open tasks", "task:open"),
        ("todos", "task:open"),
        ("open items", "task:open"),
        ("show my open items", "task:open"),
        ("offene Punkte", "task:open"),
        ("items due this week", "task:open due:2026-11-23..2026-11-29"),
        ("my unfinished items", "task:open"),
        ("items overdue", "task:open due:..2026-11-25"),
        ("items left to do", "task:open"),
        ("finished items", "task:done"),
        ("show me my todo list", "task:open"),
        ("What's left to do?", "task:open"),
        ("What do I still have to do?", "task:open"),
        ("list all tasks", "task:any"),
        ("which tasks are done?", "task:done"),
        ("what tasks are tagged #garden", "task:any tag:garden"),
        ("Which tasks did I finish last week?", "task:done date:2026-11-16..2026-11-22"),
        ("What is due this week?", "task:open due:2026-11-23..2026-11-29"),
        ("overdue tasks", "task:open due:..2026-11-25"),
        ("what is due", "task:open due:.."),
        ("Which tasks are due?", "task:open due:.."),
        ("Which tasks have I ticked off yesterday?", "task:done date:2026-11-25"),
        ("überfällige Aufgaben", "task:open due:..2026-11-25"),
        ("Welche Aufgaben sind überfällig?", "task:open due:..2026-11-25"),
        ("Was ist überfällig?", "task:open due:..2026-11-25"),
        ("What is due on 5 December?", "task:open due:2026-12-05"),
        ("Tasks due in January", "task:open due:2027-01-01..2027-01-31"),
        ("what is due on Friday", "task:open due:2026-11-27"),
        ("tasks due Monday", "task:open due:2026-11-30"),
        ("what is due today", "task:open due:2026-11-26"),
        ("What is due before 5 December?", "task:open due:..2026-12-04"),
        ("tasks due by Friday", "task:open due:..2026-11-27"),
        ("which tasks were due last week?", "task:open due:2026-11-16..2026-11-22"),
        ("Welche Aufgaben sind bis Montag fällig?", "task:open due:..2026-11-30"),
        ("Welche Aufgaben sind offen?", "task:open"),
        ("Was muss ich noch erledigen?", "task:open"),
    ],
)
def test_a_question_for_tasks_lists_them(question: str, query: str) -> None:
    assert read(question) == Reading("list", query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("what do I still have to do for the roof?", "task:open roof"),
        ("what should I do today", "task:open date:2026-11-26"),
        ("Was muss ich für das Dach noch tun?", "task:open dach"),
        ("What do I need to do to reset the router?", "task:open reset router"),
    ],
)
def test_a_question_that_may_be_about_something_else_is_not_sure(question: str, query: str) -> None:
    found = read(question)
    assert found is not None
    assert (found.operation, found.query.casefold()) == ("about", query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which notes did I change last week?", "after:2026-11-16 before:2026-11-23"),
        ("Which of my notes were edited yesterday?", "after:2026-11-24 before:2026-11-25"),
        ("Show me the notes that I updated since Monday", "after:2026-11-23 before:2026-11-26"),
        ("my latest notes", "after:2026-10-26 before:2026-11-26"),
        ("Which notes did I modify recently?", "after:2026-10-26 before:2026-11-26"),
        ("Show me my recently changed notes", "after:2026-10-26 before:2026-11-26"),
        (
            "Which notes did I change about compost last week?",
            "after:2026-11-16 before:2026-11-23 compost",
        ),
    ],
)
def test_a_question_for_notes_by_their_change_lists_them(question: str, query: str) -> None:
    assert read(question, date(2026, 11, 25)) == Reading("list", query)


@pytest.mark.parametrize(
    "message",
    [
        *("more", "Show me the rest", "next page", "go on", "continue, please"),
        *("weiter", "mehr", "den Rest bitte", "la suite", "plus"),
        *("más", "siguientes", "还有？", "続き"),
    ],
)
def test_a_message_that_only_asks_to_go_on_is_for_more(message: str) -> None:
    assert read(message) == Reading("more", "")


@pytest.mark.parametrize(
    "question",
    [
        "What did I do last week?",
        "What have I done today?",
        "Was habe ich gestern gemacht?",
        "What do I do if the oven fails?",
        "What are the task statuses?",
        "What is a task?",
        "How do I write tasks?",
        "tasks plugin",
        "Which notes did I change?",
        "What are the latest notes about beans?",
        "Which note says how deep beans are sown?",
        "How many notes fit into one message?",
        "How many eggs does the tortilla need?",
        "List the ingredients of every soup",
        "What do my notes say about mildew?",
        "Show me the budget",
        "What is next for the sauna?",
        "Is there more to say on this?",
    ],
)
def test_any_other_question_claims_nothing(question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "last edited tasks",
        "latest tasks",
        "most recent tasks tagged #tool",
        "recently changed tasks",
        "show me tasks I recently finished",
        "recently changed notes with open tasks",
        "zuletzt bearbeitete Aufgaben",
        "tâches récemment modifiées",
        "tareas recientes",
    ],
)
def test_no_list_claims_to_know_when_tasks_were_changed(question: str) -> None:
    reading = read(question)
    assert reading is None or reading.operation not in ("list", "count")


def test_items_are_tasks_only_beside_their_state() -> None:
    assert read("show all items") is None
    assert read("items in the fridge") is None


@pytest.mark.parametrize(
    "question",
    [
        "Are there any finished projects?",
        "Which finished projects do I have?",
        "Is there an unfinished project?",
        "Welche abgeschlossenen Projekte gibt es?",
        "Wie viele erledigte Projekte habe ich?",
    ],
)
def test_finished_things_are_no_finished_tasks(question: str) -> None:
    names = VaultNames()
    names.add("project", Name("tag", "project"))
    reading = read_question(question, lambda: names, TODAY)
    assert reading is not None
    assert reading.operation == "about"
    assert "task:" not in reading.query
