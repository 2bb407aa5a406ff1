"""What the palette of the window offers: commands in a useful order, and settings."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.window.window_pages import WindowPage, open_window
from ui.shortcuts import list_window_commands
from ui.tasks import TaskRunner


@pytest.fixture
def window(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    return open_window(assistant, runner, qtbot, mode="chat")


def offered(window: WindowPage, typed: str = "") -> list[str]:
    window.press_keys("Ctrl+K")
    window.palette.view.field.setText(typed)
    found = [match.choice.text for match in window.palette.view.view.matches]
    window.palette.view.dismiss()
    return found


def test_useful_commands_are_listed_before_anything_is_typed(window: WindowPage) -> None:
    first = offered(window)[:8]
    assert {"New chat", "Compact this chat", "Settings", "Open a note"} <= set(first)


def test_a_command_that_was_used_comes_first(window: WindowPage) -> None:
    window.palette.choose("normal size", "Text at its normal size")
    assert offered(window)[0] == "Text at its normal size"


def test_compact_is_found_and_done(window: WindowPage) -> None:
    assert offered(window, "compact")[0] == "Compact this chat"
    window.palette.choose("compact", "Compact this chat")
    assert window.toasts() == ["Nothing has been asked in this chat yet."]


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("font", "Larger text"),
        ("zoom out", "Smaller text"),
        ("summary", "Compact this chat"),
        ("preferences", "Settings"),
        ("regenerate", "Answer again"),
    ],
)
def test_a_command_is_found_by_another_word(window: WindowPage, typed: str, command: str) -> None:
    assert command in offered(window, typed)[:2]


def test_a_setting_is_found_by_its_words_and_opened(window: WindowPage) -> None:
    window.palette.choose("steps", "Setting: Steps")
    assert window.settings.page == "Agent"
    dialog = window.settings.view
    assert dialog.focusWidget() is dialog.find_row("agent.maxSteps").control


def test_no_command_has_the_key_of_another_system_as_its_icon() -> None:
    assert {choice.icon for choice in list_window_commands()} == {"terminal-window"}


def test_a_note_is_not_said_to_be_missing_before_the_notes_are_listed(
    assistant: Assistant, small_vault: Path, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault)
    list(assistant.index(CancelToken()))
    gate, runner, list_all = threading.Event(), TaskRunner(), assistant.notes

    def wait_and_list() -> object:
        assert gate.wait(30)
        return list_all()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(assistant, "notes", wait_and_list)
        window = open_window(assistant, runner, qtbot, mode="chat")
        window.activate(1280, 800, qtbot)
        palette = window.palette.view
        window.run("open_note")
        palette.field.setText("Watering")

        def said() -> list[str]:
            return [label.text() for label in palette.findChildren(QLabel) if label.isVisible()]

        assert said() == ["Loading notes…"]
        gate.set()
        qtbot.waitUntil(lambda: [one.choice.text for one in palette.view.matches] == ["Watering"])
        palette.field.setText("zzz")
        assert said() == ["Nothing found for “zzz”. Try fewer words."]
        palette.dismiss()
    window.close()
    runner.close()
