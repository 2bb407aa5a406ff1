"""Tasks of the open note are ticked and unticked by mouse and keys, and taken back."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.window.clicks import LEFT, NONE
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.markdown.page.decorations import list_tasks
from ui.markdown.page.note_view import NoteView
from ui.tasks import TaskRunner

TASKS = """\
---
tags: [garden]
---
# Garden

- [ ] water the beds
* [x] buy seeds
1. [ ] prune the roses
   - [ ] and the apple tree
> [!todo] Later
> - [ ] sharpen the spade
- [/] half done
- [-] no more
   * [>] later
1) [?] why
- - [!] loud
- [é] odd
- [1] numbered
- [/]not a state
- [//] nor this
- text [-] in it
- [-](Plain) a link
```
- [ ] not a task
```
![[Other]]
"""
OTHER = "- [ ] of another note\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "notes", {"Other.md": OTHER, "Plain.md": "No task here.\n"})
    (folder / "Garden.md").write_bytes(b"\xef\xbb\xbf" + TASKS.replace("\n", "\r\n").encode())
    return folder


@pytest.fixture
def window(
    assistant: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window with the note of tasks."""
    assistant.open_vault(vault, remember=False)
    window = open_window(assistant, runner, qtbot)
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    window.view.show_note("Garden.md")
    settle()
    yield window
    window.close()


def list_views(window: WindowPage) -> list[NoteView]:
    return list(window.view.note.page.views())


def click_task(window: WindowPage, text: str) -> None:
    """Click the checkbox before a text."""
    for view in list_views(window):
        for mark in list_tasks(view._writer.final):
            if view.document().findBlock(mark.start).text().startswith(text):
                spot = view._decoration_painter.find_box(mark).center()
                QTest.mouseClick(view.viewport(), LEFT, NONE, spot)
                settle()
                return
    raise LookupError(text)


def read(vault: Path) -> str:
    data = (vault / "Garden.md").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\n") == data.count(b"\r\n")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("text", "before", "after", "said"),
    [
        ("water", "- [ ] water", "- [x] water", "“water the beds” is done."),
        ("buy", "* [x] buy", "* [ ] buy", "“buy seeds” is open again."),
        ("prune", "1. [ ] prune", "1. [x] prune", "“prune the roses” is done."),
        ("and the", "   - [ ] and", "   - [x] and", "“and the apple tree” is done."),
        ("half", "- [/] half", "- [x] half", "“half done” is done."),
        ("no more", "- [-] no", "- [x] no", "“no more” is done."),
        ("later", "* [>] later", "* [x] later", "“later” is done."),
        ("why", "1) [?] why", "1) [x] why", "“why” is done."),
        ("loud", "- - [!] loud", "- - [x] loud", "“loud” is done."),
        ("odd", "- [é] odd", "- [x] odd", "“odd” is done."),
        ("numbered", "- [1] numb", "- [x] numb", "“numbered” is done."),
        ("sharpen", "> - [ ] sharpen", "> - [x] sharpen", "“sharpen the spade” is done."),
    ],
)
def test_a_click_ticks_a_task_and_undo_takes_it_back(
    window: WindowPage, vault: Path, text: str, before: str, after: str, said: str
) -> None:
    click_task(window, text)
    assert read(vault) == TASKS.replace(before, after)
    assert window.view.notifier.texts() == [said]
    window.press("Undo")
    settle()
    assert read(vault) == TASKS
    click_task(window, text)
    assert read(vault) == TASKS.replace(before, after)
    click_task(window, text)
    opened = after.replace("[x]", "[ ]") if "[x]" in after else before
    assert read(vault) == TASKS.replace(before, opened)


def test_the_next_task_stands_above_a_recurring_one_and_leaves_with_undo(
    window: WindowPage, vault: Path
) -> None:
    before = "- [ ] rake 🔁 every 2 weeks 📅 2026-11-27\n- [ ] sweep 🔁 every hour\n"
    (vault / "Plain.md").write_text(before, "utf-8")
    window.view.show_note("Plain.md")
    settle()
    click_task(window, "rake")
    texts = [view.toPlainText() for view in list_views(window)]
    assert "rake 🔁 every 2 weeks 📅 2026-12-11" in "".join(texts)
    assert window.view.notifier.texts() == [
        "“rake 🔁 every 2 weeks 📅 2026-11-27” is done. The next one is on 2026-12-11."
    ]
    window.press("Undo")
    settle()
    assert (vault / "Plain.md").read_text("utf-8") == before
    click_task(window, "sweep")
    (said,) = window.view.notifier.texts()[-1:]
    assert said.endswith("Strata cannot tell its next day. Tick it in Obsidian.")
    assert (vault / "Plain.md").read_text("utf-8") == before


