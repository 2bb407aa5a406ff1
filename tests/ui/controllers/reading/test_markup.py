"""What Obsidian draws is drawn in a note: properties, callouts, fields, footnotes, details."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.vaults.obsidian import write_obsidian_vault
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.markdown.page.note_view import NoteView
from ui.tasks import TaskRunner


@pytest.fixture
def window(
    assistant: Assistant, tmp_path: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    vault = tmp_path / "notes"
    vault.mkdir()
    assistant.open_vault(write_obsidian_vault(vault), remember=False)
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 1400, qtbot)
    window.view.show_note("Markup.md")
    settle()
    yield window
    window.close()


@pytest.fixture
def note(window: WindowPage) -> NotePage:
    return NotePage(window.view)


def focus_link(note: NotePage, words: str) -> NoteView:
    """Press Tab until a link has the focus."""
    view = note.view.page.views()[0]
    view.setFocus()
    for _ in range(30):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        if view.textCursor().selectedText().startswith(words):
            return view
    raise LookupError(f"no link {words!r}")


def test_nothing_is_left_as_source(note: NotePage) -> None:
    text = note.text
    sources = ("==", "%%", "^block-id", "[^1]", "::", "[!", "<details", "<summary", "---", "[[")
    assert [source for source in sources if source in text] == []
    assert "Nobody sees this" not in text
    assert "<b>bold</b> stays text." in text  # other HTML stays off


def test_properties_are_a_table_with_links_that_act(note: NotePage) -> None:
    lines = [line for line in note.text.split("\n") if line]
    assert lines[:4] == ["tags", "#garden/water, #spring", "due", "2024-01-05"]
    assert lines[lines.index("done") + 1] == "Yes"
    assert lines[lines.index("people") + 1] == "Ann, Bob"
    note.click_link("Frost")
    settle()
    assert note.path == "Frost.md"


def test_a_callout_is_opened_and_folded_by_mouse(note: NotePage) -> None:
    assert "Folded at first" in note.text
    assert "Hidden until" not in note.text
    assert "Inside" not in note.text
    note.click_link("Folded at first")
    assert "Hidden until it is opened.\nInside" in note.text
    assert "Mind the step." in note.text
    note.click_link("Inside")
    assert "Mind the step." not in note.text
    note.click_link("Folded at first")
    assert "Inside" not in note.text


def test_a_callout_is_opened_and_folded_by_keyboard(note: NotePage) -> None:
    assert "second" not in note.text
    view = focus_link(note, "More of it")
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert "first\nsecond" in note.text
    assert view.textCursor().selectedText().startswith("More of it")
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert "second" not in note.text


def test_a_footnote_leads_there_and_back(note: NotePage) -> None:
    view = focus_link(note, "1")
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert "↩" in view.textCursor().selectedText()
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert view.textCursor().selectedText() == "1"


def test_a_link_to_a_note_that_does_not_exist_looks_so(note: NotePage) -> None:
    assert note.find_link_look("Bob")[1]  # in the properties
    assert not note.find_link_look("the frost")[1]
