"""The title that a model gives a chat reaches the header and the list of chats."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner
from vault.embedder import Embedder


@pytest.fixture
def titled(strata_home: object, embedder: Embedder) -> Iterator[Assistant]:
    """An assistant with its defaults, so that chats get titles."""
    assistant = build(Paths.find(), embedder=embedder)
    yield assistant
    assistant.close()


@pytest.fixture
def server(titled: Assistant) -> Iterator[ModelServer]:
    with ModelServer() as server:
        titled.settings.set("chat.apiBase", server.url)
        titled.settings.set("chat.model", "scripted")
        yield server


@pytest.fixture
def window(titled: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    return open_window(titled, runner, qtbot, mode="chat")


def test_a_chat_is_named_after_its_first_answer(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("210 litres."), Answer("The rain barrel"), Answer("In November."))
    window.composer.send("How much does the barrel hold?")
    assert window.chat.title == "The rain barrel"
    assert window.sidebar.chats == ["The rain barrel"]
    window.composer.send("When is it emptied?")
    assert [answer.text for answer in window.chat.answers()] == ["210 litres.", "In November."]
    assert len(server.bodies) == 3


def test_a_title_that_fails_says_nothing(window: WindowPage, server: ModelServer) -> None:
    server.script(Answer("210 litres."), Failure(400))
    window.composer.send("How much does the barrel hold?")
    assert window.chat.title == "How much does the barrel hold?"
    assert window.toasts() == []
    assert window.chat.failures() == []
