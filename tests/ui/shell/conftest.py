"""A window over the assistant, without a folder, and one with two answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.shell_window import Make
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner
from ui.window import MainWindow


@pytest.fixture
def make(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[Make]:
    """Make a window over the assistant, without a folder."""
    made: list[MainWindow] = []

    def make(width: int = 1440, height: int = 900, *, is_begun: bool = True) -> MainWindow:
        window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
        window.attach(assistant)
        made.append(window)
        qtbot.addWidget(window)
        window.resize(width, height)
        window.show()
        if is_begun:
            window.begin()
        return window

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(
    scripted: Assistant, server: ModelServer, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window with two answered questions."""
    scripted.open_vault(small_vault, remember=False)
    page = open_window(scripted, runner, qtbot, mode="chat")
    page.activate(1440, 900, qtbot)
    for question in ("How much does it hold?", "Surely?"):
        server.script(Answer("The barrel holds 210 litres."))
        page.composer.send(question)
    yield page
    page.close()
