"""The window pressed as a person presses it, over real notes: rows, menus, buttons, dialogs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.conftest import write_notes
from tests.support.window.clicks import (
    button_named,
    choose_from_button,
    choose_from_row,
    click_button,
    click_row,
    press_enter_on,
    press_keys,
    row_of,
    type_keys,
)
from tests.support.window.desktop import Desktop
from tests.support.window.window_pages import find
from ui.chat.message.answer import Answer
from ui.notify import FaultNotice
from ui.palette import Palette
from ui.panels.request_view import RequestView
from ui.settings.dialog import SettingsDialog
from ui.shortcuts import ShortcutsDialog
from ui.tasks import TaskRunner
from ui.window import MainWindow

Press = Callable[[QAbstractItemView, str], None]
QUESTIONS = ("How much does the barrel hold?", "When is the barrel emptied?")


@pytest.fixture
def window(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[MainWindow]:
    """A window over indexed notes and two chats, whose work is done at once."""
    assistant.open_vault(small_vault, remember=False)
    for question in QUESTIONS:
        list(assistant.ask(Ask(question), CancelToken()))
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window)
    window.resize(1440, 900)
    window.show()
    window.begin()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    window.close()


@pytest.mark.parametrize("press", [click_row, press_enter_on])
def test_pressing_a_chat_opens_it(window: MainWindow, press: Press) -> None:
    for question in reversed(QUESTIONS):
        press(window.sidebar.chats, question)
        assert window.middle.title == question
        assert window.sidebar.chats.currentIndex().data() == question


def test_a_list_that_arrives_while_another_folder_is_opened_is_shown(window: MainWindow) -> None:
    listing = window.controllers.notes.listing
    assert listing.indexed_at is not None
    assert window.assistant.library is not None
    window.assistant.library.close()
    window.controllers.notes.listed.emit(listing)
    assert not window.sidebar.notes.isHidden()


@pytest.mark.parametrize("press", [click_row, press_enter_on])
def test_pressing_a_note_opens_it_beside_the_chat(window: MainWindow, press: Press) -> None:
    notes = window.sidebar.notes
    press(notes, "garden")
    for name in ("Tomatoes.md", "Watering.md"):
        press(notes, name)
        assert window.note.isVisible()
        assert window.note.path.endswith(name)
    press(notes, "garden")
    with pytest.raises(LookupError):
        row_of(notes, "Tomatoes.md")


def test_the_menu_of_the_folder_opens_another_one_and_reads_it_again(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_notes(tmp_path / "other")
    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", lambda *_: str(other))
    choose_from_button(window, "Folder of notes: notes", "Choose a folder…")
    assert window.assistant.vault == other
    (other / "New.md").write_text("# New\n", "utf-8")
    choose_from_button(window, "Folder of notes: other", "Read the notes again")
    click_row(window.sidebar.notes, "New.md")
    assert window.note.path == "New.md"
    monkeypatch.setattr("ui.window.sample_vault", lambda: tmp_path / "notes")
    choose_from_button(window, "Folder of notes: other", "Open the sample notes")
    assert window.assistant.vault == tmp_path / "notes"


def test_the_lists_at_the_right_open_what_they_show(window: MainWindow) -> None:
    column = window.column
    click_row(window.sidebar.chats, QUESTIONS[0])
    cited = column.sources.rows()[0]
    click_row(column.sources.list, cited.title)
    assert window.note.path == cited.path
    QApplication.processEvents()  # the header of the note is laid out
    click_button(window, "Show related notes")
    related = column.related.list.model().index(0, 0).data()
    press_enter_on(column.related.list, related)
    assert window.note.path != cited.path
    click_button(window, "Show the index")
    choose_from_button(window, "Which notes are listed: Indexed", "Left out\t0")
    choose_from_button(window, "Which notes are listed: Left out", "Indexed\t5")
    click_row(column.index.lists.list, "garden/Kompost.md")
    assert window.note.path == "garden/Kompost.md"


def test_a_row_of_the_palette_is_chosen_by_a_click(window: MainWindow) -> None:
    palette = find(window, Palette)
    press_keys(window, "Ctrl+K")
    palette.field.setText("settings")
    click_row(palette.view, "Settings")
    dialog = find(window, SettingsDialog)
    assert dialog.isVisible()
    dialog.close()  # as the cross of its title bar does
    press_keys(window, "Ctrl+K")
    palette.field.setText("emptied")
    click_row(palette.view, QUESTIONS[1])
    assert window.middle.title == QUESTIONS[1]


def test_a_note_is_attached_from_the_menu_of_its_row(window: MainWindow) -> None:
    choose_from_row(window.sidebar.notes, "Watering.md", "Attach to the message")
    assert [chip.attachment.target for chip in window.composer.chips.chips()] == ["Watering.md"]


def test_an_answer_is_named_pinned_and_copied_by_its_buttons(window: MainWindow) -> None:
    click_row(window.sidebar.chats, QUESTIONS[0])
    answer = window.transcript.findChildren(Answer)[-1]
    click_button(answer, "Copy answer")
    assert "210" in QGuiApplication.clipboard().text()
    click_button(answer, "Name this answer")
    type_keys(answer.tools.label.field, "the barrel")
    session = window.controllers.session.session
    assert session is not None
    items = window.assistant.history.transcript(session).items
    assert [getattr(item, "label", "") for item in items][-1] == "the barrel"
    click_button(window.transcript, "Pin answer")
    assert button_named(window.transcript, "Unpin answer").isVisible()


def test_a_question_is_typed_and_sent_by_a_click(window: MainWindow) -> None:
    click_button(window, "New chat")
    window.composer.set_text("Which tomato is the earliest?")
    click_button(window, "Send")
    assert window.middle.title == "Which tomato is the earliest?"
    assert window.column.sources.rows()


def test_every_page_of_the_settings_is_turned_to_by_a_click(window: MainWindow) -> None:
    click_button(window, "Settings")
    dialog = find(window, SettingsDialog)
    for page in ("Privacy", "Agent", "Retrieval", "Context", "Models", "Vault and index"):
        click_row(dialog.pages, page)
        assert dialog.stack.currentIndex() == row_of(dialog.pages, page).row()
        click_button(dialog, "Reset this page")
    press_enter_on(dialog.pages, "Appearance")
    click_button(dialog, "Done")
    assert not dialog.isVisible()


def test_the_list_of_shortcuts_is_closed_by_its_button(window: MainWindow) -> None:
    press_keys(window, "F1")
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, ShortcutsDialog)
    click_button(dialog, "Done")
    assert QApplication.activeModalWidget() is None


def test_open_log_on_the_toast_of_a_fault_opens_the_log_and_takes_the_toast_away(
    window: MainWindow, desktop: Desktop, qtbot: QtBot, tmp_path: Path
) -> None:
    log = tmp_path / "strata.log"
    log.write_text("A trace.", "utf-8")
    FaultNotice(window.notifier, log).schedule()
    qtbot.waitUntil(lambda: len(window.notifier.texts()) == 1)
    click_button(window, "Open log")
    assert desktop.opened == [str(log)]
    assert window.notifier.texts() == []


def open_request(window: MainWindow, qtbot: QtBot) -> RequestView:
    """Open the request of a chat's last answer by the link in the context panel."""
    click_row(window.sidebar.chats, QUESTIONS[0])
    click_button(window.column.context, "Show the request")
    view = window.findChild(RequestView)
    qtbot.waitUntil(view.isActiveWindow)
    return view


def test_the_request_is_searched_and_copied_by_keys_and_closed_by_a_click(
    window: MainWindow, qtbot: QtBot
) -> None:
    view = open_request(window, qtbot)
    assert QUESTIONS[0] in view.text.toPlainText()
    type_keys(view.finder.field, QUESTIONS[0])
    assert view.text.textCursor().selectedText() == QUESTIONS[0]
    click_button(view, "Copy")
    assert QUESTIONS[0] in str(json.loads(QGuiApplication.clipboard().text())["messages"])
    click_button(view, "Done")
    assert not view.isVisible()
    assert window.isVisible()


def test_the_form_of_the_request_is_chosen_from_its_menu_and_escape_closes_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    view = open_request(window, qtbot)
    choose_from_button(view, "Stored form", "As sent to the service")
    assert view.text.toPlainText() == ""  # no service was asked
    assert not button_named(view, "Copy").isEnabled()
    choose_from_button(view, "As sent to the service", "Stored form")
    assert QUESTIONS[0] in view.text.toPlainText()
    press_keys(view, "Escape")
    assert not view.isVisible()
