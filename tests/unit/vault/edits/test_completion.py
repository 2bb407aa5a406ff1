"""A task that is ticked gets what the Tasks plugin and Logseq write, and loses it again."""

import json
from datetime import date
from pathlib import Path

import pytest

from vault.edits.completion import is_deleted_when_done, write_ticked
from vault.edits.editor import NoteEditor
from vault.edits.plan import ContentChange
from vault.errors import EditRefused

TODAY = date(2026, 11, 28)  # a Saturday


def tick(root: Path, editor: NoteEditor, before: str, line: int = 1) -> str:
    (root / "a.md").write_bytes(before.encode())
    (change,) = editor.plan_toggle("a.md", line, today=TODAY).plan.changes
    assert isinstance(change, ContentChange)
    assert change.after is not None
    return change.after.decode()


@pytest.mark.parametrize(
    ("open_", "done"),
    [
        ("- [ ] a 📅 2026-11-27", "- [x] a 📅 2026-11-27 ✅ 2026-11-28"),
        ("- [ ] a ⏳\ufe0f 2026-11-27 ^id", "- [x] a ⏳\ufe0f 2026-11-27 ✅ 2026-11-28 ^id"),
        ("- [ ] a 🛫2026-11-27 #tag  ", "- [x] a 🛫2026-11-27 #tag ✅ 2026-11-28  "),
        ("1. [ ] a ➕ 2026-11-27 %% x %%", "1. [x] a ➕ 2026-11-27 %% x %% ✅ 2026-11-28"),
        ("> - [ ] a 🏁 keep", "> - [x] a 🏁 keep ✅ 2026-11-28"),
        ("- TODO a 📅 2026-11-27", "- DONE a 📅 2026-11-27 ✅ 2026-11-28"),
        (
            "- [ ] a [due:: 2026-11-27]",
            "- [x] a [due:: 2026-11-27]  [completion:: 2026-11-28]",
        ),
        ("- [ ] a (start::2026-11-27)", "- [x] a (start::2026-11-27)  [completion:: 2026-11-28]"),
        ("- [ ] a", "- [x] a"),
        ("- [ ] a 2026-11-27", "- [x] a 2026-11-27"),
        ("- [ ] a 🔺", "- [x] a 🔺"),
        ("- [ ] Write `📅 2026-11-27`", "- [x] Write `📅 2026-11-27`"),
        ("- [ ] Write `✅ 2026-11-27`", "- [x] Write `✅ 2026-11-27`"),
        ("- [ ] a 📅 2026-11-27 `x`", "- [x] a 📅 2026-11-27 `x` ✅ 2026-11-28"),
        ("- [ ] a 📅 2026-11-27\u00a0", "- [x] a 📅 2026-11-27\u00a0 ✅ 2026-11-28"),
    ],
)
def test_a_task_with_dates_gets_the_day_in_their_form_and_loses_it_again(
    root: Path, editor: NoteEditor, open_: str, done: str
) -> None:
    assert tick(root, editor, open_) == done
    assert tick(root, editor, done) == open_


def test_a_task_of_nothing_but_its_day_stays_a_task(root: Path, editor: NoteEditor) -> None:
    assert tick(root, editor, "- [x] ✅ 2026-11-28") == "- [ ] "
    assert tick(root, editor, "- DONE ✅ 2026-11-28") == "- TODO "


def test_an_earlier_day_is_replaced(root: Path, editor: NoteEditor) -> None:
    before = "- [-] a 📅 2026-11-27 ❌ 2026-11-20 ✅ 2026-11-21\r\nnext\r\n"
    assert tick(root, editor, before) == "- [x] a 📅 2026-11-27 ✅ 2026-11-28\r\nnext\r\n"


def test_a_recurring_task_without_dates_gets_the_day(root: Path, editor: NoteEditor) -> None:
    after = "- [ ] a 🔁 every day\n- [x] a 🔁 every day ✅ 2026-11-28"
    assert tick(root, editor, "- [ ] a 🔁 every day") == after


@pytest.mark.parametrize("marks", [("%%", "%%"), ("<!--", "-->")])
def test_the_day_stands_before_a_comment_that_goes_on_below(
    root: Path, editor: NoteEditor, marks: tuple[str, str]
) -> None:
    opened, closed = marks
    before = f"- [ ] a 📅 2026-11-27 {opened} not\nshown {closed}\n"
    after = f"- [x] a 📅 2026-11-27 ✅ 2026-11-28 {opened} not\nshown {closed}\n"
    assert tick(root, editor, before) == after


