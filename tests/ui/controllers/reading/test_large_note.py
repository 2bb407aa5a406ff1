"""A note with tens of thousands of headings: its text is shown first, and nothing waits for it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

import vault.notes.note
from app.assistant import Assistant
from tests.support.window.clicks import click_row
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import WindowPage, open_window

HEADINGS = 12_000
LARGE = "# Journal\n\n" + "".join(
    f"## Day {day}\n\nIt rained on day {day}.\n\n" for day in range(2, HEADINGS + 1)
)
LONG = 100_000


@pytest.fixture
def may_parse(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event until which no long text is parsed. Meanwhile, the parser can be stopped."""
    event, parse = threading.Event(), vault.notes.note.parse_document

    def parse_late(text: str, on_wait: Callable[[], None] = lambda: None) -> object:
        while len(text) > LONG and not event.wait(0.01):
            on_wait()
        return parse(text, on_wait)

    monkeypatch.setattr(vault.notes.note, "parse_document", parse_late)
    return event


@pytest.fixture
def window(assistant: Assistant, small_vault: Path, qtbot: QtBot) -> WindowPage:
    (small_vault / "Journal.md").write_text(LARGE, "utf-8")
    (small_vault / "Days.md").write_text("[[Journal#Day 9000]]\n", "utf-8")
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, None, qtbot, is_begun=False)
    window.activate(1280, 700, qtbot)
    window.view.controllers.notes.list()
    tree = window.view.sidebar.notes
    qtbot.waitUntil(lambda: tree.isVisible() and tree.model().rowCount() > 1)
    return window


def open_note(window: WindowPage, name: str, qtbot: QtBot) -> NotePage:
    click_row(window.view.sidebar.notes, name)
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.path == name)
    return note


def test_the_text_is_shown_before_the_headings_are_read(
    may_parse: threading.Event, window: WindowPage, qtbot: QtBot
) -> None:
    note = open_note(window, "Journal.md", qtbot)
    assert "It rained on day 2." in note.text
    qtbot.waitUntil(lambda: "Journal" in note.texts())
    assert note.can_press("Headings of this note")
    may_parse.set()


def test_the_headings_are_read_when_they_are_listed(
    may_parse: threading.Event, window: WindowPage, qtbot: QtBot
) -> None:
    note = open_note(window, "Journal.md", qtbot)
    panel = window.view.column.outline
    note.press_keys("Ctrl+Shift+L")
    assert panel.read_hint() == "Reading the headings…"
    may_parse.set()
    qtbot.waitUntil(lambda: len(panel.texts()) == HEADINGS)
    assert panel.field.hasFocus()
    QTest.keyClicks(panel.field, "day 9000")
    assert panel.texts() == ["Day 9000"]
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    assert note.view.find_top_line() == 3 + 4 * (9_000 - 2)


def test_the_heading_of_the_visible_lines_is_marked(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Journal.md", qtbot)
    panel = window.view.column.outline
    note.view.show_line(3 + 4 * (9_000 - 2))
    note.press_keys("Ctrl+Shift+L")
    qtbot.waitUntil(lambda: panel.find_marked_text() == "Day 9000")
    assert panel.list.indexAt(panel.list.rect().center()).row() in range(8_950, 9_050)
    note.view.show_line(3 + 4 * (40 - 2))
    qtbot.waitUntil(lambda: panel.find_marked_text() == "Day 40")


def test_the_headings_that_are_awaited_give_way_to_another_note(
    may_parse: threading.Event, window: WindowPage, qtbot: QtBot
) -> None:
    note = open_note(window, "Journal.md", qtbot)
    note.press_keys("Ctrl+Shift+L")
    open_note(window, "Days.md", qtbot)
    may_parse.set()
    panel = window.view.column.outline
    qtbot.waitUntil(lambda: panel.read_hint() == "This note has no headings.")
    assert panel.texts() == []


def test_another_note_opens_while_a_heading_is_searched(
    may_parse: threading.Event, window: WindowPage, qtbot: QtBot
) -> None:
    days = open_note(window, "Days.md", qtbot)
    days.click_link("Journal")
    watering = open_note(window, "Watering.md", qtbot)
    assert not may_parse.is_set()
    assert watering.path == "Watering.md"
    may_parse.set()


def test_a_link_to_a_heading_of_a_large_note_opens_it_there(
    window: WindowPage, qtbot: QtBot
) -> None:
    open_note(window, "Days.md", qtbot).click_link("Journal")
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.path == "Journal.md")
    assert note.view.find_marked_lines() == (3 + 4 * (9_000 - 2),) * 2
