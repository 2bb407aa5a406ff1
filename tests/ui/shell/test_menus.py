"""Menus that are opened by key, and the header where no chat can be shown."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from app.wiring import build
from tests.conftest import write_notes
from tests.support.window.clicks import button_named, click_button, open_menu
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.embedder import Embedder


@pytest.fixture
def window(assistant: Assistant, runner: TaskRunner, qtbot: QtBot, tmp_path: Path) -> WindowPage:
    write_notes(tmp_path / "vault")
    assistant.open_vault(tmp_path / "vault")
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 900, qtbot)
    return window


def press_space_on(window: WindowPage, name: str) -> QMenu:
    """Focus a button, press the space bar, and return the menu that opens."""
    button = button_named(window.view, name)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Space)
    return open_menu()


@pytest.mark.parametrize(
    "name", ["Actions of this chat", "Chat: New chat", "Folder of notes: vault"]
)
def test_a_menu_that_is_opened_by_key_starts_at_its_first_item(
    window: WindowPage, name: str
) -> None:
    menu = press_space_on(window, name)
    first = next(item for item in menu.actions() if item.isEnabled() and item.text())
    assert menu.activeAction() is first
    menu.close()


def test_a_menu_that_is_opened_with_the_mouse_starts_at_no_item(window: WindowPage) -> None:
    button = button_named(window.view, "Actions of this chat")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert open_menu().activeAction() is None
    open_menu().close()


def test_a_menu_of_choices_starts_at_the_current_one(window: WindowPage, qtbot: QtBot) -> None:
    window.composer.choose_mode("agent")
    seen: list[str] = []

    def look() -> None:
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu) and (item := menu.activeAction()) is not None:
            seen.append(str(item.data()))
            menu.close()

    timer = QTimer(window.view, interval=10)
    timer.timeout.connect(look)
    timer.start()
    window.run("choose_mode")
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["agent"]


def test_the_welcome_page_has_no_buttons_about_a_chat(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window(assistant, runner, qtbot)
    window.view.middle.show_chat(False)
    middle = window.view.middle
    for name in ("Find in this chat", "Actions of this chat", "Chat: New chat"):
        with pytest.raises(LookupError):
            button_named(middle, name)
    write_notes(tmp_path / "vault")
    window.view.open_folder(tmp_path / "vault")
    assert button_named(middle, "Find in this chat").isEnabled()


def test_no_sources_are_shown_until_their_folder_can_be_reached(
    assistant: Assistant,
    embedder: Embedder,
    runner: TaskRunner,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    folder, elsewhere = tmp_path / "vault", tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "Rain.md").write_text("The rain barrel holds 210 litres of water.")
    assistant.open_vault(folder)
    window = open_window(assistant, runner, qtbot)
    window.composer.send("How much does the rain barrel hold?")
    assert [row.path for row in window.view.column.sources.rows()] == ["Rain.md"]
    window.close()
    assistant.close()
    folder.rename(elsewhere)
    later = build(assistant.paths, embedder=embedder)
    view = MainWindow(StartupInfo(later.paths.state, later.vault), runner)
    view.attach(later)
    qtbot.addWidget(view, before_close_func=lambda view: view.close())
    view.show()
    view.begin()
    assert view.column.sources.rows() == []
    elsewhere.rename(folder)
    click_button(view.middle, "Look again")
    assert [row.path for row in view.column.sources.rows()] == ["Rain.md"]
    view.close()
    later.close()
