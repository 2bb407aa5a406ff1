"""What the desktop is told while the window is not in use."""

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.clicks import button_named
from tests.support.window.transcripts import chat
from tests.support.window.widgets import find_faults
from tests.support.window.window_pages import open_window
from ui import window as window_module
from ui.notify import DesktopNotifier, Notifier
from ui.tasks import TaskRunner
from ui.theme import Mode, Theme
from ui.widgets.buttons import UNDO, ButtonText
from ui.widgets.geometry import compute_column

LOOK_AGAIN = ButtonText("Look again", "Search again")
SUMMARISE = ButtonText("Summarise them", "Make a summary")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_cross_of_a_toast_is_seen_below_the_pointer(mode: Mode, qtbot: QtBot) -> None:
    Theme.current().apply(mode)
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(600, 300)
    place.show()
    Notifier(place).toast("Home server.md changed", (UNDO, lambda: None))
    assert find_faults(place) == []
    cross = button_named(place, "Dismiss")
    cross.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    assert cross.grab().toImage().pixelColor(4, 4).alpha() == 0  # as dark or light as the toast


def test_a_toast_stays_while_the_focus_is_in_it(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Theme, "duration", lambda _theme, _name: 50)
    place = QWidget()
    field = QLineEdit(place)
    qtbot.addWidget(place)
    place.resize(600, 300)
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    field.setFocus()
    notifier = Notifier(place)
    notifier.toast("Home server.md changed", (UNDO, lambda: None))
    button_named(place, "Undo").setFocus()
    qtbot.wait(150)
    assert notifier.texts() == ["Home server.md changed"]
    field.setFocus()
    qtbot.waitUntil(lambda: notifier.texts() == [])


@pytest.mark.parametrize("width", [420, 720, 1_200])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_long_toast_is_no_wider_than_the_text_column(
    width: int, scale: float, qtbot: QtBot
) -> None:
    Theme.current().apply(scale=scale)
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(width, 300)
    place.show()
    Notifier(place).toast(f"{'The folder Greenhouse ' * 12}is gone.", (LOOK_AGAIN, lambda: None))
    toast = button_named(place, "Dismiss").parentWidget()
    left, column = compute_column(width)
    assert (toast.x(), toast.width()) == (left, column)


def test_the_desktop_is_told_only_while_the_window_is_not_in_use(qtbot: QtBot) -> None:
    first, other = QWidget(), QWidget()
    for widget in (first, other):
        qtbot.addWidget(widget)
        widget.show()
    desktop = DesktopNotifier(first)
    first.activateWindow()
    qtbot.waitUntil(first.isActiveWindow)
    with qtbot.assertNotEmitted(desktop.shown):
        desktop.tell("The answer is complete")
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    with qtbot.waitSignal(desktop.shown) as told:
        desktop.tell("The answer is\ncomplete")
    assert told.args == ["The answer is complete"]


@pytest.mark.parametrize(("long_s", "times"), [(0, 1), (10, 0)])
def test_the_end_of_a_long_answer_is_told(
    assistant: Assistant,
    runner: TaskRunner,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    long_s: int,
    times: int,
) -> None:
    monkeypatch.setattr(window_module, "_LONG_S", long_s)
    page = open_window(assistant, runner, qtbot, mode="chat")
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    told: list[str] = []
    page.view.desktop.shown.connect(told.append)
    page.composer.send("Will it rain?")
    assert told == ["The answer is complete: Will it rain?"] * times


