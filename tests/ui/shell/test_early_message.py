"""A message that is written while the window still opens the vault."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.errors import InvalidRequest
from app.startup import StartupInfo
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import click_button
from tests.support.window.window_pages import WindowPage
from ui.palette import Palette
from ui.panels.context.panel import ContextPanel
from ui.tasks import TaskRunner
from ui.window import MainWindow


@pytest.fixture
def frame(
    assistant: Assistant,
    small_vault: Path,
    runner: TaskRunner,
    server: ModelServer,
    qtbot: QtBot,
) -> MainWindow:
    """A window that is shown and not yet attached to its assistant."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/scripted")
    assistant.open_vault(small_vault)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.show()
    return window


def finish_start(frame: MainWindow, assistant: Assistant) -> WindowPage:
    frame.attach(assistant)
    frame.begin()
    return WindowPage(frame)


def test_enter_sends_it_as_soon_as_the_vault_is_open(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("Every evening."))
    QTest.keyClicks(frame.composer.input, "When do I water?")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    window = finish_start(frame, assistant)
    assert [said.text for said in window.chat.user_messages()] == ["When do I water?"]
    assert window.composer.text == ""


def test_without_enter_it_stays_in_the_message_box(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    QTest.keyClicks(frame.composer.input, "When do I")
    window = finish_start(frame, assistant)
    assert window.composer.text == "When do I"
    assert server.bodies == []


def write_draft(assistant: Assistant) -> str:
    """Store the draft of a new chat, as one that was not sent yesterday, and return its text."""
    assistant.paths.state.mkdir(parents=True, exist_ok=True)
    drafts = '{"": {"text": "A draft of yesterday"}}'
    (assistant.paths.state / "drafts.json").write_text(drafts, "utf-8")
    return "A draft of yesterday"


def test_it_is_sent_without_an_older_draft_which_stays(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("Every evening."), Answer("By hand."))
    draft = write_draft(assistant)
    for text in ("When do I water?", "And how?"):
        QTest.keyClicks(frame.composer.input, text)
        QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    QTest.keyClicks(frame.composer.input, "Where")
    window = finish_start(frame, assistant)
    assert window.chat.user_messages()[0].text == "When do I water?"
    assert window.composer.text == f"{draft}\nWhere"
    QApplication.processEvents()
    assert [said.text for said in window.chat.user_messages()] == ["When do I water?", "And how?"]
    assert window.composer.text == f"{draft}\nWhere"


def test_an_older_draft_without_enter_gets_what_is_typed(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    draft = write_draft(assistant)
    QTest.keyClicks(frame.composer.input, "When do I")
    window = finish_start(frame, assistant)
    assert window.composer.text == f"{draft}\nWhen do I"
    assert server.bodies == []


def test_a_command_stands_before_an_older_draft(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    draft = write_draft(assistant)
    QTest.keyClicks(frame.composer.input, "/new")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Escape)  # the list of commands
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    window = finish_start(frame, assistant)
    assert window.composer.text.split() == ["/new", *draft.split()]
    assert server.bodies == []


def test_what_is_typed_after_enter_is_another_message(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("Every evening."))
    QTest.keyClicks(frame.composer.input, "When do I water?")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    assert frame.composer.text() == ""
    assert frame.composer.waiting.text == "Sent when the vault is open: When do I water?"
    QTest.keyClicks(frame.composer.input, "And how")
    window = finish_start(frame, assistant)
    assert [said.text for said in window.chat.user_messages()] == ["When do I water?"]
    assert window.composer.text == "And how"
    assert window.view.composer.waiting.isHidden()


def test_a_message_that_waits_for_the_vault_can_be_taken_back(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    QTest.keyClicks(frame.composer.input, "When do I water?")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    QTest.keyClicks(frame.composer.input, "Now")
    click_button(frame, "Take it back")
    assert frame.composer.waiting.isHidden()
    window = finish_start(frame, assistant)
    assert window.composer.text == "When do I water?\nNow"
    assert server.bodies == []


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_new_chat_that_was_asked_for_is_not_replaced_by_the_last_one(
    frame: MainWindow,
    assistant: Assistant,
    server: ModelServer,
    runner: TaskRunner,
    qtbot: QtBot,
    is_asked: bool,
) -> None:
    server.script(Answer("Every evening."))
    first = finish_start(frame, assistant)
    first.composer.send("When do I water?")
    last = first.chat.session
    frame.close()
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.resize(1280, 800)
    window.show()
    if is_asked:
        QTest.mouseClick(window.sidebar.new_chat, Qt.MouseButton.LeftButton)
    assert finish_start(window, assistant).chat.session == (None if is_asked else last)


def test_pasted_files_are_attached_when_the_vault_is_open(
    frame: MainWindow, assistant: Assistant, small_vault: Path
) -> None:
    pasted = QMimeData()
    pasted.setUrls([QUrl.fromLocalFile(str(small_vault / "Watering.md"))])
    frame.composer.input.insertFromMimeData(pasted)
    finish_start(frame, assistant)
    attached = frame.controllers.composer.attachments.attached
    assert [item.name for item in attached] == ["Watering.md"]


def test_a_pasted_image_is_attached_when_the_vault_is_open(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(0)
    pasted = QMimeData()
    pasted.setImageData(image)
    frame.composer.input.insertFromMimeData(pasted)
    QTest.keyClicks(frame.composer.input, "What is this?")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    window = finish_start(frame, assistant)
    (item,) = frame.controllers.composer.attachments.attached
    assert item.is_image
    assert (window.composer.text, server.bodies) == ("What is this?", [])


def test_files_are_chosen_when_the_vault_is_open(
    frame: MainWindow, assistant: Assistant, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [str(small_vault / "Watering.md")]
    monkeypatch.setattr("ui.controllers.attachments.choose_files", lambda *_args: chosen)
    frame.composer.attach.chosen.emit("file")
    finish_start(frame, assistant)
    assert len(frame.controllers.composer.attachments.attached) == 1


@pytest.mark.parametrize("keys", [Qt.Key.Key_K, Qt.Key.Key_O])
def test_a_list_that_was_asked_for_is_opened_when_the_vault_is_open(
    frame: MainWindow, assistant: Assistant, qtbot: QtBot, keys: Qt.Key
) -> None:
    frame.fill_column()
    QTest.keyClick(frame.composer.input, keys, Qt.KeyboardModifier.ControlModifier)
    assert not frame.composer.input.hasFocus()
    frame.attach(assistant)
    frame.begin()
    frame.run_early_command()
    qtbot.waitUntil(frame.controllers.palette.close)
    assert frame.composer.text() == ""


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_typed_after_the_command_is_looked_for_then(
    frame: MainWindow, assistant: Assistant, qtbot: QtBot, times: int
) -> None:
    frame.fill_column()
    frame.sidebar.notes.setFocus()
    for _ in range(times):
        QTest.keyClick(frame, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert frame.focusWidget() is None
    QTest.keyClicks(frame, "Waterr")
    QTest.keyClick(frame, Qt.Key.Key_Backspace)
    frame.attach(assistant)
    frame.begin()
    frame.run_early_command()
    palette = find_palette(frame)
    assert palette.field.text() == "Water"
    assert palette.view.matches[0].choice.text == "Watering"
    palette.dismiss()
    QTest.keyClicks(frame, "more")
    assert (frame.composer.text(), frame.early.take_command()) == ("", "")


def test_notes_that_are_listed_after_the_palette_was_opened_are_added(
    frame: MainWindow, assistant: Assistant
) -> None:
    finish_start(frame, assistant)
    notes, palette = frame.controllers.notes, find_palette(frame)
    notes.forget()
    frame.run_command("open_note")
    QTest.keyClicks(palette.field, "Water")
    assert palette.view.matches == []
    notes.list()
    assert [match.choice.text for match in palette.view.matches] == ["Watering"]
    QTest.keyClicks(palette.field, "ing")
    assert palette.field.text() == "Watering"
    palette.dismiss()
    notes.list()
    assert palette.isHidden()


def test_a_command_is_not_run_below_a_dialog(frame: MainWindow, assistant: Assistant) -> None:
    frame.fill_column()
    QTest.keyClick(frame, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    frame.attach(assistant)
    frame.begin()
    dialog = QDialog(frame)
    dialog.open()
    frame.run_early_command()
    assert find_palette(frame).isHidden()
    dialog.close()
    frame.run_early_command()
    assert find_palette(frame).isHidden()


def test_esc_forgets_the_command(frame: MainWindow, assistant: Assistant) -> None:
    frame.fill_column()
    QTest.keyClick(frame.composer.input, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(frame, "Water")
    QTest.keyClick(frame, Qt.Key.Key_Escape)
    assert frame.composer.input.hasFocus()
    assert frame.early.take_command() == ""
    finish_start(frame, assistant)
    frame.run_early_command()
    assert frame.composer.text() == ""


def test_the_keys_of_a_new_chat_ask_for_one(frame: MainWindow) -> None:
    frame.fill_column()
    QTest.keyClick(frame.composer.input, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert frame.early.wants_new_chat
    assert frame.composer.input.hasFocus()


def test_panels_show_that_they_are_loading(frame: MainWindow, assistant: Assistant) -> None:
    frame.fill_column()
    column = frame.column
    for dock in (column.related_dock, column.outline_dock, column.index_dock, column.review_dock):
        column.show_dock(dock)
        assert read_labels(dock.widget()) == ["Loading…"]
    assert read_labels(column.context) == ["Loading…"]
    finish_start(frame, assistant)
    assert "Loading…" not in read_labels(column.context)
    assert isinstance(column.context_dock.widget(), ContextPanel)
    assert column.related_dock.widget() is column.related


def test_a_preview_that_fails_ends_the_loading(
    frame: MainWindow, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise InvalidRequest("This cannot be previewed.")

    monkeypatch.setattr(assistant, "preview", fail)
    finish_start(frame, assistant)
    shown = read_labels(frame.column.context)
    assert "Loading…" not in shown
    assert "Show the request" in shown


def test_the_open_folder_is_not_opened_again(
    frame: MainWindow, assistant: Assistant, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_start(frame, assistant)
    opened: list[Path] = []
    monkeypatch.setattr(frame.controllers.notes, "open", opened.append)
    frame.open_path(small_vault)
    assert opened == []
    frame.open_path(small_vault.parent)
    assert opened == [small_vault.parent]


def find_palette(frame: MainWindow) -> Palette:
    (palette,) = frame.findChildren(Palette)
    return palette


def read_labels(widget: QWidget) -> list[str]:
    found = (*widget.findChildren(QLabel), *widget.findChildren(QAbstractButton))
    return [one.text() for one in found if one.isVisibleTo(widget) and one.text()]
