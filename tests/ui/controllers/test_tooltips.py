"""The tooltip of each button, in the window, in its dialogs and in the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.syntax_trees import list_nodes, read_package
from tests.support.window import widgets
from tests.support.window.settings_dialog import open_settings
from tests.support.window.shell_window import fill
from tests.support.window.window_pages import WindowPage, open_window
from ui.actions import Keymap
from ui.first_run.dialog import STEPS, FirstRunDialog
from ui.settings.project import ProjectView
from ui.shortcuts import ShortcutsDialog
from ui.tasks import TaskRunner
from ui.widgets.buttons import CANCEL, ButtonText, make_button

QUESTION = "How much does the barrel hold?"


@pytest.fixture
def window(scripted: Assistant, runner: TaskRunner, qtbot: QtBot, small_vault: Path) -> WindowPage:
    scripted.open_vault(small_vault)
    return open_window(scripted, runner, qtbot, mode="chat")


def list_without_tip(*roots: QWidget) -> list[str]:
    """Return the controls of windows that have no tooltip."""
    QApplication.processEvents()
    return sorted({control for root in roots for control in widgets.without_tip(root)})


def test_a_tooltip_says_what_happens_and_the_shortcut() -> None:
    made = make_button(ButtonText("Choose a folder", "Open another folder", "choose_folder"))
    assert made.toolTip() == "Open another folder (Ctrl+Shift+O)"
    Keymap.current().apply({"choose_folder": ["Ctrl+9"]}, "Enter")
    assert made.toolTip() == "Open another folder (Ctrl+9)"
    made.set_text(CANCEL)
    assert made.text() == "Cancel"
    assert made.toolTip() == "Close this without changing anything (Esc)"
    made.setToolTip("Not now.")
    assert made.toolTip() == "Not now."
    made.setToolTip("")
    assert made.toolTip().startswith("Close this")


def test_each_control_of_the_window_has_a_tooltip(window: WindowPage, server: ModelServer) -> None:
    assert list_without_tip(window.view) == []
    server.script(Answer("210 litres."), Failure.saying(401, "wrong key"), Answer("It is 210."))
    window.composer.send(QUESTION)
    window.composer.send(QUESTION)
    assert list_without_tip(window.view) == []
    for command in ("toggle_panel", "toggle_index", "toggle_related", "find"):
        window.view.run_command(command)
        assert list_without_tip(window.view) == []
    window.view.show_note("Watering.md")
    assert list_without_tip(window.view) == []
    fill(window.view)
    assert list_without_tip(window.view) == []


@pytest.mark.parametrize("command", ["show_request", "save_note", "compare", "compact", "saw"])
def test_each_control_of_the_dialogs_of_a_chat_has_a_tooltip(
    window: WindowPage, server: ModelServer, command: str
) -> None:
    server.script(*(Answer("210 litres.") for _ in range(3)))
    for _ in range(3):
        window.composer.send(QUESTION)
    before = set(QApplication.topLevelWidgets())
    window.view.run_command(command)
    QApplication.processEvents()
    shown = set(QApplication.topLevelWidgets()) - before
    assert list_without_tip(window.view, *shown) == []


def test_each_control_of_the_settings_has_a_tooltip(
    scripted: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    with open_settings(scripted, runner, qtbot) as dialog:
        model = dialog.pages.model()
        names = [model.index(row, 0).data() for row in range(model.rowCount())]
        for name in names:
            dialog.show_page(name)
            assert list_without_tip(dialog) == []


def test_each_control_of_other_dialogs_has_a_tooltip(
    window: WindowPage, scripted: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    name = scripted.projects.add(str(scripted.vault))
    project = ProjectView(scripted, name, runner, window.view)
    project.refresh()
    first_run = FirstRunDialog(scripted.model_setup, runner, window.view)
    dialogs: tuple[QWidget, ...] = (project, ShortcutsDialog(window.view), first_run)
    for dialog in dialogs:
        qtbot.addWidget(dialog)
        dialog.show()
        assert list_without_tip(dialog) == []
    for step in range(len(STEPS)):
        first_run.show_step(step)
        assert list_without_tip(first_run) == []


def list_calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the file and the node of each call of one of these functions in the source."""
    for path, tree in read_package("ui").items():
        for node in list_nodes(tree):
            is_plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if is_plain and node.func.id in names:
                yield path, node


def test_each_label_in_the_source_has_a_tooltip_that_adds_something() -> None:
    texts = [
        (file, *map(ast.unparse, call.args[:2]))
        for file, call in list_calls("ButtonText")
        if ast.unparse(call.args[0]) != "''"
    ]
    assert len(texts) > 120
    assert [text for text in texts if text[2] in ("''", text[1])] == []


def test_each_button_with_a_label_gets_its_tooltip_where_it_is_made() -> None:
    plain = [file for file, call in list_calls("QPushButton") if call.args]
    assert plain == []
    made = list(list_calls("make_button", "PushButton"))
    assert len(made) > 60
    assert [file for file, call in made if isinstance(call.args[0], ast.Constant)] == []
