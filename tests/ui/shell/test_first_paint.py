"""What the window creates before its first paint, and what it adds after it."""

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDockWidget, QWidget
from pytestqt.qtbot import QtBot

from app.startup import StartupInfo
from ui.tasks import TaskRunner
from ui.window import MainWindow

MOST_WIDGETS = 180  # 175 when this was written, after 340


@pytest.fixture
def look(tmp_path: Path) -> StartupInfo:
    return StartupInfo(tmp_path / "state", tmp_path)


def show(look: StartupInfo, runner: TaskRunner, qtbot: QtBot) -> MainWindow:
    window = MainWindow(look, runner)
    window.resize(1440, 900)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    with qtbot.waitSignal(window.first_painted):
        window.show()
    return window


def test_the_first_paint_waits_for_few_widgets(
    look: StartupInfo, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = show(look, runner, qtbot)
    assert len(window.findChildren(QWidget)) <= MOST_WIDGETS


def test_the_right_column_is_filled_once_and_keeps_its_width(
    look: StartupInfo, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = show(look, runner, qtbot)
    places = [column.geometry() for column in (window.sidebar, window.middle, window.column)]
    window.fill_column()
    filled = window.column.context
    window.fill_column()
    qtbot.waitUntil(filled.isVisible)
    assert window.column.context is filled
    assert len(window.column.findChildren(QDockWidget)) == 6
    shown = [column.geometry() for column in (window.sidebar, window.middle, window.column)]
    assert shown == places


def test_a_window_that_is_closed_early_keeps_the_places_of_the_docks(
    look: StartupInfo, runner: TaskRunner, qtbot: QtBot
) -> None:
    whole = show(look, runner, qtbot)
    whole.fill_column()
    whole.column.related_dock.show()
    whole.close()
    saved = json.loads(whole.places.file.read_text("utf-8"))
    early = show(look, TaskRunner(), qtbot)
    early.close()
    again = json.loads(early.places.file.read_text("utf-8"))
    assert saved["docks"]
    assert (again["docks"], again["shares"]) == (saved["docks"], saved["shares"])
