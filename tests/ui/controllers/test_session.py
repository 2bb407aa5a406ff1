"""Asking, failing, stopping and coming back, with a scripted model behind the real client."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.opening import FirstLook
from tests.support.contexts import make_context
from tests.support.model_server import Answer, Failure, ModelServer
from ui.chat.message.user import UserMessage
from ui.markdown.page.view import MarkdownView
from ui.panels.context.left_out_list import LeftOutList
from ui.tasks import TaskRunner
from ui.window import MainWindow


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def talking(assistant: Assistant, server: ModelServer) -> Assistant:
    """The assistant with a model that says what a test tells it."""
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    return assistant


def open_window(assistant: Assistant, runner: TaskRunner | None, qtbot: QtBot) -> MainWindow:
    window = MainWindow(FirstLook(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window._middle.show_chat(True)
    window.resize(1440, 900)
    window.show()
    window.begin()
    return window


@pytest.fixture
def window(talking: Assistant, runner: TaskRunner, qtbot: QtBot) -> MainWindow:
    """A window whose work is done at once."""
    return open_window(talking, runner, qtbot)


@pytest.fixture
def live(talking: Assistant, qtbot: QtBot) -> MainWindow:
    """A window whose work is done in threads."""
    return open_window(talking, None, qtbot)


def panel_texts(window: MainWindow) -> list[str]:
    labels = window._column.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible()]


def test_an_answer_is_stored_listed_and_accounted_for(
    window: MainWindow, server: ModelServer
) -> None:
    server.script(Answer("The barrel holds 210 litres.", usage=None))
    window._composer.submitted.emit("How much does the barrel hold?")
    (chat,) = window._assistant.list_sessions()
    assert window._talk.session == chat.session
    assert window._sidebar.chats.currentIndex().data() == "How much does the barrel hold?"
    assert window._middle._title.whole == "How much does the barrel hold?"
    assert window._column.context.which == "last"
    last = window._assistant.last_context(chat.session)
    assert last is not None
    assert f"{last['used']:,}" in panel_texts(window)
    assert not window._talk.is_running


def test_what_the_service_counted_is_told(window: MainWindow, server: ModelServer) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    assert any("the service counted 100" in text for text in panel_texts(window))


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_after_an_edit_the_cursor_is_where_the_next_question_is_written(
    window: MainWindow, key: Qt.Key, qtbot: QtBot
) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window._composer.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    (message,) = window._transcript.findChildren(UserMessage)
    assert message.editor is not None
    assert message.editor.field.hasFocus()
    qtbot.keyClicks(QApplication.focusWidget(), " And the second one?")
    qtbot.keyClick(QApplication.focusWidget(), key)
    assert window._composer.input.hasFocus()


def test_typing_turns_the_panel_to_the_next_request(window: MainWindow) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    window._composer.set_text("And the second one?")
    assert window._column.context.which == "next"


def test_a_failure_stands_in_the_chat_and_the_question_is_kept(
    window: MainWindow, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window._composer.submitted.emit("How much does the barrel hold?")
    (chat,) = window._assistant.list_sessions()
    assert window._talk.session == chat.session
    assert not window._talk.is_running
    shown = [label.text() for label in window._transcript.findChildren(QLabel)]
    assert any("key" in text for text in shown)


HOOK = """
def fail(event):
    raise ValueError("no such table")

def register(registry):
    registry.on("context", fail, name="tables")
"""


@pytest.fixture
def failing_hook(talking: Assistant) -> None:
    """A file of the user's whose hook fails at every request."""
    folder = talking.paths.config / "hooks"
    folder.mkdir(parents=True)
    (folder / "tables.py").write_text(HOOK, "utf-8")
    talking.settings.set("hooks.enabled", True)


@pytest.mark.usefixtures("failing_hook")
def test_a_hook_that_failed_is_turned_off_where_that_is_said(
    window: MainWindow, server: ModelServer
) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    (turn_off,) = buttons(window, "Turn it off")
    turn_off.click()
    assert not window._assistant.settings.values.hooks_enabled
    assert window._notifier.texts() == ["Your hook files are off."]
    server.script(Answer("210 litres.", usage=None))
    buttons(window, "Try again")[0].click()
    assert "210 litres." in [view.toPlainText() for view in window.findChildren(MarkdownView)]
    (undo,) = buttons(window, "Undo")
    undo.click()
    assert window._assistant.settings.values.hooks_enabled


