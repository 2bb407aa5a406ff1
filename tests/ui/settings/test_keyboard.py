"""Keys of commands: recorded by real keys, taken from others, removed, reset, and stored."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window import widgets
from tests.support.window.clicks import (
    LEFT,
    NONE,
    button_named,
    click_button,
    click_item,
    open_menu,
)
from tests.support.window.settings_dialog import open_settings
from ui.actions import COMMANDS, Keymap
from ui.settings.dialog import SettingsDialog
from ui.settings.keyboard import CommandRow, KeyField, refuse_keys
from ui.tasks import TaskRunner

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        dialog.show_page("Keyboard")
        QApplication.processEvents()
        yield dialog


def row_for(dialog: SettingsDialog, words: str) -> CommandRow:
    """Return the visible row of a command, scrolled to."""
    rows = [row for row in dialog.findChildren(CommandRow) if row.isVisible()]
    (found,) = (row for row in rows if words in texts_of(row))
    dialog.stack.scroll_to("Keyboard", found)
    QApplication.processEvents()
    return found


def texts_of(row: CommandRow) -> list[str]:
    return [label.text() for label in row.findChildren(QLabel) if label.isVisibleTo(row)]


def take(dialog: SettingsDialog, words: str) -> None:
    """Click "Use it here" in the row of a command."""
    click_button(row_for(dialog, words), "Use it here")


def press(
    field: KeyField, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Click the keys of a command, and press another key."""
    QTest.mouseClick(field, LEFT)
    assert field.text() == "Press a key…"
    QTest.keyClick(field, key, held)


