"""Ways through the window by key: Tab out of a message, the ring of the focus, the search."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import button_named
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner


@pytest.fixture
def window(
    assistant: Assistant, runner: TaskRunner, server: ModelServer, qtbot: QtBot
) -> WindowPage:
    """A window with a chat of one question and its answer."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/scripted")
    assistant.settings.set("chat.titles", False)
    server.script(Answer("Two barrels."))
    window = open_window(assistant, runner, qtbot, mode="chat")
    window.activate(1280, 900, qtbot)
    window.composer.send("How many barrels?")
    return window


def press_tab() -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Qt.Key.Key_Tab)


def test_tab_leads_from_the_last_action_of_a_message_to_the_message_box(
    window: WindowPage,
) -> None:
    window.press_keys("Alt+Up")
    transcript = window.chat.view
    for _ in range(30):
        press_tab()
        if not (transcript.hasFocus() or transcript.isAncestorOf(QApplication.focusWidget())):
            break
    assert window.composer.view.isAncestorOf(QApplication.focusWidget())


def test_the_ring_goes_when_the_focus_leaves_a_message(window: WindowPage) -> None:
    window.press_keys("Alt+Up")
    press_tab()
    assert any(row.is_current for row in window.chat.view.feed.rows)
    window.press_keys("Ctrl+L")
    assert not any(row.is_current for row in window.chat.view.feed.rows)


def type_where_the_focus_is(text: str) -> None:
    for letter in text:
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClicks(focused, letter)


def test_what_is_typed_after_a_click_on_an_answer_is_written(window: WindowPage) -> None:
    answer = window.chat.answers()[0]
    QTest.mouseClick(answer.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    assert not window.composer.view.isAncestorOf(QApplication.focusWidget())
    type_where_the_focus_is("And cans?")
    assert window.composer.text == "And cans?"
    assert window.focus_name == "Message"


def test_what_is_pasted_after_a_click_on_an_answer_is_written(window: WindowPage) -> None:
    answer = window.chat.answers()[0]
    QTest.mouseClick(answer.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    QGuiApplication.clipboard().setText("And cans?")
    focused = QApplication.focusWidget()
    QTest.keyClick(focused, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert window.composer.text == "And cans?"
    assert window.focus_name == "Message"


def test_a_letter_with_ctrl_or_in_the_sidebar_is_not_written(window: WindowPage) -> None:
    window.press_keys("Alt+Up")
    focused = QApplication.focusWidget()
    QTest.keyClick(focused, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(focused, Qt.Key.Key_Space)
    QTest.keyClick(focused, Qt.Key.Key_Down)
    window.sidebar.view.chats.setFocus()
    QTest.keyClicks(window.sidebar.view.chats, "h")
    assert window.composer.text == ""


def test_a_search_of_the_chats_is_left_with_down_and_ended_with_escape(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.press_keys("Ctrl+Shift+F")
    field, chats = window.sidebar.view.chat_search, window.sidebar.view.chats
    QTest.keyClicks(field, "barrels")
    qtbot.waitUntil(lambda: window.sidebar.headings == ["How many barrels?"])
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert chats.hasFocus()
    QTest.keyClick(chats, Qt.Key.Key_Escape)
    assert window.composer.view.input.hasFocus()
    assert field.text() == ""
    window.press_keys("Ctrl+Shift+F")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert window.composer.view.input.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_presses_the_focused_button(window: WindowPage, key: Qt.Key) -> None:
    copy = button_named(window.chat.answers()[-1], "Copy answer")
    QGuiApplication.clipboard().clear()
    copy.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(copy, key, Qt.KeyboardModifier.AltModifier)
    assert QGuiApplication.clipboard().text() == ""
    QTest.keyClick(copy, key)
    assert QGuiApplication.clipboard().text() == "Two barrels."
    new_chat = button_named(window.sidebar.view, "New chat")
    new_chat.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(new_chat, key)
    assert window.chat.session is None
