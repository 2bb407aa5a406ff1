"""Tasks in notes: their status and their dates."""

import time
from datetime import date

import pytest

from vault.notes.note import parse_note
from vault.notes.tasks import TaskItem, TaskKind, find_tasks, read_tasks, write_status
from vault.notes.text.markdown_text import read_text

PASSAGE = """## House

- [ ] Call the roofer 📅 2026-11-28
  - [x] Find the number ✅ 2026-11-20
- [-] Paint the roof

```
- [ ] an example in code
```

%%- [ ] hidden%%
> - [/] Clean the gutter"""


def test_tasks_have_their_line_status_and_text() -> None:
    lines = ["- [ ] open `x`", "* [x] done", "1. [/] half", "> - [-] in a callout", "- [] none"]
    assert list(find_tasks(read_text("\n".join(lines)))) == [
        TaskItem(1, " ", "open `x`"),
        TaskItem(2, "x", "done"),
        TaskItem(3, "/", "half"),
        TaskItem(4, "-", "in a callout"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[^1]: - [ ] first\n", [1]),
        ("[^1]: Words\n    - [ ] below\n    - [x] done\n", [2, 3]),
        ("> [^1]: 1. [/] quoted\n", [1]),
        ("[^1] - [ ] no definition\n", []),
        ("[^1]: `- [ ] x` code\n", []),
        ("[^a b]: - [ ] no label\n", []),
    ],
)
def test_a_footnote_can_hold_tasks(text: str, lines: list[int]) -> None:
    assert [task.line for task in parse_note("A.md", text.encode())[0].tasks] == lines


@pytest.mark.parametrize(
    ("kind", "lines"), [("open", [3, 12]), ("done", [4]), ("any", [3, 4, 5, 12])]
)
def test_the_tasks_of_a_passage_are_outside_of_code_and_comments(
    kind: TaskKind, lines: list[int]
) -> None:
    found = [task.line for task in find_tasks(read_text(PASSAGE)) if task.is_of_kind(kind)]
    assert found == lines


@pytest.mark.parametrize(
    ("status", "text", "days"),
    [
        (" ", "Pay 📅 2026-12-01", ["2026-12-01"]),
        (" ", "Pay ➕ 2026-11-01 🛫 2026-11-02 ⏳ 2026-11-03", ["2026-11-03"]),
        (" ", "Pay [due:: 2026-12-01] [created:: 2026-11-01]", ["2026-12-01"]),
        (" ", "Pay by 2026-12-01", ["2026-12-01"]),
        ("x", "Pay 📅 2026-12-01 ✅ 2026-11-20", ["2026-11-20"]),
        ("x", "Pay [due:: 2026-12-01] [completion:: 2026-11-20]", ["2026-11-20"]),
        ("x", "Pay 📅 2026-12-01", ["2026-12-01"]),
        (" ", "Pay the bill of 2025", []),
    ],
)
def test_an_open_task_has_the_date_when_it_is_due_a_done_one_when_it_was_done(
    status: str, text: str, days: list[str]
) -> None:
    found = TaskItem(1, status, text).list_days()
    assert [first.isoformat() for first, _ in found] == days
    assert all(first < after < date.max for first, after in found)


@pytest.mark.parametrize("unit", ["- [ ] ", "> ", "✅ ", "due: ", "2026-11-"])
def test_a_line_of_a_million_odd_characters_takes_bounded_time(unit: str) -> None:
    line = f"- [ ] {unit * (1_000_000 // len(unit))}"
    began = time.thread_time()
    (task,) = find_tasks(read_text(line))
    task.list_days()
    assert time.thread_time() - began < 2.0


def test_front_matter_holds_no_tasks() -> None:
    text = "---\na: |\n  multi\n  - [ ] line\nb: [1\n---\n- [ ] one\n- 1. [-] two\n"
    tasks = parse_note("A.md", text.encode())[0].tasks
    assert [(task.line, task.status, task.text) for task in tasks] == [
        (7, " ", "one"),
        (8, "-", "two"),
    ]


@pytest.mark.parametrize(
    ("line", "status", "text"),
    [
        ("- TODO Buy soil #family", " ", "Buy soil #family"),
        ("- DOING [#A] Pay", " ", "Pay"),
        ("* NOW call", " ", "call"),
        ("\t- LATER read", " ", "read"),
        ("> - WAITING\tfor the bill", " ", "for the bill"),
        ("1. IN-PROGRESS sort", " ", "sort"),
        ("- DONE water", "x", "water"),
        ("- CANCELED fence", "-", "fence"),
        ("- CANCELLED fence", "-", "fence"),
    ],
)
def test_a_list_item_that_begins_with_a_marker_is_a_task(line: str, status: str, text: str) -> None:
    above = "- above\n" if line.startswith("\t") else ""
    assert [(task.status, task.text) for task in find_tasks(read_text(above + line))] == [
        (status, text)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "TODO lists are useful",
        "# TODO Buy soil",
        "- TODO",
        "- TODO  ",
        "- TODO [#A]",
        "- TODO: buy soil",
        "- TODOS of the week",
        "- Todo buy soil",
        "- done water",
        "- What is NOW open",
        "| - TODO soil |",
        "```\n- TODO soil\n```",
        "%%- TODO soil%%",
        "---\na: |\n  - TODO soil\n---",
    ],
)
def test_a_marker_elsewhere_makes_no_task(line: str) -> None:
    assert parse_note("A.md", line.encode())[0].tasks == ()


