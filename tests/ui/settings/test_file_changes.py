"""Changes that another program makes in the settings file while a window is open."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.config.settings_file import SettingsStore
from tests.support.models.model_server import ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.actions import Keymap
from ui.settings.fields import NumberField
from ui.tasks import TaskRunner
from ui.theme import Theme


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    assistant.open_vault(small_vault)
    return open_window(assistant, runner, qtbot)


def come_back() -> None:
    """Make the program the active one, as a click on its window does."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)


def set_elsewhere(window: WindowPage, key: str, value: object) -> None:
    SettingsStore(window.assistant.paths.settings_file).set(key, value)


def test_a_setting_set_by_another_program_takes_effect_when_the_user_comes_back(
    window: WindowPage,
) -> None:
    window.view.open_settings("Context")
    set_elsewhere(window, "autoCompactThreshold", 32_000)
    set_elsewhere(window, "ui.theme", "dark")
    set_elsewhere(window, "ui.keys", {"new_chat": ["Ctrl+J"]})
    assert window.assistant.settings.get("autoCompactThreshold") == 128_000
    come_back()
    assert window.assistant.settings.get("autoCompactThreshold") == 32_000
    assert Theme.current().mode == "dark"
    assert Keymap.current().describe("new_chat") == "Ctrl+J"
    row = window.settings.view.find_row("autoCompactThreshold")
    assert "32,000" in [field.text() for field in row.findChildren(NumberField)]


def test_a_setting_set_by_another_program_holds_from_the_next_request_on(
    assistant: Assistant, server: ModelServer, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault)
    assistant.settings.set("chat.model", "gpt-4o")
    assistant.settings.set("chat.apiBase", server.url)
    window = open_window(assistant, runner, qtbot, mode="chat")
    window.composer.send("Hello?")
    assert len(server.bodies) == 1
    set_elsewhere(window, "chat.apiBase", "https://api.example.org/v1")
    set_elsewhere(window, "privacy.offline", True)
    set_elsewhere(window, "ui.theme", "dark")
    window.composer.send("And now?")
    assert len(server.bodies) == 1
    (failure,) = window.chat.failures()
    assert "offline" in failure.title.text().lower() + failure.detail.text().lower()
    assert Theme.current().mode == "dark"


def test_a_file_with_an_error_and_another_folder_change_nothing(
    window: WindowPage, small_vault: Path, tmp_path: Path
) -> None:
    set_elsewhere(window, "vault.path", str(tmp_path))
    come_back()
    assert window.assistant.vault == small_vault
    set_elsewhere(window, "autoCompactThreshold", 32_000)
    come_back()
    file = window.assistant.paths.settings_file
    file.write_text(file.read_text() + "\n[[[")
    come_back()
    assert window.assistant.settings.get("autoCompactThreshold") == 32_000
