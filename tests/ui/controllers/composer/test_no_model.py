"""Without a model nothing claims that one saw, reused or counted anything."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.models.model_server import ModelServer
from tests.support.window.clicks import click_button
from tests.support.window.first_run_page import FirstRunPage
from tests.support.window.window_pages import WindowPage, open_window
from ui.tasks import TaskRunner

FIGURES = ("of ", "Window ", "Reused from before")


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot) -> WindowPage:
    """A window with one question that was answered with quoted passages."""
    assistant.open_vault(small_vault)
    list(assistant.index(CancelToken()))
    window = open_window(assistant, runner, qtbot)
    window.composer.send("How much does the barrel hold?")
    return window


def figures(root: QWidget) -> list[str]:
    """Return the texts in sight that give figures of a request."""
    texts = [label.text() for label in root.findChildren(QLabel) if label.isVisible()]
    return [text for text in texts if text.startswith(FIGURES) or "tokens" in text]


def read_sources(window: WindowPage) -> list[str]:
    """Return the texts in sight in the panel of sources."""
    panel = window.view.column.sources
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_quoted_passages_claim_nothing_that_a_model_saw(window: WindowPage) -> None:
    (answer,) = window.chat.answers()
    assert answer.model == "extractive"
    assert not answer.tools.saw.isVisible()
    assert answer.tools.copy.isVisible()
    assert not window.composer.view.meter.isVisible()


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ("Next request", "No model is set. Strata answers with quoted passages."),
        ("Last request", "No model was used, and nothing was sent."),
    ],
)
def test_the_panel_says_that_there_is_no_model_in_place_of_figures(
    window: WindowPage, which: str, sentence: str
) -> None:
    window.context.switch(which)
    assert figures(window.context.view) == []
    assert sentence in [text for text in window.context.texts() if text]
    window.context.press("Set a model")
    assert FirstRunPage(window.view).step == "Model"


def test_an_answer_that_quotes_nothing_is_not_blamed_for_missing_sources(
    window: WindowPage,
) -> None:
    window.composer.send("Thanks!")
    assert read_sources(window) == ["No note is quoted here."]
    window.chat.reopen(window.chat.session)
    assert read_sources(window) == ["No note is quoted here."]


def test_the_section_is_shown_with_its_lit_line_also_when_the_chat_is_opened_again(
    window: WindowPage,
) -> None:
    (answer,) = window.chat.answers()
    assert "Watering.md" in [section.path for section in answer.view.sections]
    shown, lit = answer.view.toPlainText(), list(answer.view.lit)
    assert "210 litres" in shown
    assert lit
    window.chat.reopen(window.chat.session)
    (again,) = window.chat.answers()
    assert (again.view.toPlainText(), list(again.view.lit)) == (shown, lit)


def test_the_figures_are_back_with_a_model(window: WindowPage) -> None:
    with ModelServer() as server:
        window.assistant.settings.set("chat.apiBase", server.url)
        window.composer.choose_model("scripted")
        window.context.switch("Next request")
        assert any(text.startswith("Window ") for text in figures(window.context.view))
        assert window.composer.view.meter.isVisible()
        window.context.switch("Last request")
        assert figures(window.context.view) == []


def test_a_message_that_does_not_fit_still_has_its_figures(window: WindowPage) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    window.composer.write("water the barrel " * 3_000)
    assert window.composer.view.meter.isVisible()
    assert any("tokens" in text for text in figures(window.context.view))


def test_offline_is_said_beside_the_model_and_leads_to_its_setting(window: WindowPage) -> None:
    mark = window.composer.view.offline
    assert not mark.isVisible()
    window.view.open_settings("Models")
    dialog = window.settings.view
    dialog.writer.set("privacy.offline", True)
    dialog.close()
    assert mark.isVisible()
    click_button(window.view, "Offline: no call leaves this computer. Change it in the settings")
    assert (dialog.isVisible(), dialog.stack.section) == (True, "Privacy")
    assert dialog.find_row("privacy.offline").control.hasFocus()
    dialog.writer.set("privacy.offline", False)
    assert not mark.isVisible()
