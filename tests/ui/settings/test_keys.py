"""The test of a key with one click, and its result in words."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.clicks import click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield server


@pytest.fixture
def dialog(
    assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Models")
        yield dialog


def test_one_click_says_whether_the_service_takes_the_key(
    dialog: SettingsDialog, server: ModelServer
) -> None:
    server.script(Answer("OK"), Failure(401))
    click_button(dialog, "Test the key")
    assert dialog.keys.state.text().startswith("The key works: scripted, ")
    click_button(dialog, "Test the key")
    assert "needs a key" in dialog.keys.state.text()
    assert len(server.bodies) == 2


def test_the_field_of_the_key_takes_what_is_typed_once_it_is_shown(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    runner = TaskRunner()
    with open_settings(assistant, runner, qtbot) as dialog:
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        dialog.show_key(server.url)
        qtbot.waitUntil(dialog.keys.field.hasFocus, timeout=30_000)
    runner.close()