def set_plugin(root: Path, **settings: object) -> None:
    """Write settings of the Tasks plugin."""
    folder = root / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.json").write_text(json.dumps(settings), "utf-8")


@pytest.mark.parametrize(("is_set", "day"), [(True, " ✅ 2026-11-28"), (False, "")])
def test_the_setting_of_the_plugin_decides(
    root: Path, editor: NoteEditor, is_set: bool, day: str
) -> None:
    set_plugin(root, setDoneDate=is_set)
    assert tick(root, editor, "- [ ] a 📅 2026-11-27") == f"- [x] a 📅 2026-11-27{day}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] a 📅 2026-11-27", "- [x] a 📅 2026-11-27"),
        ("- [x] a 📅 2026-11-27 ✅ 2026-11-20", "- [ ] a 📅 2026-11-27 ✅ 2026-11-20"),
        ("- [ ] a 🔁 every day 📅 2026-11-27", "- [x] a 🔁 every day 📅 2026-11-27"),
        ("- [ ] a #Task 🔁 sometimes, every day", "- [x] a #Task 🔁 sometimes, every day"),
        ("- [ ] a 🏁 delete\n  - sub", "- [x] a 🏁 delete\n  - sub"),
        ("- TODO a SCHEDULED: <2026-11-20 Fri +1w>", "- TODO a SCHEDULED: <2026-11-27 Fri +1w>"),
        ("- [ ] a #task ^id", "- [x] a #task ✅ 2026-11-28 ^id"),
        (
            "- [ ] a #task [due:: 2026-11-27]",
            "- [x] a #task [due:: 2026-11-27]  [completion:: 2026-11-28]",
        ),
        (
            "- [ ] a #task 🔁 every day 📅 2026-11-27",
            "- [ ] a #task 🔁 every day 📅 2026-11-28\n"
            "- [x] a #task 🔁 every day 📅 2026-11-27 ✅ 2026-11-28",
        ),
        ("- [x] a #task ✅ 2026-11-20", "- [ ] a #task"),
        ("- [ ] a #task 🏁 delete\n- b", "- b"),
    ],
)
def test_an_item_without_the_global_filter_changes_only_in_its_checkbox(
    root: Path, editor: NoteEditor, before: str, after: str
) -> None:
    set_plugin(root, globalFilter="#task")
    assert tick(root, editor, before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] a 🔁 every day", "- [x] a 🔁 every day ✅ 2026-11-28\n- [ ] a 🔁 every day"),
        (
            "- [ ] a 🔁 every day 📅 2026-11-28\r\n  - b\r\n",
            "- [x] a 🔁 every day 📅 2026-11-28 ✅ 2026-11-28\r\n"
            "- [ ] a 🔁 every day 📅 2026-11-29\r\n  - b\r\n",
        ),
        (
            "- TODO a 🔁 every day\n  DEADLINE: <2026-11-28 Sat>\nb",
            "- DONE a 🔁 every day ✅ 2026-11-28\n  DEADLINE: <2026-11-28 Sat>\n"
            "- TODO a 🔁 every day\n  DEADLINE: <2026-11-29 Sun>\nb",
        ),
        ("- [ ] a 🔁 every day 🏁 delete\nb", "- [ ] a 🔁 every day 🏁 delete\nb"),
        (
            "- [ ] a 🔁 every day %% not\nshown %%",
            "- [ ] a 🔁 every day \n- [x] a 🔁 every day ✅ 2026-11-28 %% not\nshown %%",
        ),
    ],
)
def test_the_next_task_is_written_below_if_the_plugin_is_set_so(
    root: Path, editor: NoteEditor, before: str, after: str
) -> None:
    set_plugin(root, recurrenceOnNextLine=True)
    assert tick(root, editor, before) == after


def test_the_lines_of_a_task_and_of_the_next_one_below_it_are_told(
    root: Path, editor: NoteEditor
) -> None:
    (root / "a.md").write_text("x\n- TODO a 🔁 every day\n  DEADLINE: <2026-11-28 Sat>\n", "utf-8")
    above = editor.plan_toggle("a.md", 2, today=TODAY)
    set_plugin(root, recurrenceOnNextLine=True)
    below = editor.plan_toggle("a.md", 2, today=TODAY)
    assert (above.task.line, above.next_line) == (4, 2)
    assert (below.task.line, below.next_line) == (2, 4)


