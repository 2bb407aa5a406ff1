"""Folders and notes that the desktop asks to open: by a file manager, or by an event on macOS."""

import configparser
import tomllib
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.instance import Application
from ui.tasks import TaskRunner

ROOT = Path(__file__).parents[3]


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot, small_vault: Path) -> WindowPage:
    scripted.open_vault(small_vault)
    return open_window(scripted, runner, qtbot, mode="chat")


def test_a_note_of_the_open_vault_is_shown(window: WindowPage, small_vault: Path) -> None:
    window.view.open_path(small_vault / "garden" / "Tomatoes.md")
    settle()
    assert window.view.note.path == "garden/Tomatoes.md"


def test_a_note_of_another_vault_is_shown_in_that_vault(window: WindowPage, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    (other / "deep").mkdir()
    (other / "deep" / "One.md").write_text("# One")
    window.view.open_path(other / "deep" / "One.md")
    settle()
    assert (window.assistant.vault, window.view.note.path) == (other, "deep/One.md")


def test_a_note_of_no_vault_is_shown_and_its_folder_is_not_read(
    window: WindowPage, tmp_path: Path, small_vault: Path
) -> None:
    single = tmp_path / "Downloads" / "READ ME.md"
    single.parent.mkdir()
    single.write_text("# Read me")
    window.view.open_path(single)
    settle()
    assert (window.assistant.vault, window.view.note.path) == (small_vault, str(single))


def test_a_folder_is_opened_as_the_vault(window: WindowPage, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir(exist_ok=True)
    window.view.open_path(tmp_path / "notes")
    settle()
    assert window.assistant.vault == tmp_path / "notes"


def test_macos_tells_by_an_event_which_file_to_open(qapp: QApplication, qtbot: QtBot) -> None:
    assert isinstance(qapp, Application)
    with qtbot.waitSignal(qapp.file_opened) as opened:
        QApplication.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile("/Users/ada/My notes")))
    assert opened.args == ["/Users/ada/My notes"]


def test_the_menu_entry_opens_folders_and_notes_by_a_program_that_is_installed() -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((ROOT / "resources" / "desktop" / "strata.desktop").read_text("utf-8"))
    entry = parser["Desktop Entry"]
    assert entry["MimeType"] == "inode/directory;text/markdown;"
    program, argument = entry["Exec"].split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (program in project["gui-scripts"], argument) == (True, "%f")