@pytest.mark.usefixtures("failing_hook")
def test_a_hook_that_the_setting_does_not_rule_is_not_said_to_be_off(window: MainWindow) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    window._assistant.settings.set("hooks.enabled", False)
    (turn_off,) = buttons(window, "Turn it off")
    turn_off.click()
    assert "part of an installed package" in window._notifier.texts()[0]


def buttons(window: MainWindow, word: str) -> list[QPushButton]:
    return [made for made in window.findChildren(QPushButton) if made.text() == word]


def test_a_question_that_does_not_fit_comes_back_and_nothing_is_sent(
    window: MainWindow, server: ModelServer
) -> None:
    window._assistant.settings.set("autoCompactThreshold", 4_000)
    question = "word " * 40_000
    window._composer.submitted.emit(question)
    assert window._composer.text().strip() == question.strip()
    assert server.bodies == []
    (kept,) = window._assistant.list_sessions()
    assert (kept.session, kept.turns) == (window._talk.session, 0)
    assert "Your message does not fit" in panel_texts(window)


def test_a_new_chat_does_not_take_what_another_is_answered(
    live: MainWindow, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Answer("A long answer that stops in its middle.", stall_after=1))
    live._composer.submitted.emit("How much does the barrel hold?")
    qtbot.waitUntil(lambda: live._talk.session is not None, timeout=30_000)
    first = live._talk.session
    live._new_chat()
    assert live._talk.session is None
    assert not live._talk.is_running
    live._open_chat(first)
    assert live._talk.is_running
    with qtbot.waitSignal(live._talk.turn_ended, timeout=30_000):
        live._actions["stop"].trigger()
    assert not live._talk.is_running


def test_stopping_keeps_what_has_arrived(
    live: MainWindow, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Answer("Twelve chars and many more of them.", stall_after=2))
    texts: list[str] = []
    live._talk.text_arrived.connect(texts.append)
    live._composer.submitted.emit("How much does the barrel hold?")
    qtbot.waitUntil(lambda: bool(texts), timeout=30_000)
    with qtbot.waitSignal(live._talk.turn_ended, timeout=30_000):
        live._actions["stop"].trigger()
    session = live._talk.session
    assert session is not None
    answer = live._assistant.transcript(session).items[-1]
    assert answer.text.startswith("Twelve char")  # type: ignore[union-attr]


def test_the_chat_of_the_last_time_is_open_again(
    window: MainWindow, runner: TaskRunner, qtbot: QtBot
) -> None:
    window._composer.submitted.emit("How much does the barrel hold?")
    session = window._talk.session
    window.close()
    again = open_window(window._assistant, runner, qtbot)
    assert again._talk.session == session
    assert again._middle._title.whole == "How much does the barrel hold?"
    assert again._column.context.which == "next"


def test_turns_that_were_left_out_are_named_in_the_panel(
    window: MainWindow, server: ModelServer
) -> None:
    window._composer.submitted.emit("Question number 0?")
    (entry,) = window._talk.questions
    left_out = {"layer": "L4", "entries": [entry], "turns": 1, "tokens": 900, "reason": "room"}
    window._presenter.contexts.show_sent(make_context(dropped=[left_out]))
    rows = window._column.findChild(LeftOutList).model()
    shown = rows.index(0, 0, rows.index(0, 0))
    assert shown.data(Qt.ItemDataRole.AccessibleTextRole) == "“Question number 0?”"
    assert "Left out of this request" in panel_texts(window)


def test_after_ten_questions_the_hint_is_gone_for_good(
    window: MainWindow, runner: TaskRunner, qtbot: QtBot
) -> None:
    window._state.sent = 9
    window._composer.submitted.emit("How much does the barrel hold?")
    window.close()
    again = open_window(window._assistant, runner, qtbot)
    assert again._state.sent == 10