@pytest.mark.parametrize(
    ("settings", "before", "next_task"),
    [
        (
            {"removeScheduledDateOnRecurrence": True},
            "- [ ] a 🔁 every week ⏳ 2026-11-20 📅 2026-11-27",
            "- [ ] a 🔁 every week 📅 2026-12-04",
        ),
        (
            {"removeScheduledDateOnRecurrence": True},
            "- [ ] a 🔁 every month on the 1st 🛫 2026-11-20 ⏳ 2026-12-05",
            "- [ ] a 🔁 every month on the 1st 🛫 2026-12-01",
        ),
        (
            {"removeScheduledDateOnRecurrence": True},
            "- [ ] a [repeat:: every week] [scheduled:: 2026-11-20] [due:: 2026-11-27]",
            "- [ ] a [repeat:: every week] [due:: 2026-12-04]",
        ),
        (
            {"removeScheduledDateOnRecurrence": True},
            "- [ ] a 🔁 every week ⏳ 2026-11-20",
            "- [ ] a 🔁 every week ⏳ 2026-11-27",
        ),
        (
            {"setCreatedDate": True},
            "- [ ] a 🔁 every week 📅 2026-11-27 ^id",
            "- [ ] a 🔁 every week 📅 2026-12-04 ➕ 2026-11-28",
        ),
        (
            {"setCreatedDate": True},
            "- [ ] a [repeat:: every week] [created:: 2026-11-01]",
            "- [ ] a [repeat:: every week]  [created:: 2026-11-28]",
        ),
        (
            {"setCreatedDate": False},
            "- [ ] a 🔁 every week ➕ 2026-11-01 📅 2026-11-27",
            "- [ ] a 🔁 every week 📅 2026-12-04",
        ),
    ],
)
def test_the_next_task_has_the_days_that_the_plugin_is_set_to(
    root: Path, editor: NoteEditor, settings: dict[str, bool], before: str, next_task: str
) -> None:
    set_plugin(root, **settings)
    assert tick(root, editor, before).split("\n")[0] == next_task


@pytest.mark.parametrize(
    ("task_format", "before", "after"),
    [
        ("dataview", "- [ ] a 📅 2026-11-27", "- [x] a 📅 2026-11-27  [completion:: 2026-11-28]"),
        ("dataview", "- [ ] a 🏁 delete", "- [x] a 🏁 delete  [completion:: 2026-11-28]"),
        ("dataview", "- [ ] a 🔁 every day", "- [x] a 🔁 every day  [completion:: 2026-11-28]"),
        (
            "tasksPluginEmoji",
            "- [ ] a [due:: 2026-11-27]",
            "- [x] a [due:: 2026-11-27] ✅ 2026-11-28",
        ),
        (
            "tasksPluginEmoji",
            "- [ ] a [repeat:: every day]",
            "- [x] a [repeat:: every day] ✅ 2026-11-28",
        ),
        (
            "tasksPluginEmoji",
            "- [ ] a [onCompletion:: delete]",
            "- [x] a [onCompletion:: delete] ✅ 2026-11-28",
        ),
        (7, "- [ ] a [onCompletion:: delete]", ""),
    ],
)
def test_days_and_rules_are_in_the_format_that_the_plugin_is_set_to(
    root: Path, editor: NoteEditor, task_format: object, before: str, after: str
) -> None:
    set_plugin(root, taskFormat=task_format)
    assert tick(root, editor, before) == after


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("x\n- [ ] a 🏁 delete\r\n## y", 2, "x\n## y"),
        ("- [ ] a\n- [ ] b [onCompletion:: Delete]", 2, "- [ ] a"),
        ("- [ ] b 🏁\ufe0f delete 📅 2026-11-27\n- [ ] c", 1, "- [ ] c"),
        ("- [ ] only 🏁 delete", 1, ""),
        (
            "- [ ] a 🔁 every day 🏁 delete 📅 2026-11-27\n  - [ ] sub\n",
            1,
            "- [ ] a 🔁 every day 🏁 delete 📅 2026-11-28\n  - [ ] sub\n",
        ),
        ("- TODO a 🏁 delete\n  DEADLINE: <2026-11-28 Sat>\n- b", 1, "- b"),
    ],
)
def test_a_task_that_is_deleted_on_completion_goes(
    root: Path, editor: NoteEditor, before: str, line: int, after: str
) -> None:
    assert tick(root, editor, before, line) == after


