"""A message that is sent while an answer is on its way."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.state import load_drafts


@pytest.fixture
def window(scripted: Assistant, server: ModelServer, qtbot: QtBot) -> Iterator[WindowPage]:
    """A window whose first answer stalls until it is stopped."""
    page = open_window(scripted, None, qtbot, mode="chat")
    server.script(Answer("A long answer that stalls.", stall_after=1))
    type_message(page, "First?")
    qtbot.waitUntil(lambda: page.chat.is_running and len(server.bodies) == 1)
    yield page
    page.view.close()


def type_message(window: WindowPage, text: str) -> None:
    window.composer.view.setFocus()
    QTest.keyClicks(window.composer.view.input, text)
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_Return)


def answer_first_late(server: ModelServer) -> threading.Event:
    """Script two answers. The first one arrives once the returned event is set."""
    gate = threading.Event()

    def answer_late(_body: object) -> Answer:
        gate.wait(30)
        return Answer("One.")

    server.script(answer_late, Answer("Two."))
    return gate


def test_a_queued_message_is_sent_when_the_answer_is_complete(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    page = open_window(assistant, None, qtbot, mode="chat")
    gate = answer_first_late(server)
    type_message(page, "First?")
    qtbot.waitUntil(lambda: page.chat.is_running and len(server.bodies) == 1)
    type_message(page, "Second?")
    QTest.keyClicks(page.composer.view.input, "And thi")
    gate.set()
    qtbot.waitUntil(lambda: not page.chat.is_running and len(page.chat.answers()) == 2)
    assert [message.text for message in page.chat.user_messages()] == ["First?", "Second?"]
    assert [answer.text for answer in page.chat.answers()] == ["One.", "Two."]
    assert (page.composer.text, page.composer.waiting) == ("And thi", "")
    page.view.close()


def test_a_queued_message_is_shown_and_can_be_taken_back(window: WindowPage) -> None:
    type_message(window, "Second?")
    assert window.composer.text == ""
    assert window.composer.waiting == "Sent after this answer: Second?"
    window.press("Take it back")
    assert (window.composer.text, window.composer.waiting) == ("Second?", "")


def test_a_stopped_answer_gives_the_queued_message_back(window: WindowPage, qtbot: QtBot) -> None:
    type_message(window, "Second?")
    with qtbot.waitSignal(window.view.controllers.session.turn_ended):
        window.run("stop")
    assert (window.composer.text, window.composer.waiting) == ("Second?", "")


def test_a_queued_message_stays_queued_when_its_chat_is_left(
    window: WindowPage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: window.chat.session is not None)
    session = window.chat.session
    type_message(window, "Second?")
    QTest.keyClicks(window.composer.view.input, "Third?")
    window.chat.new()
    assert (window.composer.text, window.composer.waiting) == ("", "")
    window.chat.reopen(session)
    assert window.composer.text == "Third?"
    assert window.composer.waiting == "Sent after this answer: Second?"
    window.press("Take it back")
    assert (window.composer.text, window.composer.waiting) == ("Second?\n\nThird?", "")


def test_a_queued_message_is_sent_while_another_chat_is_open(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    page = open_window(assistant, None, qtbot, mode="chat")
    gate = answer_first_late(server)
    type_message(page, "First?")
    qtbot.waitUntil(lambda: page.chat.session is not None)
    session = page.chat.session
    type_message(page, "Second?")
    page.chat.new()
    QTest.keyClicks(page.composer.view.input, "And thi")
    gate.set()
    history = assistant.history
    qtbot.waitUntil(lambda: len(history.transcript(session).items) == 4)
    assert page.chat.session is None
    assert (page.composer.text, page.chat.answers()) == ("And thi", [])
    page.chat.reopen(session)
    qtbot.waitUntil(lambda: len(page.chat.answers()) == 2 and not page.chat.is_running)
    assert [message.text for message in page.chat.user_messages()] == ["First?", "Second?"]
    assert [answer.text for answer in page.chat.answers()] == ["One.", "Two."]
    assert (page.composer.text, page.composer.waiting) == ("", "")
    page.view.close()


def test_a_queued_message_of_a_failed_answer_is_in_the_draft_of_its_chat(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    page = open_window(assistant, None, qtbot, mode="chat")
    gate = threading.Event()

    def fail_late(_body: object) -> Failure:
        gate.wait(30)
        return Failure(401)

    server.script(fail_late)
    type_message(page, "First?")
    qtbot.waitUntil(lambda: page.chat.session is not None)
    session = page.chat.session
    type_message(page, "Second?")
    page.chat.new()
    with qtbot.waitSignal(page.view.controllers.session.turn_ended):
        gate.set()
    assert page.composer.text == ""
    page.chat.reopen(session)
    assert (page.composer.text, page.composer.waiting) == ("Second?", "")
    page.view.close()


def test_a_queued_message_is_saved_with_the_draft_of_its_chat(
    window: WindowPage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: window.chat.session is not None)
    type_message(window, "Second?")
    QTest.keyClicks(window.composer.view.input, "Third?")
    window.view.controllers.drafts.finish()
    kept = load_drafts(window.assistant.paths.state / "drafts.json")
    assert kept[window.chat.session]["text"] == "Second?\n\nThird?"


def test_a_command_is_not_queued(window: WindowPage) -> None:
    type_message(window, "/help ")
    assert window.composer.text.startswith("/help")
    assert window.composer.error.startswith("A command cannot wait.")


def test_an_edited_message_is_not_lost_while_another_answer_is_on_its_way(
    window: WindowPage, qtbot: QtBot
) -> None:
    (message,) = window.chat.user_messages()
    qtbot.waitUntil(lambda: bool(message.entry))
    message.edit()
    QTest.keyClicks(message.editor.field, " And when?")
    QTest.keyClick(message.editor.field, Qt.Key.Key_Return)
    assert window.toasts() == ["An answer is on its way. Stop it first."]
    assert message.editor.text == "First? And when?"
    assert window.view.focusWidget() is message.editor.field
