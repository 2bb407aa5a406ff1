"""The next task of a recurring task is the one that the Tasks plugin writes."""

import time
from datetime import date
from pathlib import Path

import pytest

from vault.edits.editor import NoteEditor
from vault.edits.plan import ContentChange
from vault.edits.recurrence import read_rule, write_next_task
from vault.errors import EditRefused

TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("rule", "day"),
    [
        ("every day", "2026-02-01"),
        ("every 3 days", "2026-02-03"),
        ("every week", "2026-02-07"),
        ("every other week", "2026-02-14"),
        ("every week on Sunday, Tuesday", "2026-02-01"),
        ("every 2 weeks on Monday and Friday", "2026-02-09"),
        ("every weekday", "2026-02-02"),
        ("every Monday", "2026-02-02"),
        ("every month", "2026-02-28"),
        ("every month on the 1st", "2026-02-01"),
        ("every month on the 31st", "2026-03-31"),
        ("every month on the last", "2026-02-28"),
        ("every month on the last Friday", "2026-02-27"),
        ("every month on the 2nd last Friday", "2026-02-20"),
        ("every 4 months on the 3rd Wednesday", "2026-05-20"),
        ("every January on the 15th", "2027-01-15"),
        ("every January and July", "2026-07-31"),
        ("every year", "2027-01-31"),
    ],
)
def test_a_rule_tells_the_next_day(rule: str, day: str) -> None:
    read = read_rule(rule)
    assert read is not None
    assert read.find_next(date(2026, 1, 31)) == date.fromisoformat(day)


@pytest.mark.parametrize(
    ("task", "after"),
    [
        ("- [ ] a 🔁 every week 📅 2026-11-27 ^abc", "- [ ] a 🔁 every week 📅 2026-12-04"),
        (
            "> - [/] a #b 🔁 every month when done ⏳ 2026-11-20 📅 2026-11-27 "
            "➕ 2026-01-01 🆔 x ⛔ d,e",
            "> - [ ] a #b 🔁 every month when done ⏳ 2026-12-21 📅 2026-12-28 ➕ 2026-11-28",
        ),
        (
            "1. [ ] a [repeat:: every day] [due:: 2026-11-27] [id:: x]",
            "1. [ ] a [repeat:: every day] [due:: 2026-11-28]",
        ),
        ("* [ ] a 🔁 every day 🛫 2026-11-20", "* [ ] a 🔁 every day 🛫 2026-11-21"),
        ("- [-] a 🔁 every day ❌ 2026-11-01", "- [ ] a 🔁 every day"),
        (
            "- DOING a 🔁 every day\n  DEADLINE: <2026-11-28 Sat>",
            "- TODO a 🔁 every day\n  DEADLINE: <2026-11-29 Sun>",
        ),
    ],
)
def test_the_next_task_has_moved_days_and_nothing_of_the_one_that_is_done(
    task: str, after: str
) -> None:
    found = write_next_task(task.split("\n"), TODAY)
    assert found is not None
    assert found[0] == after


@pytest.mark.parametrize(
    "task",
    [
        "- [ ] a 📅 2026-11-27",
        "- [ ] a 🔁 sometimes",
        "- [ ] every day",
        "- [ ] Write about `🔁 every day` 📅 2026-11-27",
        "--> - [ ] a 🔁 every day 📅 2026-11-27",
    ],
)
def test_a_task_without_a_rule_has_no_next_one(task: str) -> None:
    assert write_next_task([task], TODAY) is None


@pytest.mark.parametrize("rule", ["every hour", "every 0 days", "every week until 2027", "every"])
def test_a_rule_that_is_not_understood_is_named(rule: str) -> None:
    with pytest.raises(EditRefused, match=rf"recurs “{rule}”.* Tick it in Obsidian"):
        write_next_task([f"- [ ] a 🔁 {rule} 📅 2026-11-27"], TODAY)


@pytest.mark.parametrize(
    "dates", ["🔁 every year 📅 2026-11-27 🛫 9999-12-31", "🔁 every day 📅 9999-12-31"]
)
def test_a_date_that_would_be_after_the_last_year_is_refused(dates: str) -> None:
    with pytest.raises(EditRefused, match="cannot tell its next day"):
        write_next_task([f"- [ ] a {dates}"], TODAY)


@pytest.mark.parametrize(
    "task",
    [
        f"- [ ] a 🔁 every day 📅 2026-11-27{' ' * 30_000}x",
        f"- [ ] a 🔁 every day when{' ' * 30_000}done",
        f"- [ ] a 🔁 every day{' ' * 30_000}[due:: 2026-11-27]",
    ],
)
def test_many_blanks_in_a_task_take_no_time(task: str) -> None:
    before = time.process_time()
    assert write_next_task([task], TODAY) is not None
    assert time.process_time() - before < 1


@pytest.mark.parametrize("marks", [("%%", "%%"), ("<!--", "-->")])
def test_a_comment_that_goes_on_below_the_task_stays_one(
    root: Path, editor: NoteEditor, marks: tuple[str, str]
) -> None:
    opened, closed = marks
    before = f"- [ ] a 🔁 every day {opened} not\r\nshown {closed}\r\n- [ ] b"
    (root / "a.md").write_bytes(before.encode())
    tick = editor.plan_toggle("a.md", 1, today=TODAY)
    (change,) = tick.plan.changes
    assert isinstance(change, ContentChange)
    assert change.after is not None
    done = before.replace("[ ] a 🔁 every day", "[x] a 🔁 every day ✅ 2026-11-28")
    assert change.after.decode() == f"- [ ] a 🔁 every day \r\n{done}"
