"""The names of the notes: shown before the vault is open, and before its index has been read."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library.images import list_attachable_images
from app.startup import StartupInfo
from tests.support.window.clicks import click_row
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import open_window
from ui.panels.notes.folders import Folders
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.access import list_names

# After 100 s, which no busy machine needs, the program says where each thread stands, and ends.
START = """
import faulthandler
import sys
import threading
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.paths import Paths
from app.startup import Startup
from ui.main import run
from ui.window import MainWindow
are_shown, opening = threading.Event(), Startup(Paths.find(), folder=sys.argv[1])
open_vault = opening.open
def open_late():
    print("before the vault is open:", are_shown.wait(30))
    return open_vault()
opening.open = open_late
app = QApplication(sys.argv)
def look():
    for window in (w for w in app.topLevelWidgets() if isinstance(w, MainWindow)):
        window.resize(1280, 800)
        if window.sidebar.notes.isVisible() and window.sidebar.notes.model().rowCount():
            are_shown.set()
        if hasattr(window, "controllers"):
            window.close()
timer = QTimer(interval=20)
timer.timeout.connect(look)
timer.start()
faulthandler.dump_traceback_later(100, exit=True)
code = run(opening)
opening.close()
sys.exit(code)
"""


def test_names_are_shown_before_the_rest_of_the_program_is_loaded(
    tmp_path: Path, small_vault: Path
) -> None:
    env = {**os.environ, "STRATA_HOME": str(tmp_path / "home"), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", START, str(small_vault)]
    done = subprocess.run(command, env=env, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "before the vault is open: True\n"


def test_a_note_that_is_clicked_before_the_vault_is_open_is_opened_after_that(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.resize(1280, 800)
    window.show()
    window.show_names(Folders(list_names(small_vault), list_attachable_images(small_vault, ())))
    click_row(window.sidebar.notes, "Watering.md")
    window.attach(assistant)
    window.begin()
    assert NotePage(window).path == "Watering.md"


def test_names_of_a_folder_that_cannot_be_opened_are_taken_away(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = MainWindow(StartupInfo(assistant.paths.state, small_vault), runner)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.show()
    window.show_names(Folders(list_names(small_vault)))
    window.attach(assistant)
    window.begin()
    assert window.sidebar.notes.model().rowCount() == 0


def test_the_names_of_another_folder_are_shown_before_its_index_is_read(
    assistant: Assistant,
    small_vault: Path,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Elsewhere.md").write_text("# Elsewhere\n", "utf-8")
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, None, qtbot)
    tree, list_notes, may_list = window.view.sidebar.notes, assistant.notes, threading.Event()
    qtbot.waitUntil(lambda: tree.model().find("Watering.md").isValid())

    def list_late() -> object:
        assert may_list.wait(60)
        return list_notes()

    monkeypatch.setattr(assistant, "notes", list_late)
    window.view.open_folder(tmp_path / "other")
    qtbot.waitUntil(lambda: tree.model().find("Elsewhere.md").isValid())
    assert not tree.model().find("Watering.md").isValid()
    assert window.view.controllers.notes.listing.notes == ()
    may_list.set()
    qtbot.waitUntil(lambda: bool(window.view.controllers.notes.listing.notes))
