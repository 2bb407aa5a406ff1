"""What a model thought is shown folded above its answer, and is no part of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer as Scripted
from tests.support.models.model_server import ModelServer
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.message.answer import Answer
from ui.tasks import TaskRunner
from ui.widgets.formatting import duration

THOUGHT = "They ask for **barrels**. I count: one, two."
SAID = "Two barrels."
KINDS = {
    "own field": Scripted(SAID, reasoning=THOUGHT),
    "in the text": Scripted(f"<think>{THOUGHT}</think>{SAID}", chunk_chars=4),
    "found out later": Scripted(f"{THOUGHT}</think>{SAID}", chunk_chars=4),
}


@pytest.fixture
def window(
    scripted: Assistant, tmp_path: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    folder = write_notes(tmp_path / "notes", {"Rain.md": "Two barrels. #water\n"})
    scripted.open_vault(folder, remember=False)
    page = open_window(scripted, runner, qtbot, mode="chat")
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    yield page
    page.view.close()


def ask(window: WindowPage, server: ModelServer, answer: Scripted) -> Answer:
    server.script(answer)
    window.composer.send("How many?")
    settle()
    return window.chat.answers()[-1]


def reopen(window: WindowPage) -> Answer:
    session = window.chat.session
    assert session is not None
    window.press("New chat")
    settle()
    window.view.controllers.session.open(session)
    settle()
    return window.chat.answers()[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_thinking_is_folded_and_no_part_of_the_answer(
    window: WindowPage, server: ModelServer, kind: str
) -> None:
    answer = ask(window, server, KINDS[kind])
    assert answer.text == SAID
    assert answer.view.toPlainText() == SAID
    assert answer.thinking.head.text() == "Thought for <1\N{NO-BREAK SPACE}s"
    assert answer.thinking.head.accessibleName().endswith("thinking folded")
    assert answer.thinking.view is None
    QTest.mouseClick(answer.thinking.head, Qt.MouseButton.LeftButton)
    assert answer.thinking.view is not None
    assert answer.thinking.view.toPlainText() == THOUGHT.replace("*", "")
    answer.copy()
    assert QGuiApplication.clipboard().text() == SAID


def test_thinking_of_a_stored_chat_is_opened_by_key_and_stays_open(
    window: WindowPage, server: ModelServer
) -> None:
    ask(window, server, KINDS["found out later"])
    answer = reopen(window)
    assert answer.thinking.text == THOUGHT
    assert answer.thinking.head.text().startswith("Thought for ")
    assert not answer.thinking.is_open
    QTest.keyClick(answer.thinking.head, Qt.Key.Key_Return)
    assert answer.thinking.is_open
    assert reopen(window).thinking.is_open


def test_thinking_opened_while_it_arrives_stays_open(qtbot: QtBot) -> None:
    answer = Answer()
    qtbot.addWidget(answer)
    answer.append_thought("First. ", 1.0)
    assert not answer.thinking.isHidden()
    answer.thinking.set_open(True)
    answer.append_thought("Second.", 12.4)
    answer.append("Two")
    assert answer.thinking.view is not None
    assert answer.thinking.view.toPlainText() == "First. Second."
    assert answer.thinking.head.text() == "Thought for 12\N{NO-BREAK SPACE}s"
    assert answer.text == "Two"


def test_an_agent_shows_all_of_its_thinking(window: WindowPage, server: ModelServer) -> None:
    window.composer.choose_mode("agent")
    call = Scripted("", calls=(("c1", "list_tags", "{}"),), reasoning="I look at the tags.")
    server.script(call, Scripted("No tags.", reasoning="There are none."))
    window.composer.send("Which tags?")
    settle()
    answer = window.chat.answers()[-1]
    both = "I look at the tags.\n\nThere are none."
    assert answer.thinking.text == both
    assert reopen(window).thinking.text == both


def test_an_answer_without_thinking_has_no_line_for_it(
    window: WindowPage, server: ModelServer
) -> None:
    answer = ask(window, server, Scripted(SAID))
    assert answer.thinking.isHidden()


def test_thinking_is_not_exported(window: WindowPage, server: ModelServer) -> None:
    ask(window, server, KINDS["own field"])
    session = window.chat.session
    assert session is not None
    _title, exported = window.assistant.history.export(session, "md")
    assert SAID in exported
    assert "I count" not in exported


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.2, "<1 s"), (1.4, "1 s"), (59.7, "1 min"), (125, "2 min 5 s"), (3_600, "60 min")],
)
def test_a_duration_is_short(seconds: float, shown: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == shown
