"""Pinned answers in the sidebar, by mouse and keys: pinned, changed, opened, renamed, removed."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.pinned import answers
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import (
    choose_from_row,
    click_button,
    click_row,
    press_enter_on,
    row_of,
)
from tests.support.window.window_pages import WindowPage, find, open_window
from ui.chat.message.approval_card import ApprovalDialog
from ui.chat.versions import VersionsDialog
from ui.panels.pinned import PinnedList
from ui.panels.pinned_question import PinQuestionDialog
from ui.widgets.lists import ROW, Row

MOVE = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
PIN = "Pin to the sidebar, and keep it up to date"
TASKS = "# Tasks\n\n- [ ] Mow the lawn 📅 2026-11-27\n- [ ] Dig the beds\n"


@pytest.fixture
def vault(assistant: Assistant, small_vault: Path) -> Path:
    (small_vault / "Tasks.md").write_text(TASKS)
    assistant.open_vault(small_vault, remember=False)
    list(assistant.index(CancelToken()))
    return small_vault


@pytest.fixture
def window(assistant: Assistant, vault: Path, qtbot: QtBot) -> WindowPage:
    return open_window(assistant, None, qtbot)


def list_of(window: WindowPage) -> PinnedList:
    return window.view.sidebar.pinned


def rows_below(view: PinnedList, parent: QModelIndex) -> list[Row]:
    model = view.model()
    return [model.index(row, 0, parent).data(ROW) for row in range(model.rowCount(parent))]


def is_filled(view: PinnedList, rows: int) -> bool:
    return view.isVisible() and view.model().rowCount() == rows


def read_labels(root: QWidget) -> str:
    return " ".join(one.text() for one in root.findChildren(QLabel) if one.isVisible())


def right_of(view: PinnedList, title: str) -> str:
    found: Row = row_of(view, title).data(ROW)
    return found.right


def test_open_tasks_are_pinned_change_and_are_read_in_the_sidebar(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    pinned = list_of(window)
    qtbot.waitUntil(lambda: bool(window.view.sidebar._no_pinned.text()))
    window.composer.send("open tasks")
    qtbot.waitUntil(lambda: window.view.transcript.last_answer_entry != "")
    window.press(PIN)
    qtbot.waitUntil(pinned.isVisible)
    assert right_of(pinned, "open tasks") == "2"
    (vault / "Tasks.md").write_text(TASKS.replace("[ ] Dig", "[x] Dig") + "- [ ] Sow peas\n")
    qtbot.waitUntil(lambda: right_of(pinned, "open tasks") == "+1 −1  2")
    said = row_of(pinned, "open tasks").data(Qt.ItemDataRole.AccessibleTextRole)
    assert "1 new, 1 gone" in said
    press_enter_on(pinned, "open tasks")
    parent = row_of(pinned, "open tasks")
    rows = rows_below(pinned, parent)
    assert [(row.text, row.icon, row.is_lit) for row in rows] == [
        ("Sow peas", "plus", True),
        ("Dig the beds", "minus", True),
        ("Mow the lawn 📅 2026-11-27", "square", False),
    ]
    click_row(pinned, "Sow peas")
    qtbot.waitUntil(lambda: window.view.note.path == "Tasks.md")
    qtbot.waitUntil(lambda: window.view.note.find_marked_lines() == (5, 5))
    press_enter_on(pinned, "open tasks")  # closed: its changes are seen
    qtbot.waitUntil(lambda: right_of(pinned, "open tasks") == "2")


def test_tasks_of_logseq_are_pinned_with_their_deadlines_and_the_icon_of_tasks(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    journal = "- TODO Pay the rent\n  DEADLINE: <2026-12-01 Tue>\n- WAITING Parcel\n"
    (vault / "2026_11_25.md").write_text(journal)
    qtbot.waitUntil(lambda: bool(window.assistant.search("parcel", 1).hits))
    pinned = list_of(window)
    window.view.composer.set_text("open tasks")
    window.press_keys("Ctrl+Shift+D")
    qtbot.waitUntil(pinned.isVisible)
    qtbot.waitUntil(lambda: right_of(pinned, "open tasks") == "4")
    press_enter_on(pinned, "open tasks")
    rows = rows_below(pinned, row_of(pinned, "open tasks"))
    assert [(row.text, row.icon) for row in rows] == [
        ("Pay the rent DEADLINE: <2026-12-01 Tue>", "square"),
        ("WAITING Parcel", "square"),
        ("Mow the lawn 📅 2026-11-27", "square"),
        ("Dig the beds", "square"),
    ]


def test_a_question_in_the_message_box_is_pinned_renamed_moved_and_removed_with_undo(
    window: WindowPage, qtbot: QtBot
) -> None:
    pinned = list_of(window)
    for number, text in enumerate(("tag:start", "barrel litres"), start=1):
        window.view.composer.set_text(text)
        window.press_keys("Ctrl+Shift+D")
        qtbot.waitUntil(partial(is_filled, pinned, number))
    pinned.setFocus()
    pinned.setCurrentIndex(row_of(pinned, "barrel litres"))
    QTest.keyClick(pinned, Qt.Key.Key_Up, MOVE)
    qtbot.waitUntil(lambda: pinned.model().index(0, 0).data() == "barrel litres")
    QTest.keyClick(pinned, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    assert editor is not None
    QTest.keyClicks(editor, "Wa")
    pinned.set_answers(window.assistant.pinned.refresh())  # as after a change of the notes
    QTest.keyClicks(editor, "ter")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: pinned.model().index(0, 0).data() == "Water")
    pinned.setCurrentIndex(row_of(pinned, "Water"))
    QTest.keyClick(pinned, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: pinned.model().rowCount() == 1)
    window.press("Undo")
    qtbot.waitUntil(lambda: pinned.model().index(0, 0).data() == "Water")
    choose_from_row(pinned, "Water", "Move down")
    qtbot.waitUntil(lambda: pinned.model().index(1, 0).data() == "Water")


def test_a_new_day_and_a_folder_that_is_away_are_seen(
    window: WindowPage, assistant: Assistant, vault: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    pinned, now = list_of(window), [datetime(2026, 11, 27, 12, tzinfo=UTC)]
    assistant.pinned.clock = lambda: now[0]
    controller = window.view.controllers.pinned
    controller.check_day()
    window.view.composer.set_text("Which tasks are overdue?")
    controller.pin_question()
    qtbot.waitUntil(pinned.isVisible)
    assert right_of(pinned, "Which tasks are overdue?") == "0"
    now[0] += timedelta(days=1)
    controller.midnight.timeout.emit()
    qtbot.waitUntil(lambda: right_of(pinned, "Which tasks are overdue?") == "+1  1")
    vault.rename(tmp_path / "unplugged")
    controller.refresh()
    qtbot.waitUntil(lambda: bool(row_of(pinned, "Which tasks are overdue?").data(ROW).problem))
    assert right_of(pinned, "Which tasks are overdue?") == "+1  1"


def test_a_pinned_answer_is_written_into_the_vault_once_its_change_is_approved(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    pinned, note = list_of(window), vault / "open tasks.md"
    window.view.composer.set_text("open tasks")
    window.press_keys("Ctrl+Shift+D")
    qtbot.waitUntil(partial(is_filled, pinned, 1))

    def decide(button: str) -> None:
        choose_from_row(pinned, "open tasks", "Write it into the vault…")
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ApprovalDialog)
        qtbot.waitUntil(lambda: dialog.card.is_armed)
        click_button(dialog, button)

    decide("Don't write")
    assert not note.exists()
    decide("Write it")
    qtbot.waitUntil(note.exists)
    assert "Dig the beds" in note.read_text()
    qtbot.waitUntil(lambda: len(window.toasts()) == 2)
    window.press("Undo")
    qtbot.waitUntil(lambda: not note.exists())


def test_a_models_answer_says_which_sources_changed_and_is_asked_again_beside_the_old_one(
    assistant: Assistant, vault: Path, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "gpt-4o")
    server.script(Answer("It holds 210 litres [1]."), Answer("It holds 180 litres [1]."))
    window, question = open_window(assistant, None, qtbot), "How much does the barrel hold?"
    pinned, barrel = list_of(window), vault / "Watering.md"
    window.composer.send(question)
    qtbot.waitUntil(lambda: window.view.transcript.last_answer_entry != "")
    window.press(PIN)
    qtbot.waitUntil(partial(is_filled, pinned, 1))
    barrel.write_text(barrel.read_text().replace("210 litres", "180 litres"))
    qtbot.waitUntil(lambda: right_of(pinned, question) == "~1")
    press_enter_on(pinned, question)
    rows = rows_below(pinned, row_of(pinned, question))
    assert rows[0].text == "Its source changed."
    assert {row.icon for row in rows if "litres" in row.text} == {"plus", "minus"}
    assert len(server.bodies) == 1  # nothing is asked by itself
    choose_from_row(pinned, question, "Ask again and compare")
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), VersionsDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, VersionsDialog)
    qtbot.waitUntil(dialog.right.keep.isEnabled)
    texts = [column.answer.text if column.answer else "" for column in (dialog.left, dialog.right)]
    assert texts == ["It holds 210 litres [1].", "It holds 180 litres [1]."]
    dialog.right.keep.click()
    qtbot.waitUntil(lambda: right_of(pinned, question) == "")
    (shown,) = assistant.pinned.list()
    assert shown.answer.answer is not None
    assert shown.answer.answer.text == "It holds 180 litres [1]."


def test_a_question_is_asked_for_where_there_is_none_to_pin(
    window: WindowPage, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: bool(window.view.sidebar._no_pinned.text()))
    window.view.show_note("Tasks.md")  # the note covers the message box
    click_button(window.view.sidebar, "Pin the question in the message box")
    dialog = find(window.view, PinQuestionDialog)
    QTest.keyClick(dialog.question, Qt.Key.Key_Return)
    assert dialog.isVisible(), "there is nothing to pin yet"
    QTest.keyClicks(dialog.question, "open tasks")
    with monkeypatch.context() as patch:
        patch.setattr(answers, "_MOST_PINNED", 0)
        QTest.keyClick(dialog.question, Qt.Key.Key_Return)
        QTest.keyClicks(dialog.question, " and more")
        QTest.keyClick(dialog.question, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: "Remove one of them first." in read_labels(dialog))
    assert dialog.question.text() == "open tasks"
    QTest.keyClick(dialog.question, Qt.Key.Key_Return)
    qtbot.waitUntil(partial(is_filled, list_of(window), 1))
    qtbot.waitUntil(lambda: window.view.findChild(PinQuestionDialog) is None)
    assert right_of(list_of(window), "open tasks") == "2"
