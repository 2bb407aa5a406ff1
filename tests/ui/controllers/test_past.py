"""A request beside the one that today's notes would make: in the panel's dialog, by keys."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.window.clicks import choose_from_button
from tests.support.window.window_pages import WindowPage, open_window
from ui.panels.past_view import PastView
from ui.tasks import TaskRunner

QUESTION = "How much water does the barrel hold?"


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    """A window with an answer from notes, one of which has changed since."""
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, runner, qtbot)
    window.composer.send(QUESTION)
    note = small_vault / "Watering.md"
    note.write_text(note.read_text("utf-8").replace("210 litres", "300 litres"), "utf-8")
    return window


def open_view(window: WindowPage) -> PastView:
    window.context.press("Then and today")
    return window.view.controllers.context.past_view


def read_lines(view: PastView) -> list[str]:
    return view.text.toPlainText().split("\n")


def test_changed_lines_are_shown_and_each_request_on_its_own(
    window: WindowPage, qtbot: QtBot
) -> None:
    view = open_view(window)
    assert view.isVisible()
    signed = [line for line in read_lines(view) if line.startswith(("- ", "+ "))]
    before = "Water the beds before eight in the morning. The barrel behind the shed holds"
    assert signed == [f"- {before} 210 litres.", f"+ {before} 300 litres."]
    assert view.text.textCursor().block().text() == "[1] Watering.md, lines 1–9: changed"
    assert view.place.text() == "Difference 1 of 1"
    view.text.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClick(view, Qt.Key.Key_F7)
    assert view.text.textCursor().block().text() == "[1] Watering.md, lines 1–9: changed"
    choose_from_button(view, view.forms.accessibleName(), "As it was")
    then = view.text.toPlainText()
    assert "210 litres" in then
    assert "300 litres" not in then
    choose_from_button(view, view.forms.accessibleName(), "As it would be today")
    assert "300 litres" in view.text.toPlainText()
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert not view.isVisible()


def test_a_folder_that_is_gone_is_said_and_tried_again(
    window: WindowPage, small_vault: Path, qtbot: QtBot
) -> None:
    away = small_vault.with_name("away")
    shutil.move(small_vault, away)
    view = open_view(window)
    assert view.state.text().startswith("Today's request could not be made: ")
    assert view.again.isVisible()
    shutil.move(away, small_vault)
    qtbot.mouseClick(view.again, Qt.MouseButton.LeftButton)
    assert any("300 litres" in line for line in read_lines(view))
    assert not view.again.isVisible()
    view.close()


def test_what_is_kept_of_deleted_notes_is_removed_in_the_settings(
    window: WindowPage, small_vault: Path, qtbot: QtBot
) -> None:
    (small_vault / "Watering.md").unlink()
    window.view.open_settings("Privacy")
    kept = window.settings.view.kept
    assert "1 of these notes is deleted." in kept.state.text()
    qtbot.mouseClick(kept.purge, Qt.MouseButton.LeftButton)
    assert "deleted" not in kept.state.text()
    assert not kept.purge.isEnabled()
