"""An answer whose text turns out to be the model's thinking, in the window."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.behaviours.behaviour import stream, text
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.stage import Step
from tests.support.window.window_pages import WindowPage, open_window

THOUGHT, SAID = "They want to know about the barrel.", "Behind the shed."


@pytest.fixture
def window(scripted: Assistant, qtbot: QtBot) -> Iterator[WindowPage]:
    page = open_window(scripted, None, qtbot, mode="chat")
    yield page
    page.run("stop")
    qtbot.waitUntil(lambda: not page.chat.is_running)
    page.view.close()


def wait_at(event: threading.Event) -> Step:
    """Build a step of a server that waits for the test."""
    return lambda _stage: event.wait(60)


def text_of(window: WindowPage) -> str:
    return "".join(answer.text for answer in window.chat.answers())


def can_continue(window: WindowPage) -> bool:
    """Return whether the last answer offers to be continued. It does once it has been stored."""
    buttons = [one.findChildren(QAbstractButton) for one in window.chat.answers()]
    names = [button.accessibleName() for one in buttons for button in one if button.isVisible()]
    return "Continue this answer" in names


def test_text_that_was_thinking_is_taken_back(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    seen, shown = threading.Event(), threading.Event()
    server.script(
        stream(
            text(THOUGHT),
            wait_at(seen),
            text("</th", "ink>\n\n", "Behind "),
            wait_at(shown),
            text("the shed."),
        )
    )
    window.composer.send("Where is the barrel?")
    qtbot.waitUntil(lambda: text_of(window) == THOUGHT)
    seen.set()
    qtbot.waitUntil(lambda: text_of(window) == "Behind ")
    shown.set()
    qtbot.waitUntil(lambda: not window.chat.is_running)
    assert text_of(window) == SAID
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    qtbot.waitUntil(lambda: text_of(window) == SAID)


def test_taking_back_leaves_the_answer_that_is_continued(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    seen = threading.Event()
    server.script(
        Answer("The barrel holds 210 litres.", break_after=2),
        stream(text("Where was I?"), wait_at(seen), text("</think>holds 210 litres.")),
    )
    window.composer.send("How much does it hold?")
    qtbot.waitUntil(lambda: can_continue(window))
    assert text_of(window) == "The barrel h"
    window.press_keys("Ctrl+Shift+R")
    qtbot.waitUntil(lambda: text_of(window) == "The barrel h Where was I?")
    seen.set()
    qtbot.waitUntil(lambda: not window.chat.is_running)
    assert text_of(window) == "The barrel h holds 210 litres."
