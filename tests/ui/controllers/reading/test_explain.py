"""Why a note is a source of the last answer or not: from its menu to the words that are shown."""

from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.citations.answer_sources import Source
from ui.panels.notes.sources import REASON, SourcesPanel
from ui.tasks import TaskRunner
from ui.window import MainWindow
from vault.embedder import Embedder
from vault.errors import EmbedderFailed


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot) -> MainWindow:
    """A window over a small folder, indexed, whose work is done at once."""
    assistant.open_vault(small_vault, remember=False)
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    window.resize(1440, 900)
    window.show()
    window.begin()
    return window


def action_of(menu: QMenu, words: str) -> QAction:
    return next(action for action in menu.actions() if action.text() == words)


def reason(panel: SourcesPanel) -> str:
    texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    return texts[texts.index(REASON) + 1] if REASON in texts else ""


def explain(window: MainWindow, path: str) -> str:
    """Ask for the reason by the menu of the tree, and return what is shown."""
    tree = window.sidebar.notes
    menu = tree.build_menu(tree.model().find(path))
    action_of(menu, REASON).trigger()
    return reason(window.column.sources)


def test_the_tree_tells_why_a_note_is_no_source(window: MainWindow) -> None:
    window.composer.submitted.emit("How much does the barrel hold?")
    window.column.related_dock.show()
    window.column.related_dock.raise_()
    said = explain(window, "garden/Kompost.md")
    assert said.startswith(("garden/Kompost.md ", "The best passage of garden/Kompost.md "))
    assert window.column.is_in_front(window.column.sources_dock)


def test_a_source_tells_why_it_is_one(window: MainWindow) -> None:
    window.composer.submitted.emit("How much does the barrel hold?")
    panel = window.column.sources
    menu = panel.list.build_menu(panel.list.model().index(0, 0))
    assert [action.text() for action in menu.actions()] == ["Open", REASON]
    action_of(menu, REASON).trigger()
    assert "Watering.md ranks 1st" in reason(panel)


def test_before_the_first_question_there_is_no_reason(window: MainWindow) -> None:
    assert explain(window, "Watering.md") == "Nothing was asked in this chat yet."


def test_the_reason_goes_with_the_next_question_and_by_its_button(
    window: MainWindow, qtbot: QtBot
) -> None:
    panel = window.column.sources
    assert explain(window, "Watering.md")
    window.composer.submitted.emit("How much does the barrel hold?")
    assert reason(panel) == ""
    assert explain(window, "Watering.md")
    panel.hide_reason()
    assert reason(panel) == ""


def test_a_row_without_a_note_offers_nothing(window: MainWindow) -> None:
    panel = window.column.sources
    panel.show_rows([Source("[7] has no source.", number=7)])
    assert panel.list.build_menu(panel.list.model().index(0, 0)).isEmpty()


def test_a_new_chat_has_no_related_notes_of_the_last_one(window: MainWindow) -> None:
    window.composer.submitted.emit("How much does the barrel hold?")
    window.docking.toggle_related()
    panel = window.column.related
    assert panel.rows()
    window.open_session(None)
    assert not panel.rows()
    texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert texts == ["Open a note, or ask: what is related to it appears here."]


def test_the_sources_say_when_notes_were_searched_by_words_only(
    window: MainWindow, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, words_only = window.column.sources, "Searched by words only, not by meaning."

    def shown() -> bool:
        texts = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
        return words_only in texts

    window.composer.submitted.emit("How much does the barrel hold?")
    assert panel.rows()
    assert not shown()
    with monkeypatch.context() as patch:
        patch.setattr(embedder, "begin_query", fail_to_embed)
        window.composer.submitted.emit("Does the frost crack the barrel?")
    assert panel.rows()
    assert shown()
    chat = window.controllers.session.session
    window.open_session(None)
    assert not shown()
    window.open_session(chat)
    assert panel.rows()
    assert shown()


def fail_to_embed(_text: str) -> None:
    raise EmbedderFailed("The embedding model cannot be used.")