def test_a_toast_leaves_the_way_to_the_latest_message_free(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    page = open_window(assistant, runner, qtbot, mode="chat")
    scroller = page.chat.view.scroller
    page.chat.view.load(chat(8))
    page.view.notifier.toast("Three notes have changed since you asked.")
    qtbot.waitUntil(lambda: scroller.bar.maximum() > 400)
    scroller.bar.setValue(0)
    qtbot.waitUntil(scroller.jump.isVisible)
    centre = scroller.jump.mapTo(page.view, scroller.jump.rect().center())
    assert page.view.childAt(centre) is scroller.jump
    page.view.notifier.toast("Another note has changed since.")
    page.view.resize(1_100, 700)
    for _ in range(10):
        QApplication.processEvents()
    centre = scroller.jump.mapTo(page.view, scroller.jump.rect().center())
    assert page.view.childAt(centre) is scroller.jump
    assert len(page.toasts()) == 2


def test_a_toast_leaves_the_buttons_below_the_last_answer_free(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    page = open_window(assistant, runner, qtbot, mode="chat")
    page.chat.view.load(chat(8))
    bar = page.chat.view.scroller.bar
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 400)
    page.view.notifier.toast("Three notes have changed since you asked.")
    buttons = page.chat.answers()[-1].tools.findChildren(QAbstractButton)
    shown = [button for button in buttons if button.isVisible()]
    assert shown
    for button in shown:
        centre = button.mapTo(page.view, button.rect().center())
        assert page.view.childAt(centre) is button


@pytest.mark.parametrize("command", ["toggle_panel", "toggle_sidebar"])
def test_a_drawer_does_not_cover_the_action_of_a_toast(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot, command: str
) -> None:
    page = open_window(assistant, runner, qtbot)
    page.activate(900, 700, qtbot)
    page.view.notifier.toast("List.md changed", (UNDO, lambda: None))
    page.run(command)
    QApplication.processEvents()
    (toast,) = page.view.notifier.list_regions()
    for button in toast.findChildren(QAbstractButton):
        centre = button.mapTo(page.view, button.rect().center())
        assert page.view.childAt(centre) is button


def test_the_action_of_a_toast_is_reached_by_f6_and_the_focus_goes_back(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    page = open_window(assistant, runner, qtbot)
    page.activate(1_280, 800, qtbot)
    undone: list[str] = []
    page.view.notifier.toast("The chat is deleted.", (UNDO, lambda: undone.append("chat")))
    page.view.notifier.toast("Three notes have changed since you asked.")
    page.composer.view.setFocus()
    page.press_keys("F6")
    undo = QApplication.focusWidget()
    assert isinstance(undo, QAbstractButton)
    assert undo.text() == "Undo"
    qtbot.keyClick(undo, Qt.Key.Key_Space)
    assert (undone, page.focus_name) == (["chat"], "Message")
    page.press_keys("F6")
    assert page.focus_name != "Dismiss"


def test_a_toast_about_a_chat_goes_with_it_and_an_undo_stays(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    page = open_window(assistant, runner, qtbot, mode="chat")
    page.view.notifier.toast("Three notes have changed since you asked.")
    page.view.notifier.toast("Home server.md changed", (UNDO, lambda: None))
    page.view.open_session(None)
    assert page.toasts() == ["Home server.md changed"]
    page.view.notifier.toast("12 turns stay.", (SUMMARISE, lambda: None), is_of_chat=True)
    page.view.open_session(None)
    assert page.toasts() == ["Home server.md changed"]


def test_a_file_that_no_program_opens_is_named_in_a_toast(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(url: QUrl) -> bool:
        asked.append(url.toLocalFile())
        return False

    monkeypatch.setattr(QDesktopServices, "openUrl", refuse)
    page = open_window(assistant, runner, qtbot, mode="chat")
    page.view.open_settings()
    page.settings.press("Open settings.toml")
    (opened,) = asked
    assert page.toasts() == [f"No program on this computer opens {opened}"]
    page.settings.view.close()
    page.press("Copy the path")
    assert QGuiApplication.clipboard().text() == opened


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_sentence_that_is_too_long_for_a_line_is_shown_in_full(
    scale: float, qtbot: QtBot
) -> None:
    Theme.current().apply(scale=scale)
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(720, 400)
    place.show()
    text = (
        "The service counted 1,020 tokens where about 8,200 were sent. It may have cut the "
        "beginning off: give it a longer context."
    )
    Notifier(place).toast(text)
    QApplication.processEvents()
    toast = button_named(place, "Dismiss").parentWidget()
    (line,) = toast.findChildren(QLabel)
    assert "".join(c for c in line.text() if c.isprintable()) == text
    room = line.contentsRect().size()
    drawn = line.fontMetrics().boundingRect(
        0, 0, room.width(), 10_000, Qt.TextFlag.TextWordWrap, line.text()
    )
    assert drawn.height() <= room.height()
    assert place.rect().contains(toast.geometry())


def test_a_short_toast_has_one_line(qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    place.resize(720, 400)
    place.show()
    Notifier(place).toast("Home server.md changed", (UNDO, lambda: None))
    QApplication.processEvents()
    toast = button_named(place, "Dismiss").parentWidget()
    (line,) = toast.findChildren(QLabel)
    assert line.height() < 2 * line.fontMetrics().height()
    assert line.width() >= line.fontMetrics().horizontalAdvance(line.text())