def test_the_next_task_stands_below_if_the_tasks_plugin_is_set_so(
    window: WindowPage, vault: Path
) -> None:
    plugin = vault / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    plugin.mkdir(parents=True)
    settings = '{"recurrenceOnNextLine": true, "globalFilter": "#task"}'
    (plugin / "data.json").write_text(settings, "utf-8")
    before = "- [ ] rake #task 🔁 every week\n- [ ] sweep 🔁 every day\n"
    (vault / "Plain.md").write_text(before, "utf-8")
    window.view.show_note("Plain.md")
    settle()
    click_task(window, "rake")
    day = f"{date.today()}"
    added = f"- [x] rake #task 🔁 every week ✅ {day}\n- [ ] rake #task 🔁 every week\n"
    assert (vault / "Plain.md").read_text("utf-8") == f"{added}- [ ] sweep 🔁 every day\n"
    click_task(window, "sweep")
    assert (vault / "Plain.md").read_text("utf-8") == f"{added}- [x] sweep 🔁 every day\n"
    assert window.view.notifier.texts() == [
        "“rake #task 🔁 every week” is done. It is open again below.",
        "“sweep 🔁 every day” is done.",
    ]


def test_only_a_character_in_brackets_before_a_blank_is_a_task(window: WindowPage) -> None:
    for text in ("[/]not", "[//]", "text", "-", "not a task"):
        with pytest.raises(LookupError):
            click_task(window, text)
    assert "[/]not a state\n[//] nor this\ntext [-] in it\n" in NotePage(window.view).text


def test_a_screen_reader_hears_the_state_of_a_task(window: WindowPage) -> None:
    first = list_views(window)[0]
    first.setFocus()
    heard = []
    for _ in range(8):
        QTest.keyClick(first, Qt.Key.Key_Tab)
        heard.append(first.accessibleName())
    assert heard[0] == "Task, open: water the beds"
    assert heard[1] == "Task, done: buy seeds"
    assert heard[5:] == [
        "Task, in progress: half done",
        "Task, cancelled: no more",
        "Task, put off: later",
    ]


def test_tab_goes_from_task_to_task_and_space_ticks(window: WindowPage, vault: Path) -> None:
    first = next(view for view in list_views(window) if "water" in view.toPlainText())
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Tab)
    QTest.keyClick(first, Qt.Key.Key_Tab)
    QTest.keyClick(first, Qt.Key.Key_Space)
    settle()
    assert read(vault) == TASKS.replace("* [x] buy", "* [ ] buy")
    again = QApplication.focusWidget()
    assert isinstance(again, NoteView)
    QTest.keyClick(again, Qt.Key.Key_Backtab)
    QTest.keyClick(again, Qt.Key.Key_Space)
    settle()
    assert "- [x] water" in read(vault)


def test_tab_scrolls_to_the_task_or_link_that_gets_the_focus(
    window: WindowPage, vault: Path
) -> None:
    words = "Words.\n\n" * 14
    text = f"{words}- [ ] far task\n\n{words}See [[Other]].\n\n{words}"
    (vault / "Plain.md").write_text(text, "utf-8")
    window.view.show_note("Plain.md")
    settle()
    page = window.view.note.page
    page.window().resize(1000, 500)
    settle()
    (view,) = list_views(window)
    view.setFocus()
    tops = [page.verticalScrollBar().value()]
    for words_of_stop in ("far task", "See Other"):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        settle()
        assert view.textCursor().block().text().startswith(words_of_stop)
        spot = view.viewport().mapTo(page.viewport(), view.cursorRect().center())
        assert page.viewport().rect().contains(spot)
        tops.append(page.verticalScrollBar().value())
    assert tops == sorted(set(tops)), "both are far below"


