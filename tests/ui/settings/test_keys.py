"""The test of a key with one click, and its result in words."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.config.learned import LearnedModels
from chains.llm.request_shape import RequestShape
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.clicks import click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield server


@pytest.fixture
def dialog(
    assistant: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Models")
        yield dialog


def test_one_click_says_whether_the_service_takes_the_key(
    dialog: SettingsDialog, server: ModelServer
) -> None:
    server.script(Answer("OK"), Failure(401))
    click_button(dialog, "Test the key")
    assert dialog.keys.state.text().startswith("The key works: scripted, ")
    click_button(dialog, "Test the key")
    assert "needs a key" in dialog.keys.state.text()
    assert len(server.bodies) == 2


def test_the_field_of_the_key_takes_what_is_typed_once_it_is_shown(
    assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    runner = TaskRunner()
    with open_settings(assistant, runner, qtbot) as dialog:
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        dialog.show_key(server.url)
        qtbot.waitUntil(dialog.keys.field.hasFocus, timeout=30_000)
    runner.close()


def test_without_a_keyring_the_key_is_used_until_the_program_ends(
    dialog: SettingsDialog, server: ModelServer
) -> None:
    server.script(Answer("OK"))
    dialog.keys.field.setText("sk-held")
    click_button(dialog, "Save the key")
    assert "used until Strata is closed" in dialog.keys.state.text()
    click_button(dialog, "Test the key")
    assert server.received[-1].headers["authorization"] == "Bearer sk-held"
    click_button(dialog, "Remove the key")
    assert "used until" not in dialog.keys.state.text()


def test_what_a_server_refused_is_shown_and_can_be_forgotten(
    assistant: Assistant, dialog: SettingsDialog, server: ModelServer, qtbot: QtBot
) -> None:
    assert dialog.shapes.state.text() == "No server has refused the usual request."
    refusal = Failure.saying(400, "Unrecognized request argument supplied: temperature")
    server.script(lambda body: refusal if "temperature" in body else Answer("OK"))
    click_button(dialog, "Test the key")
    dialog.show_page("Models")
    qtbot.waitUntil(lambda: any(b.isVisible() for b in dialog.shapes.findChildren(QPushButton)))
    dialog.stack.scroll_to("Models", dialog.shapes)
    (said,) = (text for text in texts_of(dialog.shapes) if text.startswith("Sent with"))
    assert said.startswith("Sent with no temperature. Until ")
    assert any(text.startswith("scripted at 127.0.0.1:") for text in texts_of(dialog.shapes))
    click_button(dialog.shapes, "Forget")
    assert dialog.shapes.state.text() == "No server has refused the usual request."
    assert assistant.model_setup.list_shapes() == ()
    dialog.stack.scroll_to("Models", dialog.keys)
    click_button(dialog, "Test the key")
    assert ["temperature" in body for body in server.bodies] == [True, False, True, False]


def test_what_was_learned_is_forgotten_by_keys_and_the_focus_stays_near(
    assistant: Assistant, dialog: SettingsDialog, qtbot: QtBot
) -> None:
    learned = LearnedModels(assistant.paths.learned_models)
    for name in ("one", "two"):
        learned.learn_shape(
            f"http://127.0.0.1:9/v1 {name}", RequestShape(frozenset({"temperature"}))
        )
    dialog.show_page("Models")
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.stack.scroll_to("Models", dialog.shapes)
    first, second = dialog.shapes.findChildren(QPushButton)
    qtbot.waitUntil(second.isVisible)
    walk_to(first)
    QTest.keyClick(first, Qt.Key.Key_Tab)
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Space)
    (left,) = learned.list_shapes()
    button = QApplication.focusWidget()
    assert button.accessibleName() == f"Forget what was learned about {left.model} at {left.place}"
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert learned.list_shapes() == ()
    near = dialog.find_row("chat.titles")
    assert near.isAncestorOf(QApplication.focusWidget())
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget().text() == "Reset this page"


def walk_to(wanted: QWidget) -> None:
    """Press Tab until a widget has the focus."""
    for _ in range(60):
        if wanted.hasFocus():
            return
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    raise AssertionError("Tab does not lead there")


def texts_of(widget: QWidget) -> list[str]:
    """Return the texts of all labels in a widget that are not hidden."""
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden()]
