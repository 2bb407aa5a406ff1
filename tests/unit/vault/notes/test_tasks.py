"""Tasks in notes: their status and their dates."""

import time
from datetime import date

import pytest

from vault.notes.note import parse_note
from vault.notes.tasks import TaskItem, TaskKind, find_tasks
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
