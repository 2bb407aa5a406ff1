"""Questions about tasks."""

from datetime import date

import pytest

from chains.retrieval.task_query import TaskQuestion, read_task_question

TODAY = date(2026, 11, 26)  # a Thursday


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What are my open tasks?", "task:open"),
        ("open tasks", "task:open"),
        ("show me my todo list", "task:open"),
        ("What's left to do?", "task:open"),
        ("What do I still have to do?", "task:open"),
        ("list all tasks", "task:any"),
        ("which tasks are done?", "task:done"),
        ("Which tasks did I finish last week?", "task:done date:2026-11-16..2026-11-22"),
        ("What is due this week?", "task:open date:2026-11-23..2026-11-29"),
        ("overdue tasks", "task:open date:..2026-11-25"),
        ("what is due", "task:open date:.."),
        ("Which tasks are due?", "task:open date:.."),
        ("Which tasks have I ticked off yesterday?", "task:done date:2026-11-25"),
        ("überfällige Aufgaben", "task:open date:..2026-11-25"),
        ("Welche Aufgaben sind überfällig?", "task:open date:..2026-11-25"),
        ("Was ist überfällig?", "task:open date:..2026-11-25"),
        ("What is due on 5 December?", "task:open date:2026-12-05"),
        ("Tasks due in January", "task:open date:2027-01-01..2027-01-31"),
        ("what is due on Friday", "task:open date:2026-11-27"),
        ("tasks due Monday", "task:open date:2026-11-30"),
        ("what is due today", "task:open date:2026-11-26"),
        ("What is due before 5 December?", "task:open date:..2026-12-04"),
        ("tasks due by Friday", "task:open date:..2026-11-27"),
        ("which tasks were due last week?", "task:open date:2026-11-16..2026-11-22"),
        ("Welche Aufgaben sind bis Montag fällig?", "task:open date:..2026-11-30"),
        ("Welche Aufgaben sind offen?", "task:open"),
        ("Was muss ich noch erledigen?", "task:open"),
    ],
)
def test_a_question_for_tasks_becomes_a_query(question: str, query: str) -> None:
    assert read_task_question(question, TODAY) == TaskQuestion(query, is_certain=True)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("todos", "task:open"),
        ("what do I still have to do for the roof?", "task:open roof"),
        ("todos from the meeting of 5 May 2026 about tiles", "task:open tiles"),
        ("what tasks are tagged #garden", 'task:open tag:"garden"'),
        ("what should I do today", "task:open date:2026-11-26"),
        ("Was muss ich für das Dach noch tun?", "task:open Dach"),
    ],
)
def test_a_question_that_may_be_about_something_else_is_not_sure(question: str, query: str) -> None:
    found = read_task_question(question, TODAY)
    assert found is not None
    assert (found.query.casefold(), found.is_certain) == (query.casefold(), False)


@pytest.mark.parametrize(
    "question",
    [
        "What did I do last week?",
        "What have I done today?",
        "What do I need to do to reset the router?",
        "What do I do if the oven fails?",
        "What are the task statuses?",
        "What is a task?",
        "How do I write tasks?",
        "tasks plugin",
    ],
)
def test_any_other_question_is_none(question: str) -> None:
    assert read_task_question(question, TODAY) is None
