"""Names, tab stops, regions and keys of the window."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.sessions.session_info import SessionInfo
from tests.support.window import widgets
from tests.support.window.clicks import click_button
from tests.support.window.shell_window import Make, fill
from ui.actions import COMMANDS
from ui.shortcuts import ShortcutsDialog
from ui.widgets.find_bar import FindBar


def test_everything_that_takes_the_focus_has_a_name(make: Make) -> None:
    window = make()
    assert widgets.unnamed(window) == []
    fill(window)
    assert widgets.unnamed(window) == []


def test_tab_visits_every_stop_once_and_returns(make: Make, qtbot: QtBot) -> None:
    window = make()
    fill(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.setFocus()
    first = QApplication.focusWidget()
    seen = [first]
    while True:
        window.focusNextChild()
        now = QApplication.focusWidget()
        if now is first:
            break
        assert now not in seen
        seen.append(now)
        assert len(seen) < 60
    assert len(seen) > 8


def test_search_stands_below_new_chat_with_its_key_and_in_the_rail(make: Make) -> None:
    window = make(1280)
    at = "2026-05-14T14:03:00+00:00"
    window.sidebar.show_chats([SessionInfo("s", "Chat", at, at, None, None, 2)], None)
    QApplication.processEvents()
    field, new = window.sidebar.chat_search, window.sidebar.new_chat
    assert field.isVisible()
    assert widgets.left_in(window, field) == widgets.left_in(window, new)
    assert 0 < widgets.rect_in(window, field).top() - widgets.bottom_in(window, new) <= 8
    keys = field.grab(QRect(field.width() - 80, 0, 80, field.height())).toImage()
    field.setText("words")
    assert keys != field.grab(QRect(field.width() - 80, 0, 80, field.height())).toImage()


def test_the_header_of_a_chat_finds_in_it(make: Make) -> None:
    window = make(1280)
    window.middle.show_chat(True)
    click_button(window.middle, "Find in this chat")
    (bar,) = (bar for bar in window.findChildren(FindBar) if bar.isVisible())
    assert bar.field.hasFocus()


def test_no_two_commands_share_a_key() -> None:
    keys = [key for command in COMMANDS for key in command.keys]
    assert len(keys) == len(set(keys))


def test_every_command_with_a_key_is_in_the_list(make: Make, qtbot: QtBot) -> None:
    dialog = ShortcutsDialog(make())
    qtbot.addWidget(dialog)
    texts = {label.text() for label in dialog.findChildren(QLabel)}
    assert {command.words for command in COMMANDS if command.keys} <= texts


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_list_of_shortcuts_cuts_nothing_and_fits_the_window(
    make: Make, qtbot: QtBot, scale: float
) -> None:
    window = make(900, 700)
    window.set_scale(scale)
    dialog = ShortcutsDialog(window)
    qtbot.addWidget(dialog)
    dialog.show()
    QApplication.processEvents()
    assert widgets.find_faults(dialog) == []
    assert widgets.unnamed(dialog) == []
    assert dialog.height() <= window.height()


def test_f6_walks_the_regions(make: Make, qtbot: QtBot) -> None:
    window = make()
    fill(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.setFocus()
    regions = []
    for _ in range(4):
        window.run_command("next_region")
        focus = QApplication.focusWidget()
        parts = (window.composer, window.transcript, window.column, window.sidebar)
        regions += [part for part in parts if part is focus or part.isAncestorOf(focus)]
    assert len(set(regions)) >= 3
