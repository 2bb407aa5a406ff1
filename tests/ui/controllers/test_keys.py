"""Changed keys in the window: in force, and named wherever keys are named."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.paths import Paths
from app.startup import Startup
from tests.support.window.clicks import button_named
from tests.support.window.window_pages import WindowPage, open_window
from ui.settings.keyboard import CommandRow
from ui.shortcuts import ShortcutsDialog, list_window_commands
from ui.tasks import TaskRunner

SETTINGS_KEYS = "Ctrl+Alt+S"


@pytest.fixture
def page(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    page = open_window(assistant, runner, qtbot)
    activate(page)
    return page


def activate(page: WindowPage) -> None:
    """Make the window the active one, as it is after a click on it."""
    page.view.activateWindow()
    QTest.qWaitForWindowActive(page.view)


def record(page: WindowPage, words: str, key: Qt.Key, held: Qt.KeyboardModifier) -> None:
    """Give a command another key on the page "Keyboard" of the settings, and close them."""
    page.run("settings")
    page.settings.open_page("Keyboard")
    QApplication.processEvents()
    dialog = page.settings.view
    (row,) = (
        row
        for row in dialog.findChildren(CommandRow)
        if words in {label.text() for label in row.findChildren(QLabel)}
    )
    QTest.mouseClick(row.field, Qt.MouseButton.LeftButton)
    QTest.keyClick(row.field, key, held)
    dialog.close()
    activate(page)


CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def test_the_new_key_works_and_the_old_one_does_not(page: WindowPage) -> None:
    record(page, "Settings", Qt.Key.Key_S, CTRL_ALT)
    page.press_keys("Ctrl+,")
    assert not page.settings.is_open
    page.press_keys(SETTINGS_KEYS)
    assert page.settings.is_open


def test_tooltips_the_palette_and_the_list_of_keys_follow(page: WindowPage) -> None:
    record(page, "Settings", Qt.Key.Key_S, CTRL_ALT)
    record(page, "New chat", Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier)
    assert button_named(page.view, "Settings").toolTip() == f"Settings ({SETTINGS_KEYS})"
    assert button_named(page.view, "New chat").toolTip() == "New chat (F9)"
    beside = {choice.value: choice.beside for choice in list_window_commands()}
    assert (beside["settings"], beside["new_chat"]) == (SETTINGS_KEYS, "F9")
    listed = {label.text() for label in ShortcutsDialog(page.view).findChildren(QLabel)}
    assert SETTINGS_KEYS in listed
    assert "Ctrl+," not in listed


def test_a_later_start_has_the_keys_before_the_first_paint(
    page: WindowPage, strata_home: Path
) -> None:
    record(page, "Settings", Qt.Key.Key_S, CTRL_ALT)
    look = Startup(Paths.find()).look
    assert look.keys == {"settings": [SETTINGS_KEYS]}
    assert Startup(Paths.find(), {"ui.sendKey": "Ctrl+Enter"}).look.send_key == "Ctrl+Enter"


def test_keys_that_cannot_be_read_are_left_out_at_the_start(strata_home: Path) -> None:
    file = Paths.find().settings_file
    file.parent.mkdir(parents=True)
    file.write_text('[ui]\nkeys = {find = "Ctrl+G", saw = ["F8"]}\n', "utf-8")
    assert Startup(Paths.find()).look.keys == {"saw": ["F8"]}
