"""The user's own instructions, edited in the settings."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library.user_texts import MOST_CHARS
from tests.support.window.clicks import click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner

TEXT = "Answer in British English.\nKeep\N{NO-BREAK SPACE}it short."


@pytest.fixture
def file(assistant: Assistant) -> Path:
    return assistant.paths.user_instructions


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    """The settings at the page of the prompts."""
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Prompts")
        yield dialog


def type_into(dialog: SettingsDialog, text: str) -> None:
    cursor = dialog.instructions.field.textCursor()
    cursor.select(cursor.SelectionType.Document)
    cursor.insertText(text)


def test_what_is_typed_is_saved_by_itself_and_is_in_every_request(
    dialog: SettingsDialog, file: Path, assistant: Assistant, qtbot: QtBot
) -> None:
    changed: list[str] = []
    dialog.changed.connect(changed.append)
    type_into(dialog, TEXT)
    qtbot.waitUntil(file.exists)
    assert file.read_text("utf-8") == TEXT
    assert changed == ["instructions"]
    assert dialog.instructions.state.text().startswith("Saved. ")
    context = assistant.preview(None, "hello", "chat")
    assert any(part["name"] == "user_instructions" for part in context["system_parts"])
    click_button(dialog, "Undo")
    qtbot.waitUntil(lambda: not file.exists())
    assert dialog.instructions.text == ""


def test_a_file_is_shown_and_turning_the_page_saves_and_keeps_the_way_back(
    dialog: SettingsDialog, file: Path
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT, "utf-8")
    click_row(dialog.pages, "Prompts")
    dialog.show_page("Prompts")
    assert dialog.instructions.text == TEXT
    assert not dialog.instructions.is_changed
    type_into(dialog, "Another")
    dialog.show_page("Privacy")
    assert file.read_text("utf-8") == "Another"
    dialog.show_page("Prompts")
    click_button(dialog, "Undo")
    assert dialog.instructions.text == TEXT


@pytest.mark.parametrize(
    ("choice", "kept"), [("Keep this text", "Mine"), ("Use the other text", "Theirs")]
)
def test_a_file_that_changed_meanwhile_is_not_overwritten_unasked(
    dialog: SettingsDialog, file: Path, choice: str, kept: str
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    type_into(dialog, "Mine")
    file.write_text("Theirs", "utf-8")
    dialog.instructions.save()
    assert file.read_text("utf-8") == "Theirs"
    assert "changed by another program" in dialog.instructions.state.text()
    dialog.instructions.save()
    assert file.read_text("utf-8") == "Theirs"
    click_button(dialog, choice)
    assert (file.read_text("utf-8"), dialog.instructions.text) == (kept, kept)
    assert not dialog.instructions.is_changed


def test_too_long_instructions_are_refused_in_words(dialog: SettingsDialog, file: Path) -> None:
    type_into(dialog, "x" * (MOST_CHARS + 1))
    dialog.instructions.save()
    assert not file.exists()
    assert dialog.instructions.state.text().startswith("Not saved. Instructions may have 16,000")
    assert dialog.instructions.is_changed


def test_a_file_that_cannot_be_used_is_left_alone(dialog: SettingsDialog, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x" * (MOST_CHARS + 1), "utf-8")
    dialog.show_page("Prompts")
    assert dialog.instructions.field.isReadOnly()
    assert "longer than 16,000 characters" in dialog.instructions.state.text()
