"""Continue an answer that broke off, by mouse and keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.clicks import button_named, click_button
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.message.answer import Answer as AnswerWidget
from ui.tasks import TaskRunner

QUESTION = "How much does the barrel hold?"
BROKEN = Answer("The barrel holds 210 litres.", break_after=2)
RESUME = "Continue this answer"


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[WindowPage]:
    page = open_window(scripted, runner, qtbot, mode="chat")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    yield page
    page.view.close()


def break_off(window: WindowPage, server: ModelServer, *later: object) -> AnswerWidget:
    """Ask a question whose answer breaks off, and return the answer's widget."""
    server.script(BROKEN, *later)
    window.composer.send(QUESTION)
    settle()
    (answer,) = window.chat.answers()
    return answer


def come_back(window: WindowPage) -> None:
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    settle()


def names_in(answer: AnswerWidget) -> set[str]:
    """Return the names of the buttons that are visible in an answer."""
    buttons = answer.findChildren(QAbstractButton)
    return {button.accessibleName() or button.text() for button in buttons if button.isVisible()}


def wait_for_resume(window: WindowPage, qtbot: QtBot) -> None:
    """Wait until an answer can be continued."""
    qtbot.waitUntil(lambda: any(RESUME in names_in(one) for one in window.chat.answers()))


def test_the_rest_of_an_answer_is_appended_to_it(window: WindowPage, server: ModelServer) -> None:
    answer = break_off(window, server, Answer("holds 210 litres."))
    before = answer.text
    assert before == "The barrel h"
    click_button(answer, RESUME)
    settle()
    (whole,) = window.chat.answers()
    assert whole.text == "The barrel h holds 210 litres."
    assert (whole.ending, RESUME in names_in(whole)) == ("", False)
    assert len(window.chat.user_messages()) == 1
    assert window.focus_name == "Message"
    come_back(window)
    assert [one.text for one in window.chat.answers()] == [whole.text]
    assert window.chat.answers()[0].seconds == whole.seconds


@pytest.mark.parametrize("way", ["shortcut", "Tab and Space"])
def test_an_answer_is_continued_by_keys(window: WindowPage, server: ModelServer, way: str) -> None:
    answer = break_off(window, server, Answer("and so on."))
    if way == "shortcut":
        window.press_keys("Ctrl+Shift+R")
    else:
        window.chat.view.setFocus(Qt.FocusReason.TabFocusReason)
        for _ in range(20):
            if window.focus_name == RESUME:
                break
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is button_named(answer, RESUME)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    settle()
    assert [one.text for one in window.chat.answers()] == ["The barrel h and so on."]


def open_broken_chat(scripted: Assistant, server: ModelServer, qtbot: QtBot) -> WindowPage:
    """Open a window whose answer broke off. If it is continued, a part of the rest arrives."""
    page = open_window(scripted, None, qtbot, mode="chat")
    server.script(BROKEN, Answer("and so on, for a while.", chunk_chars=4, stall_after=3))
    page.composer.send(QUESTION)
    qtbot.waitUntil(
        lambda: bool(page.chat.answers()) and RESUME in names_in(page.chat.answers()[0])
    )
    return page


def test_the_text_so_far_stays_in_view_while_the_rest_arrives(
    scripted: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    page = open_broken_chat(scripted, server, qtbot)
    page.press_keys("Ctrl+Shift+R")
    qtbot.waitUntil(lambda: page.chat.answers()[0].text == "The barrel h and so o")
    page.run("stop")
    qtbot.waitUntil(lambda: not page.chat.is_running)
    wait_for_resume(page, qtbot)
    (answer,) = page.chat.answers()
    assert (answer.text, answer.ending) == (
        "The barrel h and so o",
        "Stopped. What had arrived is kept.",
    )
    page.view.close()


def test_an_answer_cut_at_its_length_limit_can_be_continued(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Answer("One, two,", finish="length"), Answer("three."))
    window.composer.send(QUESTION)
    settle()
    for _ in range(2):  # the limit is told when the chat is opened again too
        (answer,) = window.chat.answers()
        assert answer.ending.startswith("The answer stops at its limit of 4,096 tokens")
        assert "maxOutputTokens" not in answer.ending
        assert window.toasts() == []
        come_back(window)
    window.press_keys("Ctrl+Shift+R")
    settle()
    assert [one.text for one in window.chat.answers()] == ["One, two, three."]


def test_only_the_last_answer_can_be_continued(window: WindowPage, server: ModelServer) -> None:
    break_off(window, server, Answer("Yes."))
    window.composer.send("Are you sure?")
    settle()
    first, last = window.chat.answers()
    assert RESUME not in names_in(first) | names_in(last)
    assert first.ending.startswith("The answer broke off: ")
    window.press_keys("Ctrl+Shift+R")
    assert window.toasts() == [
        "The last answer did not break off, so there is nothing to continue."
    ]


def test_a_continuation_that_fails_can_be_repeated(window: WindowPage, server: ModelServer) -> None:
    answer = break_off(window, server, Failure.saying(401, "no such key"), Answer("and so on."))
    click_button(answer, RESUME)
    settle()
    (answer,) = window.chat.answers()
    assert answer.text == "The barrel h"
    assert window.composer.text == ""
    click_button(answer, RESUME)
    settle()
    assert [one.text for one in window.chat.answers()] == ["The barrel h and so on."]
    assert window.chat.failures() == []


def test_a_continued_chat_that_is_opened_meanwhile_shows_the_whole_answer(
    scripted: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    page = open_broken_chat(scripted, server, qtbot)
    session = page.chat.session
    page.press_keys("Ctrl+Shift+R")
    qtbot.waitUntil(lambda: page.chat.answers()[0].text == "The barrel h and so o")
    page.chat.new()
    page.chat.reopen(session)
    qtbot.waitUntil(lambda: len(page.chat.answers()) == 1)
    qtbot.waitUntil(lambda: page.chat.answers()[0].text == "The barrel h and so o")
    assert len(page.chat.user_messages()) == 1
    page.view.close()
