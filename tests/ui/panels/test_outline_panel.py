"""The panel of a note's headings: its filter, its mark, its keys, and many thousand rows."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.support.window.waiting import settle
from ui.panels.notes.outline import OutlinePanel
from ui.widgets.lists import ROW, Row
from vault.notes.text.document import Heading

MANY = 60_000
GARDEN = (
    Heading(2, "Beds", 3),
    Heading(3, "Étage & Café <b>", 9),
    Heading(5, "Beds of the café", 12),
    Heading(2, "Water", 20),
)


@pytest.fixture
def panel(qtbot: QtBot) -> OutlinePanel:
    panel = OutlinePanel()
    qtbot.addWidget(panel)
    panel.resize(344, 300)
    panel.show()
    settle()
    return panel


def read(panel: OutlinePanel, row: int, role: int) -> object:
    return panel.list.model().index(row, 0).data(role)


def test_an_empty_panel_says_why(panel: OutlinePanel) -> None:
    assert panel.read_hint() == "No note is open."
    panel.show_headings(())
    assert panel.read_hint() == "This note has no headings."
    assert not panel.field.isVisible()
    panel.show_headings(GARDEN)
    assert panel.read_hint() == ""
    assert panel.list.isVisible()


def test_headings_are_indented_from_the_highest_level_of_the_note(panel: OutlinePanel) -> None:
    panel.show_headings(GARDEN)
    rows = [read(panel, row, ROW) for row in range(4)]
    assert [getattr(row, "depth", None) for row in rows] == [0, 1, 3, 0]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("beds", [0, 2]),
        ("CAFE", [1, 2]),
        ("cafe beds", [2]),
        ("  ", [0, 1, 2, 3]),
        ("<b>", [1]),
        ("pump", []),
    ],
)
def test_the_filter_finds_all_words_in_any_order_and_case(
    panel: OutlinePanel, words: str, found: list[int]
) -> None:
    panel.show_headings(GARDEN)
    QTest.keyClicks(panel.field, words)
    assert panel.texts() == [GARDEN[row].text for row in found]
    assert panel.read_hint() == ("" if found else "No heading contains these words.")
    panel.field.clear()
    assert len(panel.texts()) == 4
    assert panel.list.isVisible()


@pytest.mark.parametrize(
    ("line", "marked"), [(1, 0), (3, 0), (8, 0), (9, 1), (12, 2), (19, 2), (20, 3), (900, 3)]
)
def test_the_heading_above_a_line_is_marked(panel: OutlinePanel, line: int, marked: int) -> None:
    panel.show_headings(GARDEN)
    panel.mark_line(line)
    assert panel.find_marked_text() == GARDEN[marked].text
    name = str(read(panel, marked, Qt.ItemDataRole.AccessibleTextRole))
    assert name.endswith(f", level {GARDEN[marked].level}, the present heading")
    assert panel.list.currentIndex().row() == marked


def test_a_marked_heading_that_is_filtered_out_marks_no_other(panel: OutlinePanel) -> None:
    panel.show_headings(GARDEN)
    panel.mark_line(20)
    QTest.keyClicks(panel.field, "beds")
    assert panel.find_marked_text() == ""
    panel.mark_line(13)
    assert panel.find_marked_text() == "Beds of the café"


def test_the_arrows_move_and_enter_chooses(panel: OutlinePanel, qtbot: QtBot) -> None:
    panel.show_headings(GARDEN)
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    panel.begin()
    QTest.keyClick(panel.field, Qt.Key.Key_Down)
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.line_chosen) as chosen:
        QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert chosen.args == [9]
    QTest.keyClick(panel.list, Qt.Key.Key_End)
    assert panel.list.currentIndex().row() == 3
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Up):
        QTest.keyClick(panel.list, key)
    assert panel.field.hasFocus()
    with qtbot.waitSignal(panel.left):
        QTest.keyClick(panel.field, Qt.Key.Key_Escape)


def test_scrolling_the_note_does_not_move_the_row_of_somebody_in_the_list(
    panel: OutlinePanel, qtbot: QtBot
) -> None:
    panel.show_headings(GARDEN)
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow)
    panel.list.setFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    panel.mark_line(20)
    assert panel.list.currentIndex().row() == 1
    assert panel.find_marked_text() == "Water"


def test_every_part_has_a_name_and_a_tooltip(panel: OutlinePanel) -> None:
    panel.show_headings(GARDEN)
    assert panel.field.accessibleName() == "Filter the headings"
    assert panel.field.toolTip().startswith("Filter the headings")
    assert panel.list.accessibleName() == "Headings of the note"
    assert "Line 9" in str(read(panel, 1, Qt.ItemDataRole.ToolTipRole))
    assert "<b>" not in str(read(panel, 1, Qt.ItemDataRole.ToolTipRole))


def test_many_thousand_headings_are_built_only_when_drawn(
    panel: OutlinePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def build_noted(text: str, **others: Any) -> Row:
        built.append(text)
        return Row(text, **others)

    monkeypatch.setattr("ui.panels.notes.outline.Row", build_noted)
    panel.show_headings([Heading(2, f"Day {day}", day * 4) for day in range(MANY)])
    settle()
    panel.mark_line(4 * 30_000)
    settle()
    panel.field.setText("day 59")
    settle()
    assert panel.texts()[0] == "Day 59"
    assert len(set(built)) < 100
