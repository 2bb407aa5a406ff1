"""How long an answer took and why one is missing, as shown when the chat is opened again."""

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.clicks import click_button
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner

QUESTION = "How much does the barrel hold?"


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    return open_window(scripted, runner, qtbot)


def come_back(window: WindowPage) -> None:
    """Open a new chat and then the last one again, as by the sidebar."""
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    QApplication.processEvents()


def log_file(window: WindowPage) -> Path:
    (file,) = window.assistant.paths.sessions.rglob("*.jsonl")
    return file


def has_visible_button(answer: QWidget, text: str) -> bool:
    buttons = answer.findChildren(QAbstractButton)
    return any(
        button.isVisible() and text in {button.text(), button.accessibleName()}
        for button in buttons
    )


def texts(window: WindowPage) -> list[str]:
    return [text for text in window.chat.texts() if text]


def test_the_time_of_an_answer_is_the_one_that_was_measured(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Answer("210 litres."))
    window.composer.send(QUESTION)
    told = window.chat.answers()[0].seconds
    lines = log_file(window).read_text("utf-8").splitlines()
    (stored,) = (line["seconds"] for line in map(json.loads, lines) if "seconds" in line)
    assert told == stored > 0
    changed = [line.replace(f'"seconds":{stored}', '"seconds":24.7') for line in lines]
    changed = [line.replace(f'"seconds": {stored}', '"seconds": 24.7') for line in changed]
    log_file(window).write_text("\n".join(changed) + "\n", "utf-8")
    come_back(window)
    assert window.chat.answers()[0].seconds == 24.7
    assert any("24.7 s" in text for text in texts(window))


def test_a_missing_answer_keeps_its_reason_and_can_be_asked_for_again(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window.composer.send(QUESTION)
    come_back(window)
    (failure,) = window.chat.failures()
    assert failure.title.text().startswith("No answer arrived: ")
    assert "needs a key" in failure.title.text()
    assert [button.text() for button in failure.buttons] == ["Enter a key", "Try again"]
    click_button(failure, "Enter a key")
    assert window.settings.is_open
    assert window.settings.page == "Models"
    window.settings.view.close()
    server.script(Answer("210 litres."))
    click_button(failure, "Try again")
    assert [answer.text for answer in window.chat.answers()] == ["210 litres."]
    assert window.chat.failures() == []


def test_an_answer_that_broke_off_keeps_its_reason(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("The barrel holds 210 litres.", break_after=2))
    window.composer.send(QUESTION)
    before = window.chat.answers()[0].ending
    assert before.startswith("The answer broke off: ")
    assert window.toasts() == []  # the answer itself says so
    come_back(window)
    (answer,) = window.chat.answers()
    assert answer.ending == before
    server.script(Answer("210 litres."))
    click_button(answer, "Try again")
    assert [answer.text for answer in window.chat.answers()] == ["210 litres."]


def test_a_message_whose_turn_was_killed_can_be_answered_after_the_restart(
    window: WindowPage, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> None:
    server.script(Answer("210 litres."))
    window.composer.send(QUESTION)
    file = log_file(window)
    window.close()
    lines = file.read_text("utf-8").splitlines()
    asked = next(at for at, line in enumerate(lines) if json.loads(line).get("role") == "user")
    file.write_text("\n".join(lines[: asked + 1]) + "\n", "utf-8")
    again = open_window(window.assistant, runner, qtbot)
    (failure,) = again.chat.failures()
    assert failure.title.text() == "This message has no answer yet"
    click_button(failure, "Try again")
    assert [answer.text for answer in again.chat.answers()] == ["210 litres."]
    assert again.chat.failures() == []
    assert len(again.chat.user_messages()) == 1


@pytest.mark.parametrize(
    ("reply", "reason", "has_retry"),
    [
        (Answer(""), "The model gave an empty answer.", True),
        (
            Answer("The barrel", finish="content_filter"),
            "The service held a part of the answer back.",
            False,
        ),
    ],
)
def test_an_answer_without_all_its_text_says_why(
    window: WindowPage, server: ModelServer, reply: Answer, reason: str, has_retry: bool
) -> None:
    server.script(reply, Answer("210 litres."))
    window.composer.send(QUESTION)
    for _ in range(2):  # the reason is told when the chat is opened again too
        (answer,) = window.chat.answers()
        assert answer.ending == reason
        assert window.toasts() == []
        come_back(window)
    (answer,) = window.chat.answers()
    assert has_visible_button(answer, "Try again") == has_retry
    of_text = ("Copy answer", "Save answer as a note", "Pin answer")
    assert {has_visible_button(answer, name) for name in of_text} == {not has_retry}


def test_an_empty_answer_can_be_asked_for_again(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer(""), Answer("210 litres."))
    window.composer.send(QUESTION)
    click_button(window.chat.answers()[0], "Try again")
    assert [answer.text for answer in window.chat.answers()] == ["210 litres."]
