"""A window over the assistant, without a folder."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from tests.support.window.shell_window import Make
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