def test_the_undo_keys_take_a_tick_back_outside_a_text_field(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    window.view.activateWindow()
    qtbot.waitUntil(window.view.isActiveWindow)
    click_task(window, "water")
    assert read(vault) != TASKS
    field = window.view.sidebar.chat_search
    field.setFocus()
    QTest.keyClicks(field, "a")
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text() == ""
    assert read(vault) != TASKS, "a text field undoes what was typed in it"
    view = next(iter(list_views(window)))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert read(vault) == TASKS
    window.press_keys("Ctrl+Z")
    assert window.view.notifier.texts()[-1] == "Nothing can be undone here."


def test_a_note_that_changed_meanwhile_is_shown_anew_and_not_written(
    window: WindowPage, vault: Path
) -> None:
    changed = (vault / "Garden.md").read_bytes().replace(b"# Garden", b"# Garden\r\n\r\nA line.")
    (vault / "Garden.md").write_bytes(changed)
    click_task(window, "water")
    assert (vault / "Garden.md").read_bytes() == changed
    said = "The note has changed meanwhile, and is shown anew. Nothing was ticked."
    assert window.view.notifier.texts() == [said]
    assert "A line." in NotePage(window.view).text
    click_task(window, "water")
    assert "- [x] water" in read(vault)


def test_an_embedded_task_is_not_ticked_in_the_wrong_note(window: WindowPage, vault: Path) -> None:
    assert "of another note" in NotePage(window.view).text
    click_task(window, "of another note")
    assert read(vault) == TASKS
    assert (vault / "Other.md").read_text() == OTHER


def test_an_excluded_note_says_that_it_is_not_changed(
    window: WindowPage, vault: Path, assistant: Assistant
) -> None:
    assistant.settings.set("vault.exclude", ["Garden.md"])
    click_task(window, "water")
    assert read(vault) == TASKS
    (said,) = window.view.notifier.texts()
    assert said.startswith("Strata does not change Garden.md, because it is excluded")


LOG = """\
- TODO [#A] Water the beds
  DEADLINE: <2026-11-30 Mon>
- WAITING Mend the hose
  - DONE Sow
- TODOS are many
- TODO
- A TODO within a line

Done.
"""


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("[#A] Water the beds", "- TODO [#A] Water", "- DONE [#A] Water"),
        ("WAITING Mend", "- WAITING Mend", "- DONE Mend"),
        ("Sow", "- DONE Sow", "- TODO Sow"),
    ],
)
def test_a_task_with_a_marker_has_a_checkbox_and_is_ticked(
    window: WindowPage, vault: Path, qtbot: QtBot, text: str, before: str, after: str
) -> None:
    (vault / "Log.md").write_text(LOG, "utf-8")
    window.view.show_note("Log.md")
    qtbot.waitUntil(lambda: window.view.note.path == "Log.md")
    settle()
    marks = [mark for view in list_views(window) for mark in list_tasks(view._writer.final)]
    assert [mark.status for mark in marks] == [" ", " ", "x"]
    click_task(window, text)
    qtbot.waitUntil(lambda: (vault / "Log.md").read_text("utf-8") == LOG.replace(before, after))
    window.press("Undo")
    qtbot.waitUntil(lambda: (vault / "Log.md").read_text("utf-8") == LOG)


def show_plain(window: WindowPage, vault: Path, text: str) -> None:
    (vault / "Plain.md").write_text(text, "utf-8")
    window.view.show_note("Plain.md")
    settle()


def press_in_focus(key: Qt.Key) -> None:
    view = QApplication.focusWidget()
    assert isinstance(view, NoteView)
    QTest.keyClick(view, key)
    settle()


RECURRING = "- [ ] rake 🔁 every week 📅 2026-11-27\n- [ ] sweep\n"


@pytest.mark.parametrize("is_mouse", [True, False])
def test_the_focus_stays_at_the_recurring_task_that_was_ticked(
    window: WindowPage, vault: Path, is_mouse: bool
) -> None:
    show_plain(window, vault, RECURRING)
    if is_mouse:
        click_task(window, "rake")
    else:
        list_views(window)[0].setFocus()
        press_in_focus(Qt.Key.Key_Tab)
        press_in_focus(Qt.Key.Key_Space)
    ticked = (vault / "Plain.md").read_text("utf-8")
    assert ticked.startswith("- [ ] rake 🔁 every week 📅 2026-12-04\n- [x] rake")
    assert window.view.note.page.focused_task == 2
    press_in_focus(Qt.Key.Key_Space)
    again = (vault / "Plain.md").read_text("utf-8")
    assert again.startswith(
        "- [ ] rake 🔁 every week 📅 2026-12-04\n- [ ] rake 🔁 every week 📅 2026-11-27\n"
    )


def test_the_focus_is_back_at_a_recurring_task_after_undo(window: WindowPage, vault: Path) -> None:
    show_plain(window, vault, RECURRING)
    click_task(window, "rake")
    window.press("Undo")
    settle()
    assert (vault / "Plain.md").read_text("utf-8") == RECURRING
    assert window.view.note.page.focused_task == 1


def test_no_task_has_the_focus_after_one_that_is_deleted(window: WindowPage, vault: Path) -> None:
    before = "- [ ] rake 🏁 delete\n- [ ] sweep\n"
    show_plain(window, vault, before)
    click_task(window, "rake")
    assert (vault / "Plain.md").read_text("utf-8") == "- [ ] sweep\n"
    said = "“rake 🏁 delete” is done, and was deleted, as its line says."
    assert window.view.notifier.texts() == [said]
    assert window.view.note.page.focused_task == 0
    window.press("Undo")
    settle()
    assert (vault / "Plain.md").read_text("utf-8") == before


def test_a_repeater_moves_the_date_of_the_open_task(window: WindowPage, vault: Path) -> None:
    before = "- TODO rake\n  SCHEDULED: <2026-11-27 Fri +1w>\n- [ ] sweep\n"
    show_plain(window, vault, before)
    click_task(window, "rake")
    after = (vault / "Plain.md").read_text("utf-8")
    assert after == before.replace("11-27", "12-04")
    assert window.view.notifier.texts() == ["“rake” is done, and open again for 2026-12-04."]
    window.press("Undo")
    settle()
    assert (vault / "Plain.md").read_text("utf-8") == before