@pytest.mark.parametrize(
    ("below", "due", "scheduled"),
    [
        ("  SCHEDULED: <2026-11-30 Mon>", None, "2026-11-30"),
        ("  DEADLINE: <2026-12-01 Tue 10:00 .+1w>", "2026-12-01", None),
        (
            "  SCHEDULED: <2026-11-30 Mon>\n  DEADLINE: <2026-12-01 Tue>\n  id:: 64",
            "2026-12-01",
            "2026-11-30",
        ),
        ("  more words\n  DEADLINE: <2026-12-01 Tue>", "2026-12-01", None),
        ("- TODO next\n  DEADLINE: <2026-12-01 Tue>", None, None),
        ("- a note\n  DEADLINE: <2026-12-01 Tue>", None, None),
        ("\n  DEADLINE: <2026-12-01 Tue>", None, None),
        ("  the DEADLINE: <2026-12-01 Tue> was moved", None, None),
    ],
)
def test_the_lines_below_have_the_dates_of_a_task(
    below: str, due: str | None, scheduled: str | None
) -> None:
    task, *_ = find_tasks(read_text(f"- TODO Buy soil\n{below}"))
    days = (task.find_day("due"), task.find_day("scheduled"))
    assert tuple(day and day.isoformat() for day in days) == (due, scheduled)
    assert [first.isoformat() for first, _ in task.list_due_days()] == ([due] if due else [])
    assert task.text == "Buy soil"


def test_a_date_in_the_line_of_a_marker_is_read_like_one_below() -> None:
    (task,) = find_tasks(read_text("- TODO Pay SCHEDULED: <2026-11-30 Mon>"))
    assert (task.list_due_days(), len(task.list_scheduled_days())) == ((), 1)


def test_each_of_several_tasks_has_its_own_dates() -> None:
    text = (
        "[^1]: - [ ] one\n[^2]: - TODO two\n\n"
        "- NOW three\n  DEADLINE: <2026-12-01 Tue>\n- DONE four"
    )
    assert [(task.line, task.text, task.dates) for task in find_tasks(read_text(text))] == [
        (1, "one", ""),
        (2, "two", ""),
        (4, "three", "DEADLINE: <2026-12-01 Tue>"),
        (6, "four", ""),
    ]


@pytest.mark.parametrize(
    ("line", "status", "after"),
    [
        ("- [ ] soil", "x", "- [x] soil"),
        ("  - LATER [#A] soil", "x", "  - DONE [#A] soil"),
        ("- DONE soil", " ", "- TODO soil"),
        ("- TODO soil", "-", "- CANCELLED soil"),
    ],
)
def test_a_status_is_written_as_the_line_has_it(line: str, status: str, after: str) -> None:
    change = write_status(line, status)
    assert change is not None
    start, end, new = change
    assert line[:start] + new + line[end:] == after
    assert write_status("soil", status) is None


@pytest.mark.parametrize("unit", ["SCHEDULED: <2026-11-30 Mon> ", " ", "<", "> ", "DEADLINE:"])
def test_dates_below_of_a_million_odd_characters_take_bounded_time(unit: str) -> None:
    lines = [(1, "- TODO one"), (2, f"  {unit * (1_000_000 // len(unit))}?")]
    began = time.thread_time()
    (task,) = read_tasks(lines)
    assert (task.dates, time.thread_time() - began < 2.0) == ("", True)


@pytest.mark.parametrize(
    ("line", "priority"),
    [
        ("- [ ] Pay 🔺", "highest"),
        ("- [ ] Pay ⏫ 📅 2026-11-28", "high"),
        ("* [x] Pay 🔼️", "medium"),
        ("1. [ ] 🔽 Pay", "low"),
        ("- [ ] Pay ⏬", "lowest"),
        ("- [ ] Pay [priority:: high]", "high"),
        ("- [ ] Pay (priority::Lowest)", "lowest"),
        ("- TODO [#A] Pay", "high"),
        ("- [ ] [#B] Pay", "medium"),
        ("- DONE [#C] Pay", "low"),
        ("- [ ] Pay", "none"),
        ("- [ ] Ask what [#A] means", "none"),
        ("- [ ] Pay [priority:: soon]", "none"),
    ],
)
def test_a_task_has_the_priority_that_it_is_marked_with(line: str, priority: str) -> None:
    (task,) = find_tasks(read_text(line))
    assert task.priority == priority
