"""The embedding model is loaded while a question is written, and not while the user only reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.window.window_pages import WindowPage, open_window
from ui.controllers.composer import ComposerController
from ui.tasks import TaskRunner
from vault.vault import Vault


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The vaults whose embedding model was loaded before a search."""
    found: list[Path] = []
    load = Vault.load_model

    def record(vault: Vault) -> None:
        load(vault)
        found.append(vault.root)

    monkeypatch.setattr(Vault, "load_model", record)
    return found


@pytest.fixture
def window(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot, loads: list[Path]
) -> Iterator[WindowPage]:
    """A window on an indexed vault, without a model for answers."""
    assistant.open_vault(small_vault)
    list(assistant.index(CancelToken()))
    yield open_window(assistant, runner, qtbot, mode="vault")
    assert set(loads) <= {small_vault}


def write(window: WindowPage, text: str) -> None:
    window.composer.view.setFocus()
    QTest.keyClicks(window.composer.view.input, text)


def test_the_first_letters_of_a_question_load_the_model_once(
    window: WindowPage, loads: list[Path], qtbot: QtBot
) -> None:
    write(window, "How much")
    qtbot.waitUntil(lambda: len(loads) == 1)
    write(window, " does the barrel hold?")
    assert len(loads) == 1


def test_reading_loads_nothing(window: WindowPage, loads: list[Path], qtbot: QtBot) -> None:
    window.view.show_note("Garden.md")
    window.view.open_session(None)
    window.composer.view.setFocus()
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_Space)
    write(window, "/help")
    qtbot.waitUntil(lambda: not window.chat.is_running)
    assert loads == []


def test_a_chat_without_notes_loads_nothing_until_it_asks_the_vault(
    window: WindowPage, loads: list[Path], qtbot: QtBot
) -> None:
    window.view.controllers.composer.set_mode("chat")
    write(window, "Hello")
    assert loads == []
    window.view.controllers.composer.set_mode("vault")
    write(window, ", how much does the barrel hold?")
    qtbot.waitUntil(lambda: len(loads) == 1)


def test_a_question_that_is_written_after_a_long_pause_loads_it_again(
    window: WindowPage, loads: list[Path], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.controllers.composer.PREPARED_FOR_S", 0.0)
    assert isinstance(window.view.controllers.composer, ComposerController)
    write(window, "a")
    qtbot.waitUntil(lambda: len(loads) == 1)
    write(window, "b")
    qtbot.waitUntil(lambda: len(loads) == 2)


def test_quick_ask_loads_the_model_when_it_opens(
    window: WindowPage, loads: list[Path], qtbot: QtBot
) -> None:
    window.view.run_command("quick_ask")
    qtbot.waitUntil(lambda: len(loads) == 1)