@pytest.mark.parametrize(
    "before",
    [
        "- [ ] a 🏁 delete\n  - sub",
        "- [ ] a 🏁 delete\n\tmore of it",
        "- [ ] a 🏁 delete\nmore of it",
        "> - [ ] a 🏁 delete\n>   - sub",
        "- [ ] a 🏁 delete\n\n  more of it",
        "- [ ] a 🏁 delete %% not\nshown %%",
        "- TODO a 🏁 delete\n  more of it\n  DEADLINE: <2026-11-28 Sat>",
        "- TODO a 🏁 delete\n  id:: 5f\n  DEADLINE: <2026-11-28 Sat>",
        "[^1]: - [ ] a 🏁 delete",
    ],
)
def test_a_task_is_not_deleted_away_from_what_belongs_to_it(
    root: Path, editor: NoteEditor, before: str
) -> None:
    with pytest.raises(EditRefused, match=r"deleted when it is done, but .* Delete it yourself"):
        tick(root, editor, before)


@pytest.mark.parametrize(
    ("line", "is_deleted"),
    [
        ("- [ ] a 🏁 delete", True),
        ("- [ ] a 🏁 delete #b 📅 2026-11-27 ⏫ 🆔 x ⛔ y,z [priority:: low] %% c %% ^d", True),
        ("- [ ] a 🏁 delete 🔁 every week on Monday <!-- c -->", True),
        ("- [ ] a [onCompletion:: delete] b", True),
        ("- [ ] Explain 🏁 delete to Bo", False),
        ("- [ ] a %% 🏁 delete %%", False),
        ("- [ ] Explain 🏁 delete, as it is new", False),
        ("- [ ] Explain [it](🏁 delete)", False),
    ],
)
def test_a_sign_within_a_sentence_deletes_nothing(line: str, is_deleted: bool) -> None:
    assert is_deleted_when_done(line) == is_deleted


def test_a_repeater_in_code_is_text(root: Path, editor: NoteEditor) -> None:
    before = "- [ ] Explain `SCHEDULED: <2026-11-20 Fri +1w>`"
    assert tick(root, editor, before) == before.replace("[ ]", "[x]")


def test_the_next_task_keeps_its_code(root: Path, editor: NoteEditor) -> None:
    line = "- [{}] Write `✅ 2026-11-27` 🔁 every day 📅 2026-11-{}{}"
    expected = f"{line.format(' ', 29, '')}\n{line.format('x', 28, ' ✅ 2026-11-28')}"
    assert tick(root, editor, line.format(" ", 28, "")) == expected


@pytest.mark.parametrize(
    ("repeater", "after"),
    [
        ("2026-11-20 Fri +1w", "2026-11-27 Fri +1w"),
        ("2026-11-20 Fri ++1w", "2026-12-04 Fri ++1w"),
        ("2026-11-20 Fri .+1w", "2026-12-05 Sat .+1w"),
        ("2026-12-11 Fri ++1w", "2026-12-18 Fri ++1w"),
        ("2026-11-28 Sat ++2d", "2026-11-30 Mon ++2d"),
        ("2026-01-31 Sat +1m", "2026-02-28 Sat +1m"),
        ("2024-02-29 Thu ++1y", "2027-02-28 Sun ++1y"),
        ("2026-11-20 Fri 10:30 .+3d", "2026-12-01 Tue 10:30 .+3d"),
        ("2026-11-20 +1w -2d", "2026-11-27 +1w -2d"),
        ("0001-01-01 ++1d", "2026-11-29 ++1d"),
    ],
)
def test_a_repeater_moves_the_date_and_the_task_stays_open(
    root: Path, editor: NoteEditor, repeater: str, after: str
) -> None:
    before = "- TODO [#A] a\n  SCHEDULED: <{}>\n  DEADLINE: <2026-11-30 Mon>\n- b\n"
    assert tick(root, editor, before.format(repeater)) == before.format(after)


@pytest.mark.parametrize(
    ("marker", "after"), [("DOING", "TODO"), ("NOW", "LATER"), ("LATER", "LATER"), ("[/]", "[ ]")]
)
def test_a_task_with_a_repeater_is_no_longer_under_way(
    root: Path, editor: NoteEditor, marker: str, after: str
) -> None:
    text = "- {} a SCHEDULED: <{} +1w>"
    expected = text.format(after, "2026-11-27 Fri")
    assert tick(root, editor, text.format(marker, "2026-11-20 Fri")) == expected


def test_a_repeater_in_hours_is_refused(root: Path, editor: NoteEditor) -> None:
    with pytest.raises(EditRefused, match="cannot tell its next day"):
        tick(root, editor, "- TODO a\n  SCHEDULED: <2026-11-28 Sat 10:00 .+2h>")


def test_a_line_that_is_no_task_is_not_written() -> None:
    assert write_ticked("- a 📅 2026-11-27", "x", TODAY) is None
