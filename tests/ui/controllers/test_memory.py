"""The memory of a chat in the context panel: seen, edited, and sent with the next message."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.clicks import button_named
from tests.support.window.window_pages import WindowPage, named, open_window
from ui.tasks import TaskRunner

NOTED = {"scratchpad": "Beans in May.", "facts_add": ["The soil is acid."]}


@pytest.fixture
def server(assistant: Assistant, tmp_path: Path) -> Iterator[ModelServer]:
    call = Answer("", calls=(("c1", "update_memory", json.dumps(NOTED)),))
    with ModelServer(call, Answer("Noted.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(write_notes(tmp_path / "notes"), remember=False)
        yield server


@pytest.fixture
def window(
    assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> WindowPage:
    """A window in agent mode, in whose chat something was noted."""
    page = open_window(assistant, runner, qtbot, mode="agent", is_begun=False)
    page.composer.send("Note it.")
    return page


def edit_facts(window: WindowPage, text: str) -> None:
    window.context.press("Edit the memory")
    named(window.context.view, QPlainTextEdit, "Facts, one a line").setPlainText(text)


def test_memory_is_shown_and_what_is_edited_goes_with_the_next_message(window, server) -> None:
    assert "• The soil is acid." in window.context.texts()
    assert "Beans in May." in window.context.texts()
    edit_facts(window, "The soil is chalky.\n\n Sow in May. ")
    window.context.press("Save the memory")
    assert "• The soil is chalky." in window.context.texts()
    assert "• Sow in May." in window.context.texts()
    assert "• The soil is acid." not in window.context.texts()
    window.composer.send("And now?")
    asked = json.dumps(server.bodies[-1]["messages"])
    assert "The soil is chalky." in asked
    assert "Beans in May." in asked


def test_discarded_changes_leave_the_memory_as_it_was(window) -> None:
    edit_facts(window, "Nonsense")
    window.context.press("Discard changes")
    assert "• The soil is acid." in window.context.texts()
    assert "• Nonsense" not in window.context.texts()


def test_esc_closes_the_fields_only_if_nothing_was_changed(window, qtbot) -> None:
    window.activate(1440, 900, qtbot)
    window.context.press("Edit the memory")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert "• The soil is acid." in window.context.texts()
    assert button_named(window.context.view, "Edit the memory").hasFocus()
    window.context.press("Edit the memory")
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    qtbot.keyClicks(field, "Sow")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.isVisible()
    assert "Sow" in field.text()


def test_a_memory_that_is_too_long_is_refused_and_what_was_typed_stays(window) -> None:
    edit_facts(window, "x" * 8_001)
    window.context.press("Save the memory")
    assert any("8,000 are allowed" in toast for toast in window.toasts())
    facts = named(window.context.view, QPlainTextEdit, "Facts, one a line")
    assert len(facts.toPlainText()) == 8_001


def test_another_chat_has_a_memory_of_its_own(window) -> None:
    edit_facts(window, "Nonsense")
    window.chat.new()
    assert window.context.view.memory.fields is None
    assert "• The soil is acid." not in window.context.texts()
