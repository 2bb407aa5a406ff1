"""A message that is written while the window still opens the vault."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.window_pages import WindowPage
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


def test_it_is_not_sent_together_with_an_older_draft(
    frame: MainWindow, assistant: Assistant, server: ModelServer
) -> None:
    drafts = '{"": {"text": "A draft of yesterday"}}'
    assistant.paths.state.mkdir(parents=True, exist_ok=True)
    (assistant.paths.state / "drafts.json").write_text(drafts, "utf-8")
    QTest.keyClicks(frame.composer.input, "When do I water?")
    QTest.keyClick(frame.composer.input, Qt.Key.Key_Return)
    window = finish_start(frame, assistant)
    assert window.composer.text.endswith("When do I water?")
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
