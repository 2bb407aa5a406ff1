"""The page "MCP servers": servers are added, tested with a question first, and removed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.servers.mcp_server import count_starts, settings_entry
from tests.support.window import widgets
from tests.support.window.clicks import button_named, click_button
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.settings.mcp import ServerRow
from ui.tasks import TaskRunner


@pytest.fixture
def dialog(assistant: Assistant, qtbot: QtBot) -> Iterator[SettingsDialog]:
    runner = TaskRunner()
    with open_settings(assistant, runner, qtbot) as dialog:
        dialog.show_page("MCP servers")
        yield dialog
    runner.close()
    assistant.close()


def type_into(field: QLineEdit, text: str) -> None:
    QTest.mouseClick(field, Qt.MouseButton.LeftButton)
    field.selectAll()
    QTest.keyClicks(field, text)


def add(dialog: SettingsDialog, name: str, command: str) -> None:
    """Fill in the form for a server, and press Enter."""
    type_into(dialog.servers.name, name)
    type_into(dialog.servers.command, command)
    QTest.keyClick(dialog.servers.command, Qt.Key.Key_Return)


def wait_for_row(dialog: SettingsDialog, qtbot: QtBot, name: str) -> ServerRow:
    def find() -> list[ServerRow]:
        return [row for row in dialog.servers.rows if row.server.name == name]

    qtbot.waitUntil(lambda: bool(find()))
    QApplication.processEvents()
    return find()[0]


def wait_for_words(row: ServerRow, qtbot: QtBot, words: str) -> None:
    qtbot.waitUntil(lambda: words in row.state.text())


def test_a_server_is_added_tested_after_a_question_and_removed(
    dialog: SettingsDialog, assistant: Assistant, tmp_path: Path, qtbot: QtBot
) -> None:
    assistant.settings.set("mcp.servers", {"leaves": settings_entry(tmp_path)})
    dialog.servers.refresh()
    row = wait_for_row(dialog, qtbot, "leaves")
    assert row.state.text().startswith("Not approved yet.")
    click_button(dialog, "Test leaves")
    assert row.state.text() == "Start this program? It runs with your rights."
    labels = [label.text() for label in row.findChildren(QLabel) if label.isVisible()]
    assert any("-m tests.support.servers.mcp_server" in text for text in labels)
    assert button_named(row, "Don't start").hasFocus()
    assert count_starts(tmp_path) == 0
    click_button(dialog, "Start leaves")
    wait_for_words(row, qtbot, "It works, with ")
    assert button_named(row, "Test leaves").hasFocus()
    assert count_starts(tmp_path) == 1
    qtbot.waitUntil(lambda: widgets.find_faults(dialog) == [])  # the row is laid out anew
    assert [known for _, known in assistant.agents.mcp.list_servers()] == [True]
    click_button(dialog, "Remove leaves")
    qtbot.waitUntil(lambda: dialog.servers.rows == [])
    assert assistant.settings.get("mcp.servers") == {}


def test_a_refused_start_starts_nothing(
    dialog: SettingsDialog, assistant: Assistant, tmp_path: Path, qtbot: QtBot
) -> None:
    assistant.settings.set("mcp.servers", {"leaves": settings_entry(tmp_path)})
    dialog.servers.refresh()
    row = wait_for_row(dialog, qtbot, "leaves")
    click_button(dialog, "Test leaves")
    QTest.keyClick(button_named(row, "Don't start"), Qt.Key.Key_Space)
    assert row.state.text().startswith("Not approved yet.")
    assert button_named(row, "Test leaves").hasFocus()
    assert (count_starts(tmp_path), assistant.agents.mcp.list_servers()[0][1]) == (0, False)


def test_a_command_that_does_not_exist_is_named(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    add(dialog, "files", "no-such-program --all 'two words'")
    row = wait_for_row(dialog, qtbot, "files")
    assert assistant.settings.get("mcp.servers") == {
        "files": {"command": "no-such-program", "args": ["--all", "two words"]}
    }
    for _ in range(4):  # more often than a failing server is started for an agent
        click_button(dialog, "Test files")
        if row.start.isVisible():
            click_button(dialog, "Start files")
        qtbot.waitUntil(lambda: not row.is_testing)
        assert row.state.text().startswith("The MCP server files ")
        assert "no-such-program" in row.state.text()
    assert "times in a row" not in row.state.text()


@pytest.mark.parametrize(
    ("name", "command", "problem"),
    [
        ("", "npx", "Enter a name, and a command or an address."),
        ("two words", "npx", "may have letters, digits and hyphens"),
        ("files", "npx 'a", "a quotation mark in the command is not closed"),
        ("web", "http://", "needs a command, or a url"),
    ],
)
def test_a_server_that_is_not_valid_is_not_added(
    dialog: SettingsDialog, assistant: Assistant, name: str, command: str, problem: str
) -> None:
    add(dialog, name, command)
    assert problem in dialog.servers.problem.text()
    assert dialog.servers.command.text() == command
    assert assistant.settings.get("mcp.servers") == {}


def test_a_name_is_used_once(dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot) -> None:
    add(dialog, "files", sys.executable)
    wait_for_row(dialog, qtbot, "files")
    add(dialog, "files", "npx")
    assert dialog.servers.problem.text() == "There is already a server named files."
