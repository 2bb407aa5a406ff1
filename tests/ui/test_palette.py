"""One field for commands, chats and notes."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from tests.support.window.widgets import find_faults
from ui.palette import Palette
from ui.theme import Theme
from ui.widgets.completion_list import Choice

GROUPS = (
    ("command", [Choice("compact", "Compact this chat now"), Choice("quit", "Quit")]),
    ("note", [Choice("Compost.md", "Compost"), Choice("Beans.md", "<b>Beans</b>")]),
)


@pytest.fixture
def below(qtbot: QtBot) -> Iterator[QLineEdit]:
    """A field in a window, with the focus."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1_000, 700)
    field = QLineEdit(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    field.setFocus()
    yield field
    window.close()


@pytest.fixture
def palette(below: QLineEdit) -> Palette:
    palette = Palette(below.window())
    palette.open(GROUPS, "Find a command, a chat or a note")
    return palette


def test_it_takes_the_focus_and_gives_it_back(
    palette: Palette, below: QLineEdit, qtbot: QtBot
) -> None:
    assert palette.field.hasFocus()
    assert palette.field.accessibleName() == "Find a command, a chat or a note"
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert palette.isHidden()
    assert below.hasFocus()
    assert not palette.dismiss()


@pytest.mark.parametrize("text", ["", "compo", "zzz", "文" * 90])
def test_it_is_as_high_as_its_rows_and_says_when_there_are_none(
    palette: Palette, qtbot: QtBot, text: str
) -> None:
    palette.field.setText(text)
    QApplication.processEvents()
    texts = [label.text() for label in palette.findChildren(QLabel) if label.isVisible()]
    assert texts == [] if palette.view.matches else texts[0].startswith("Nothing found for")
    assert palette.view.verticalScrollBar().maximum() == 0
    assert palette.height() <= 80 + 28 * max(2, len(palette.view.matches))
    assert find_faults(palette) == []


def test_the_first_match_is_chosen_by_enter_with_its_group(palette: Palette, qtbot: QtBot) -> None:
    qtbot.keyClicks(palette.field, "compo")
    with qtbot.waitSignal(palette.chosen) as caught:
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert caught.args == ["note", "Compost.md"]
    assert palette.isHidden()


def test_the_beginning_of_a_word_comes_before_the_middle_of_one(
    palette: Palette, qtbot: QtBot
) -> None:
    notes = [Choice("6.md", "6", detail="Renaming"), Choice("8.md", "8000", detail="Good naming")]
    palette.open([("note", notes)], "A note")
    qtbot.keyClicks(palette.field, "naming")
    assert [match.choice.value for match in palette.view.matches] == ["8.md", "6.md"]
    assert not visible_texts(palette)


def visible_texts(palette: Palette) -> list[str]:
    return [label.text() for label in palette.findChildren(QLabel) if label.isVisible()]


def test_arrows_walk_the_matches_while_the_field_keeps_the_focus(
    palette: Palette, qtbot: QtBot
) -> None:
    qtbot.keyClicks(palette.field, "comp")
    first = palette.view.current
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.view.current != first
    assert palette.field.hasFocus()
    with qtbot.waitSignal(palette.chosen) as caught:
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert caught.args[1] in {"compact", "Compost.md"}


def test_without_a_match_enter_chooses_nothing(palette: Palette, qtbot: QtBot) -> None:
    qtbot.keyClicks(palette.field, "zzzz")
    assert "Nothing found for “zzzz”. Try fewer words." in visible_texts(palette)
    with qtbot.assertNotEmitted(palette.chosen):
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_it_begins_empty_each_time(palette: Palette, qtbot: QtBot) -> None:
    qtbot.keyClicks(palette.field, "zzzz")
    palette.dismiss()
    palette.open(GROUPS, "Open a note")
    assert palette.field.text() == ""
    assert palette.view.current is not None


def test_a_click_elsewhere_closes_it(palette: Palette, below: QLineEdit) -> None:
    below.setFocus()
    assert palette.isHidden()


def test_it_stays_inside_a_small_window(below: QLineEdit) -> None:
    below.window().resize(500, 300)
    palette = Palette(below.window())
    palette.open(GROUPS, "Find")
    assert below.window().rect().contains(palette.geometry())


@pytest.mark.parametrize("height", [520, 700, 900])
def test_it_ends_inside_the_window_where_text_is_large(below: QLineEdit, height: int) -> None:
    Theme.current().apply("light", 2.0)
    below.window().resize(900, height)
    palette = Palette(below.window())
    palette.open(GROUPS, "A command or a note")
    assert palette.geometry().bottom() <= height - 16
