"""The menu of the open vault's name, which opens the vaults of before."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.window.clicks import click_item, open_menu
from tests.support.window.window_pages import WindowPage, open_window
from ui.state import load_state
from ui.tasks import TaskRunner


@pytest.fixture
def window(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 900, qtbot)
    return window


def list_items(window: WindowPage) -> list[str]:
    """Return the items of the menu that a click opens."""
    QTest.mouseClick(window.view.sidebar.switcher, Qt.MouseButton.LeftButton)
    menu = open_menu()
    items = [action.text() for action in menu.actions() if action.text()]
    menu.close()
    return items


def test_a_vault_of_before_is_opened_again(window: WindowPage, tmp_path: Path) -> None:
    first, second = tmp_path / "one" / "Garden", tmp_path / "R&D"
    for folder in (first, second):
        write_notes(folder)
        window.view.open_folder(folder)
    recent, *rest = list_items(window)
    assert recent.startswith("Garden\t")
    assert rest[:2] == ["Choose a folder…", "Open the sample notes"]
    QTest.mouseClick(window.view.sidebar.switcher, Qt.MouseButton.LeftButton)
    click_item(open_menu(), recent)
    assert window.assistant.vault == first
    assert list_items(window)[0].startswith("R&&D\t")


def test_the_vaults_of_before_are_kept_without_the_sample_notes(
    window: WindowPage, tmp_path: Path
) -> None:
    write_notes(tmp_path / "Garden")
    window.view.open_folder(tmp_path / "Garden")
    window.view.open_samples()
    assert list_items(window)[0].startswith("Garden\t")
    window.close()
    state = load_state(window.assistant.paths.state / "window.json")
    assert str(tmp_path / "Garden") in state.recent_folders


def test_a_vault_is_kept_while_the_window_is_resized_without_a_pause(
    window: WindowPage, tmp_path: Path, qtbot: QtBot
) -> None:
    write_notes(tmp_path / "Garden")
    window.view.open_folder(tmp_path / "Garden")
    file = window.assistant.paths.state / "window.json"

    def resize_until_kept() -> bool:
        window.view.resize(window.view.width() ^ 1, window.view.height())
        return str(tmp_path / "Garden") in load_state(file).recent_folders

    qtbot.waitUntil(resize_until_kept)


def test_without_a_vault_there_is_nothing_to_read_again(window: WindowPage) -> None:
    QTest.mouseClick(window.view.sidebar.switcher, Qt.MouseButton.LeftButton)
    menu = open_menu()
    enabled = {action.text(): action.isEnabled() for action in menu.actions() if action.text()}
    menu.close()
    assert enabled == {
        "Choose a folder…": True,
        "Open the sample notes": True,
        "Read the notes again": False,
        "Look after your notes": False,
        "Judge every note…": False,
    }


def test_another_folder_is_chosen_beside_the_open_one_and_never_inside_the_program(
    window: WindowPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Path] = []

    def choose(_parent: object, _title: str, start: str) -> str:
        begun.append(Path(start))
        return ""

    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", choose)
    window.view.open_samples()
    window.run("choose_folder")
    write_notes(tmp_path / "Garden")
    window.view.open_folder(tmp_path / "Garden")
    window.run("choose_folder")
    assert begun == [Path.home(), tmp_path]
