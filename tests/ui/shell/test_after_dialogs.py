"""What dialogs leave behind in the window: the focus, and the buttons that opened them."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt, QTimer
from PySide6.QtGui import QCursor, QEnterEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from tests.support.window.clicks import button_named
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage

DIALOGS = ("settings", "save_note", "shortcuts", "show_request", "first_run", "compact", "compare")


def find_dialog(window: WindowPage) -> QDialog:
    """Return the only visible dialog of the window."""
    (dialog,) = (one for one in window.view.findChildren(QDialog) if one.isVisible())
    return dialog


def is_in(widget: QWidget, name: str) -> bool:
    focused = widget.focusWidget()
    return focused is not None and focused.accessibleName() == name


@pytest.mark.parametrize("command", DIALOGS)
def test_after_a_dialog_the_next_message_can_be_typed(window: WindowPage, command: str) -> None:
    body = window.chat.answers()[-1].view
    QTest.mouseClick(body.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert window.view.focusWidget() is body
    window.run(command)
    settle()
    QTest.keyClick(find_dialog(window), Qt.Key.Key_Escape)
    settle()
    assert is_in(window.view, "Message")


def test_a_saved_note_gives_the_focus_to_the_message(window: WindowPage) -> None:
    body = window.chat.answers()[-1].view
    QTest.mouseClick(body.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    window.run("save_note")
    QTest.keyClick(window.save_dialog.name, Qt.Key.Key_Return)
    assert window.toasts()
    settle()
    assert is_in(window.view, "Message")


def test_a_dialog_returns_the_focus_to_the_field_or_button_that_had_it(
    window: WindowPage,
) -> None:
    button = button_named(window.chat.answers()[-1], "Save answer as a note")
    for had in (window.view.sidebar.chat_search, button):
        had.setFocus(Qt.FocusReason.TabFocusReason)
        window.run("shortcuts")
        QTest.keyClick(find_dialog(window), Qt.Key.Key_Escape)
        settle()
        assert window.view.focusWidget() is had


def hover(button: QWidget) -> None:
    """Put the pointer over a button, as the window system tells it."""
    middle = QPointF(button.rect().center())
    QCursor.setPos(button.mapToGlobal(button.rect().center()))
    whole = QPointF(button.mapToGlobal(button.rect().center()))
    QApplication.sendEvent(button, QEnterEvent(middle, middle, whole))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)


@pytest.mark.parametrize(
    ("command", "name"),
    [("save_note", "Save answer as a note"), ("shortcuts", "Attach"), ("compact", "New chat")],
)
def test_no_button_stays_lit_below_or_after_a_dialog(
    window: WindowPage, command: str, name: str
) -> None:
    names = {one.accessibleName() or one.text(): one for one in visible_buttons(window.view)}
    button = next(one for known, one in names.items() if known.startswith(name))
    hover(button)
    window.run(command)
    settle()
    dialog = find_dialog(window)
    assert not button.underMouse()
    QCursor.setPos(window.view.mapToGlobal(window.view.rect().center()))
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    settle()
    assert not button.underMouse()


def visible_buttons(root: QWidget) -> list[QAbstractButton]:
    return [one for one in root.findChildren(QAbstractButton) if one.isVisible()]


def test_escape_in_a_file_chooser_leaves_the_keys_to_the_dialog_below(
    window: WindowPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.run("first_run")
    dialog = find_dialog(window)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    owners: list[QWidget] = []

    def leave(owner: QWidget, *_args: str) -> str:
        owners.append(owner)
        chooser = QDialog(owner)
        QTimer.singleShot(0, chooser, lambda: QTest.keyClick(chooser, Qt.Key.Key_Escape))
        chooser.exec()
        return ""

    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", leave)
    window.run("choose_folder")
    assert owners == [dialog]
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def grab(window: WindowPage) -> QImage:
    """Return what is painted on the screen, without painting anything anew."""
    QApplication.processEvents()
    return window.view.screen().grabWindow(window.view.winId()).toImage()


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_nothing_is_left_of_the_field_for_a_name(window: WindowPage, key: Qt.Key) -> None:
    tools = window.chat.answers()[-1].tools
    settle()
    before = grab(window)
    tools.name.click()
    settle()
    place = QRect(tools.label.mapTo(window.view, QPoint()), tools.label.size())
    assert grab(window).copy(place) != before.copy(place)
    QTest.keyClick(tools.label.field, key)
    settle()
    assert not tools.label.isVisible()
    assert grab(window).copy(place) == before.copy(place)
