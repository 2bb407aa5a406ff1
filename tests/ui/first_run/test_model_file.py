"""A model file is opened from the first run and from the list of models, by mouse."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.gguf import process
from tests.support.models.tiny_model import ANSWER, NAME, needs_library, write_model
from tests.support.window import widgets
from tests.support.window.clicks import click_button
from tests.support.window.first_run_page import FirstRunPage
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner

CARD = "A model file"
DIALOG = "ui.widgets.dialogs.QFileDialog.getOpenFileName"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model file, with which the file dialog answers."""
    monkeypatch.setattr(process, "is_installed", lambda: True)
    path = write_model(tmp_path / "tiny.gguf")
    monkeypatch.setattr(DIALOG, lambda *_: (str(path), ""))
    return path


@pytest.fixture
def window(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    assistant.open_vault(small_vault)
    yield open_window(assistant, runner, qtbot, mode="chat")
    assistant._turns.local.close()


@pytest.fixture
def page(window: WindowPage) -> FirstRunPage:
    window.view.open_settings("Models")
    click_button(window.settings.view, "Set a model")
    page = FirstRunPage(window.view)
    page.press(CARD)
    return page


def open_file(window: WindowPage) -> None:
    """Choose "Open a model file…" from the list of models."""
    actions = window.composer.view.models.menu().actions()
    next(action for action in actions if action.text() == "Open a model file…").trigger()
    QApplication.processEvents()


def test_the_first_run_shows_what_a_file_needs_and_stores_it(
    page: FirstRunPage, window: WindowPage, path: Path
) -> None:
    assert not page.can_go_on
    page.press("Choose a file…")
    (said,) = (text for text in page.texts() if text.startswith(NAME))
    assert "8,192 of 8,192 tokens of context. Needs 1" in said
    assert re.search(r"\d [MG]B are free\.$", said)
    QApplication.processEvents()
    assert widgets.find_faults(page.view) == []
    assert widgets.unnamed(page.view) == []
    assert page.main == "Use this model"
    page.press_main()
    assert window.assistant.settings.get("chat.model") == f"gguf/{path}"
    assert window.composer.view.models.text() == NAME


def test_a_file_that_cannot_be_used_is_said_in_the_step(page: FirstRunPage, path: Path) -> None:
    path.write_text("A note.", "utf-8")
    page.press("Choose a file…")
    assert any("is not a GGUF file" in text for text in page.texts())
    assert not page.can_go_on


def test_a_missing_library_is_said_in_the_step(
    page: FirstRunPage, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "is_installed", lambda: False)
    page.press("Choose a file…")
    assert any(process.INSTALL in text for text in page.texts())
    assert not page.can_go_on


@needs_library
def test_a_file_is_opened_from_the_list_of_models_and_answers(
    window: WindowPage, path: Path
) -> None:
    open_file(window)
    assert window.composer.view.models.value == f"gguf/{path}"
    assert window.composer.view.models.text() == NAME
    window.composer.send("Does it work?")
    assert window.chat.answers()[0].text == ANSWER
    assert window.assistant.settings.get("chat.model") == "extractive"
    assert window.assistant._turns.local.pid is not None
    window.composer.choose_model("extractive")
    assert window.assistant._turns.local.pid is None


def test_a_file_that_cannot_be_used_leaves_the_model_as_it_is(
    window: WindowPage, path: Path
) -> None:
    path.write_text("A note.", "utf-8")
    open_file(window)
    assert "is not a GGUF file" in window.composer.error
    assert window.composer.view.models.value == "extractive"
