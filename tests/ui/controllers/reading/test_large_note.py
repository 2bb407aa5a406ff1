"""A note with tens of thousands of headings: its text is shown first, and nothing waits for it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

import vault.notes.note
from app.assistant import Assistant
from tests.support.window.clicks import click_row, open_menu
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


def has_menu() -> bool:
    return isinstance(QApplication.activePopupWidget(), QMenu)


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
    window.view.controllers.reading.slow_timer.setInterval(0)
    note.press_keys("Ctrl+Shift+L")
    said = "Reading the headings of Journal.md…"
    qtbot.waitUntil(lambda: window.toasts() == [said])
    assert not has_menu()
    may_parse.set()
    qtbot.waitUntil(has_menu)
    menu = open_menu()
    texts = [action.text() for action in menu.actions()]
    assert texts[0] == "Headings 1 to 400 of 12,000"
    assert len(texts) < 410
    lefts = {menu.actionGeometry(action).left() for action in menu.actions()}
    assert len(lefts) == 1  # they scroll, and are not in columns beside each other
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(menu, key)
    assert note.view.find_top_line() == 3 + 4 * (3 - 2)


def test_the_headings_around_the_visible_lines_are_listed(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Journal.md", qtbot)
    note.view.show_line(3 + 4 * (9_000 - 2))
    note.press_keys("Ctrl+Shift+L")
    qtbot.waitUntil(has_menu)
    menu = open_menu()
    assert menu.actions()[0].text() == "Headings 8,800 to 9,199 of 12,000"
    assert menu.activeAction().text() == "Day 9000"
    menu.close()


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