def test_a_key_is_recorded_stored_and_in_force(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    row = row_for(dialog, "New chat")
    assert row.field.text() == "Ctrl+N"
    press(row.field, Qt.Key.Key_J, CTRL | SHIFT)
    assert row.field.text() == "Ctrl+Shift+J"
    assert assistant.settings.get("ui.keys") == {"new_chat": ["Ctrl+Shift+J"]}
    assert Keymap.current().list_keys("new_chat") == ("Ctrl+Shift+J",)
    QTest.mouseClick(row.reset, LEFT)
    assert row.field.text() == "Ctrl+N"
    assert assistant.settings.get("ui.keys") == {}
    assert not row.reset.isVisible()


def test_a_key_of_another_command_is_told_and_taken_only_when_asked(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    row, other = row_for(dialog, "Settings"), row_for(dialog, "New chat")
    press(row.field, Qt.Key.Key_N, CTRL)
    assert "Ctrl+N is the key of “New chat”." in texts_of(row)
    assert (row.field.text(), other.field.text()) == ("Ctrl+,", "Ctrl+N")
    take(dialog, "Settings")
    assert (row.field.text(), other.field.text()) == ("Ctrl+N", "No key")
    press(other.field, Qt.Key.Key_J, CTRL)
    press(row.field, Qt.Key.Key_J, CTRL)
    take(dialog, "Settings")
    assert (row.field.text(), other.field.text()) == ("Ctrl+J", "No key")
    QTest.mouseClick(other.reset, LEFT)
    assert other.field.text() == "Ctrl+N"
    press(row.field, Qt.Key.Key_N, CTRL)
    take(dialog, "Settings")
    QTest.mouseClick(other.reset, LEFT)
    assert (row.field.text(), other.field.text()) == ("No key", "Ctrl+N")
    assert assistant.settings.get("ui.keys") == {"settings": []}


def test_escape_tab_and_a_click_elsewhere_change_nothing(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    row = row_for(dialog, "New chat")
    press(row.field, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert row.field.text() == "Ctrl+N"
    QTest.mouseClick(row.field, LEFT)
    QTest.mouseClick(row_for(dialog, "Search all chats").field, LEFT)
    assert row.field.text() == "Ctrl+N"
    assert assistant.settings.get("ui.keys") == {}


def test_the_menu_adds_a_key_and_removes_all(dialog: SettingsDialog) -> None:
    row = row_for(dialog, "New chat")

    def choose(item: str) -> None:
        spot = row.field.mapTo(dialog, row.field.rect().center())
        QTest.mouseClick(dialog.windowHandle(), Qt.MouseButton.RightButton, NONE, spot)
        click_item(open_menu(), item)

    choose("Add another key")
    QTest.keyClick(row.field, Qt.Key.Key_F9)
    assert row.field.text() == "Ctrl+N or F9"
    choose("Add another key")
    QTest.keyClick(row.field, Qt.Key.Key_Escape)
    press(row.field, Qt.Key.Key_F8)
    assert row.field.text() == "F8"
    choose("Remove the keys")
    assert row.field.text() == "No key"
    choose("Reset the keys")
    assert row.field.text() == "Ctrl+N"
    with pytest.raises(LookupError):
        open_menu()


def test_backspace_removes_the_keys_by_the_keyboard_alone(dialog: SettingsDialog) -> None:
    row = row_for(dialog, "New chat")
    row.field.setFocus()
    QTest.keyClick(row.field, Qt.Key.Key_Return)
    QTest.keyClick(row.field, Qt.Key.Key_Backspace)
    assert row.field.text() == "No key"


def test_all_keys_are_reset_at_once(dialog: SettingsDialog, assistant: Assistant) -> None:
    reset = button_named(dialog, "Reset all keys")
    assert not reset.isEnabled()
    for words, key in (("New chat", Qt.Key.Key_J), ("Settings", Qt.Key.Key_Y)):
        press(row_for(dialog, words).field, key, CTRL | ALT)
    dialog.show_page("ui.keys")
    click_button(dialog, "Reset all keys")
    assert assistant.settings.get("ui.keys") == {}
    assert row_for(dialog, "New chat").field.text() == "Ctrl+N"
    assert row_for(dialog, "Settings").field.text() == "Ctrl+,"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("A", "A is needed for typing. Hold Ctrl or Alt as well."),
        ("Shift+Down", "Shift+Down is needed for typing. Hold Ctrl or Alt as well."),
        ("Ctrl+C", "Ctrl+C edits text, so no command can have it."),
        ("Ctrl+Return", "Ctrl+Return belongs to the message box. See “Send key”."),
        ("F7", ""),
        ("Ctrl++", ""),
        ("Alt+Return", ""),
    ],
)
def test_keys_that_are_needed_for_text_are_refused(keys: str, sentence: str) -> None:
    assert refuse_keys(keys) == sentence


def test_no_default_key_would_be_refused() -> None:
    refused = [refuse_keys(key, one.name) for one in COMMANDS for key in one.keys]
    assert list(filter(None, refused)) == []


def test_only_the_undo_of_the_window_shares_the_keys_that_undo_text() -> None:
    assert refuse_keys("Ctrl+Z", "undo") == ""
    sentence = "{} edits text, so no command can have it."
    assert refuse_keys("Ctrl+Z", "new_chat") == sentence.format("Ctrl+Z")
    assert refuse_keys("Ctrl+C", "undo") == sentence.format("Ctrl+C")


def test_a_refused_key_is_told_below_its_row(dialog: SettingsDialog) -> None:
    row = row_for(dialog, "New chat")
    press(row.field, Qt.Key.Key_A)
    assert "A is needed for typing. Hold Ctrl or Alt as well." in texts_of(row)
    assert row.field.text() == "Ctrl+N"
    QApplication.processEvents()
    assert widgets.find_faults(dialog) == []
    assert widgets.overlapping_siblings(dialog) == []


def test_the_search_finds_a_command_by_its_name_and_by_its_key(dialog: SettingsDialog) -> None:
    for typed in ("to the message box", "ctrl+l"):
        dialog.search.clear()
        QTest.keyClicks(dialog.search, typed)
        shown = [row for row in dialog.findChildren(CommandRow) if row.isVisible()]
        assert "Go to the message box" in texts_of(shown[0])
        assert len(shown) < len(COMMANDS) / 2


def test_keys_chosen_in_the_file_win_over_defaults_and_no_key_has_two_commands() -> None:
    keymap = Keymap.current()
    keymap.apply(
        {"find": ["Ctrl+N"], "saw": ["Ctrl+N", "nonsense+", "F8"], "gone": ["F9"]}, "Enter"
    )
    assert keymap.list_keys("new_chat") == ()
    assert keymap.list_keys("find") == ("Ctrl+N",)
    assert keymap.list_keys("saw") == ("F8",)
    keymap.apply({}, "Enter")
    assert keymap.list_keys("new_chat") == ("Ctrl+N",)
