"""The columns of the window: drawers, the rail, widths, and what is remembered of them."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.support.window import widgets
from tests.support.window.clicks import click_button, press_keys
from tests.support.window.shell_window import Make
from ui.state import WindowState, load_state, save_state


def test_below_1160_the_right_column_is_closed_and_comes_back(make: Make) -> None:
    window = make(1160)
    assert window.column.isVisible()
    window.resize(1159, 900)
    assert not window.column.isVisible()
    window.resize(1160, 900)
    assert window.column.isVisible()


def test_below_960_the_sidebar_is_a_rail_and_comes_back(make: Make) -> None:
    window = make(960)
    assert window.sidebar.isVisible()
    assert not window.rail.isVisible()
    window.resize(959, 900)
    assert not window.sidebar.isVisible()
    assert window.rail.isVisible()
    window.resize(960, 900)
    assert window.sidebar.isVisible()


def test_the_rail_opens_the_search_of_chats(make: Make) -> None:
    window = make(900)
    assert not window.sidebar.isVisible()
    click_button(window.rail, "Search all chats")
    assert window.sidebar.isVisible()


def test_a_column_that_was_hidden_stays_hidden_when_there_is_room_again(make: Make) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.resize(900, 900)
    window.resize(1440, 900)
    assert not window.column.isVisible()


def test_in_a_narrow_window_the_panel_is_a_drawer_that_escape_closes(make: Make) -> None:
    window = make(900)
    window.run_command("toggle_panel")
    assert window.column.isVisible()
    assert widgets.rect_in(window, window.column).right() == 899
    assert window.middle.width() == 900 - 49
    window.run_command("stop")
    assert not window.column.isVisible()


@pytest.mark.parametrize("command", ["toggle_sidebar", "toggle_panel"])
def test_what_is_typed_after_a_drawer_goes_into_the_message(
    make: Make, qtbot: QtBot, command: str
) -> None:
    window = make(900)
    window.middle.show_chat(True)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.composer.setFocus()
    window.run_command(command)
    press_keys(window, "Esc")
    assert window.composer.input.hasFocus()


def test_a_drawer_becomes_a_column_where_there_is_room(make: Make) -> None:
    window = make(900)
    window.run_command("toggle_panel")
    window.resize(1440, 900)
    assert window.column.isVisible()
    assert not window.columns.close_drawer()
    assert widgets.overlapping_siblings(window) == []


def test_the_sidebar_drawer_closes_when_a_chat_is_chosen(make: Make) -> None:
    window = make(900)
    window.rail.open_requested.emit()
    assert window.sidebar.isVisible()
    window.sidebar.new_chat_requested.emit()
    assert not window.sidebar.isVisible()


def test_larger_text_for_a_while_leaves_the_widths_that_were_chosen(make: Make) -> None:
    window = make(1440)
    window.columns.set_widths([250, 330])
    window.columns.arrange()
    for scale in (2.0, 1.0):
        window.set_scale(scale)
        QApplication.processEvents()
    assert window.columns.widths() == [250, 330]
    assert (window.sidebar.width(), window.column.width()) == (250, 330)


def test_a_reset_while_text_is_large_gives_the_first_widths_at_every_size(make: Make) -> None:
    window = make(1440)
    window.set_scale(2.0)
    window.run_command("reset_layout")
    window.set_scale(1.0)
    QApplication.processEvents()
    assert (window.sidebar.width(), window.column.width()) == (248, 344)


def test_the_window_keeps_its_least_size(make: Make) -> None:
    window = make()
    assert (window.minimumWidth(), window.minimumHeight()) == (720, 520)
    window.resize(720, 520)
    assert (window.width(), window.height()) == (720, 520)


def test_places_are_remembered(make: Make, qtbot: QtBot) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.columns.set_widths([300, 400])
    window.run_command("larger")
    window.close()
    again = make(1440)
    assert again.places.state.font_scale == 1.1
    assert not again.columns.wants_right
    assert again.columns.widths() == [300, 400]


def test_the_layout_can_be_reset(make: Make) -> None:
    window = make(1440)
    window.run_command("toggle_panel")
    window.columns.set_widths([300, 400])
    window.run_command("reset_layout")
    assert window.column.isVisible()
    assert window.columns.widths() == [248, 344]


def test_a_damaged_memory_means_the_first_layout(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    wrong = (
        '{"columns": "x", "font_scale": 99, "sent": null, "shares": {"context": 0, "note": "x"}}'
    )
    for damage in ("{", "[]", wrong):
        path.write_text(damage)
        assert load_state(path) == WindowState()


def test_the_memory_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "window.json"
    state = WindowState(columns=[250, 350], session="abc", sent=3, open_folders=["Daily"])
    save_state(path, state)
    assert load_state(path) == state
