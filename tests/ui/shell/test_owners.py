"""Menus and dialogs have one owner: they come and go without piling up or running loops inside."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QThread
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.syntax_trees import list_nodes, read_package
from tests.support.window.shell_window import Make
from ui.shortcuts import ShortcutsDialog
from ui.window import MainWindow

# A handler that runs an event loop goes on when anything may have been deleted meanwhile.
LOOPS = {"exec", "exec_", "processEvents", "QEventLoop", "waitForFinished"}
ALLOWED = {
    ("main.py", "exec"): 1,  # the loop of the application itself
    ("widgets/drags.py", "exec"): 1,  # a drag, which Qt can only run so
    # The chooser of folders, of which Qt's own function runs a loop too.
    ("widgets/dialogs.py", "exec"): 1,
}
TIMES = 4


def test_no_handler_runs_an_event_loop_of_its_own() -> None:
    found: dict[tuple[str, str], int] = {}
    for path, tree in read_package("ui").items():
        for node in list_nodes(tree):
            name = getattr(node, "attr", getattr(node, "id", "")) if node is not None else ""
            if isinstance(node, ast.Attribute | ast.Name) and name in LOOPS:
                place = path, name
                found[place] = found.get(place, 0) + 1
    assert found == ALLOWED


@pytest.fixture
def window(make: Make, assistant: Assistant, small_vault: Path, qtbot: QtBot) -> MainWindow:
    """A window with an answered question, in front."""
    assistant.open_vault(small_vault, remember=False)
    window = make()
    window.composer.submitted.emit("How much does the barrel hold?")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def front() -> QMenu | QDialog | None:
    top = QApplication.activePopupWidget() or QApplication.activeModalWidget()
    return top if isinstance(top, QMenu | QDialog) else None


def close(qtbot: QtBot) -> None:
    """Close what is in front with the Escape key, as a user does."""
    while (top := front()) is not None:
        QTest.keyClick(top.windowHandle(), Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda top=top: front() is not top)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def list_tops(window: MainWindow) -> list[str]:
    found = [*window.findChildren(QDialog), *window.findChildren(QMenu)]
    return sorted(type(one).__name__ for one in found)


@pytest.mark.parametrize(
    "command", ["shortcuts", "compare", "save_note", "settings", "show_request"]
)
def test_a_dialog_that_is_opened_again_does_not_pile_up(
    window: MainWindow, qtbot: QtBot, command: str
) -> None:
    level = QThread.currentThread().loopLevel()
    counted = []
    for _ in range(TIMES):
        window.run_command(command)  # returns at once: no loop is run inside
        assert QThread.currentThread().loopLevel() == level
        dialogs = [one for one in window.findChildren(QDialog) if one.isVisible()]
        assert dialogs, counted
        for dialog in dialogs:
            dialog.close()  # as the button in its frame does
        close(qtbot)
        assert not [one for one in window.findChildren(QDialog) if one.isVisible()]
        counted.append(list_tops(window))
    assert counted[1:] == counted[:1] * (TIMES - 1)


def test_the_list_of_shortcuts_is_gone_once_it_is_closed(window: MainWindow, qtbot: QtBot) -> None:
    window.run_command("shortcuts")
    (dialog,) = window.findChildren(ShortcutsDialog)
    qtbot.waitUntil(dialog.isVisible)
    close(qtbot)
    assert window.findChildren(ShortcutsDialog) == []


def test_context_menus_are_gone_once_they_are_closed(window: MainWindow, qtbot: QtBot) -> None:
    before = list_tops(window)
    views = [window.sidebar.notes, window.sidebar.chats, window.column.sources.list]
    opened = 0
    for _ in range(TIMES):
        for view in views:
            index = view.model().index(view.model().rowCount() - 1, 0)
            spot = view.visualRect(index).center() if index.isValid() else QPoint(5, 5)
            place = view.viewport().mapTo(window, spot)
            QTest.mouseClick(window.windowHandle(), Qt.MouseButton.RightButton, pos=place)
            opened += isinstance(front(), QMenu)
            close(qtbot)
    assert opened >= TIMES
    assert list_tops(window) == before
