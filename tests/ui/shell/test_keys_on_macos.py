"""Shortcuts on macOS: they are written as there, and leave the keys of the system alone.

Qt writes shortcuts as on the system that it was built for. A double writes them as on macOS.
"""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.settings_dialog import open_settings
from tests.support.window.shell_window import Make, fill
from ui.actions import COMMANDS, Keymap, show_keys, show_modifier, word_keys
from ui.settings.keyboard import CommandRow, refuse_keys
from ui.shortcuts import ShortcutsDialog, list_window_commands
from ui.tasks import TaskRunner
from ui.widgets.long_list import ROW
from vault.search.related import RelatedNote

SIGNS = {"Meta+": "⌃", "Alt+": "⌥", "Shift+": "⇧", "Ctrl+": "⌘"}  # in the order of macOS
NAMES = {"Return": "↩", "Tab": "⇥", "Up": "↑", "Down": "↓", "Left": "←", "Right": "→", "Esc": "⎋"}
OF_THE_SYSTEM = ("Ctrl+Tab", "Ctrl+Shift+Tab", "Ctrl+M", "Ctrl+H", "Ctrl+Space", "Ctrl+Alt+Esc")


def write_as_on_macos(keys: QKeySequence) -> str:
    """Write a shortcut with the signs of macOS."""
    rest = keys.toString(QKeySequence.SequenceFormat.PortableText)
    held = ""
    for name, sign in SIGNS.items():
        if name in rest:
            held, rest = held + sign, rest.replace(name, "", 1)
    return held + NAMES.get(rest, rest)


@pytest.fixture(autouse=True)
def macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the window believe that it runs on macOS."""
    monkeypatch.setattr("ui.actions.SYSTEM", "macos")
    monkeypatch.setattr("ui.actions._write_native", write_as_on_macos)
    monkeypatch.setattr(Keymap, "_current", None)


def list_texts(root: QWidget) -> Iterator[str]:
    """Yield all that widgets show, or tell a screen reader."""
    for widget in (root, *root.findChildren(QWidget)):
        for name in ("text", "toolTip", "accessibleName", "placeholderText", "windowTitle"):
            found = widget.property(name)
            if isinstance(found, str):
                yield found
        for action in widget.actions():
            yield from (action.text(), action.toolTip())


def find_foreign_keys(root: QWidget) -> list[str]:
    """Return the texts that name a key by a name that no keyboard of macOS has."""
    return [text for text in list_texts(root) if "Ctrl" in text or "Meta" in text]


def test_the_window_and_its_lists_of_keys_write_them_as_on_macos(make: Make, qtbot: QtBot) -> None:
    window = make(1400)
    fill(window)
    dialog = ShortcutsDialog(window)
    qtbot.addWidget(dialog)
    QApplication.processEvents()
    assert "⌘N" in " ".join(list_texts(dialog))
    assert find_foreign_keys(window) == []
    assert find_foreign_keys(dialog) == []
    assert not [choice.beside for choice in list_window_commands() if "Ctrl" in choice.beside]
    related = window.column.related
    related.show_notes("A.md", [RelatedNote("B.md", "B", 0.5, is_linked=False)], can_link=True)
    row = related.list.model().index(0, 0).data(ROW)
    assert row.act[1].endswith("(⌘↩)")


def test_the_settings_write_keys_as_on_macos(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    with open_settings(assistant, runner, qtbot) as dialog:
        for page in ("Keyboard", "Appearance"):
            dialog.show_page(page)
            QApplication.processEvents()
        assert "With ⌘↩, Enter starts a new line." in " ".join(list_texts(dialog))
        assert find_foreign_keys(dialog) == []
        rows = {row.field.accessibleName(): row for row in dialog.findChildren(CommandRow)}
        row = rows["Choose the mode: ⌃M"]
        row.field.recorded.emit("Ctrl+Shift+J")
        assert row.field.text() == "⇧⌘J"
        row.restore()
        assert row.field.text() == "⌃M"


def test_no_default_key_is_one_of_the_system() -> None:
    keys = [key for command in COMMANDS for key in command.default_keys]
    assert not set(keys) & set(OF_THE_SYSTEM)
    assert len(keys) == len(set(keys))
    assert Keymap.current().describe("next_chat").startswith("⌘")
    assert Keymap.current().describe_all("next_chat").endswith("⌃⇥")


def test_keys_in_texts_are_written_as_on_macos() -> None:
    assert word_keys("Press Ctrl+Enter or Ctrl+Shift+;, not Alt.") == "Press ⌘↩ or ⇧⌘;, not Alt."
    assert word_keys("C++ and Shift+F6") == "C++ and ⇧F6"
    assert show_keys("Ctrl+,") == "⌘,"
    assert show_modifier("Alt") == "⌥"
    assert refuse_keys("Shift+N").endswith("Hold ⌘ or ⌥ as well.")
