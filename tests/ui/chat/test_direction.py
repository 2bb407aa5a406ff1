"""Letters that run from the right, and lines that are taller, beside what runs from the left."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter, QStandardItemModel
from PySide6.QtWidgets import QApplication, QLabel, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from chains.citations.answer_sources import Source
from tests.support.window import widgets
from ui.chat.message.answer_status import UnverifiedNotice
from ui.markdown.page.card import CitationCard
from ui.markdown.page.spacing import CALLOUT_INSET
from ui.markdown.page.view import MarkdownView
from ui.panels.context.layer_tree import shorten_place
from ui.panels.notes.note_text import NoteText
from ui.theme import Theme
from ui.widgets.completion_list import Choice, ChoiceView, find_choices
from ui.widgets.controls import IconLabel
from ui.widgets.lists import ROW, Row, RowDelegate, paint_text
from ui.widgets.surfaces import Pane
from ui.widgets.texts import is_rtl

HEBREW = "מתי השרת מגובה, וכמה זמן נשמרים העותקים?"
LATIN = "When is the server backed up, and how long are copies kept?"
WIDE, HIGH = 160, 28
RIGHT = Qt.LayoutDirection.RightToLeft


def painted(paint: Callable[[QPainter], object], width: int = WIDE) -> QImage:
    """What is drawn in black on white in a row."""
    image = QImage(width, HIGH, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # as in a row of a list
    painter.setFont(Theme.current().font("ui"))
    paint(painter)
    painter.end()
    return image


def ink(image: QImage, columns: range) -> list[int]:
    """The rows that hold ink in some columns."""
    return [
        y
        for y in range(image.height())
        if any(image.pixelColor(x, y).lightness() < 160 for x in columns)
    ]


def inked(image: QImage) -> list[int]:
    """The columns that hold ink."""
    return [x for x in range(image.width()) if ink(image, range(x, x + 1))]


def test_a_row_of_the_context_panel_with_a_hebrew_name_ends_with_its_lines() -> None:
    place = "גן.md, lines 10–19"
    assert is_rtl(place)
    for room in (len(place), len(place) - 2):
        assert not is_rtl(shorten_place(place, len, room))


def test_a_place_in_a_file_with_a_hebrew_name_ends_with_its_line(qtbot: QtBot) -> None:
    card = CitationCard(None)  # type: ignore[arg-type]
    qtbot.addWidget(card)
    card.show_source(Source("A", "גן.md", (3, 3), 1, passage="text"), QRect(200, 200, 20, 20))
    assert not any(is_rtl(label.text()) for label in card.findChildren(QLabel))


@pytest.mark.parametrize(("text", "is_cut_left"), [(HEBREW, True), (LATIN, False)])
def test_a_line_that_is_cut_shows_so_at_its_end(text: str, is_cut_left: bool) -> None:
    image = painted(lambda painter: paint_text(painter, QRect(0, 0, WIDE, HIGH), text))
    columns = inked(image)
    dots = range(columns[0], columns[0] + 9) if is_cut_left else range(columns[-1] - 8, WIDE)
    letters = range(columns[-1] - 8, WIDE) if is_cut_left else range(columns[0], columns[0] + 9)
    assert len(ink(image, dots)) <= 3 < len(ink(image, letters))


def test_a_short_line_stands_left_unless_it_is_told_to_run_from_the_right() -> None:
    rect = QRect(0, 0, WIDE, HIGH)
    assert inked(painted(lambda painter: paint_text(painter, rect, "שלום")))[0] <= 2
    told = painted(lambda painter: paint_text(painter, rect, "שלום", direction=RIGHT))
    assert inked(told)[-1] >= WIDE - 3


def row(text: str, *, is_file: bool) -> QImage:
    """What a list draws of a row."""
    model, option, delegate = QStandardItemModel(1, 1), QStyleOptionViewItem(), RowDelegate()
    option.rect = QRect(0, 0, 2 * WIDE, HIGH)
    index = model.index(0, 0)
    model.setData(index, Row(text, is_file=is_file), ROW)
    return painted(lambda painter: delegate.paint(painter, option, index), 2 * WIDE)


@pytest.mark.parametrize("is_file", [True, False])
def test_only_the_name_of_a_file_has_its_ending_at_the_right(is_file: bool) -> None:
    name, whole = row("יומן", is_file=is_file), row("יומן.mmm", is_file=is_file)
    word = QRect(0, 0, inked(name)[-1], HIGH)
    assert (whole.copy(word) == name.copy(word)) is is_file


def test_what_fits_in_a_hebrew_choice_is_heavier_where_it_stands(qtbot: QtBot) -> None:
    view = ChoiceView("Suggestions")
    qtbot.addWidget(view)
    view.resize(400, 60)
    rows = []
    for query in ("", "שרת"):  # the first word, which stands at the right
        view.show_matches(find_choices([Choice("x", "שרת של פתקים")], query))
        view.setCurrentIndex(view.model().index(0, 0))
        rows.append(view.grab(QRect(0, 4, 400, 20)).toImage().convertToFormat(GREY))
    changed = [
        x
        for x in range(10, 390)
        if any(abs(lightness(rows[0], x, y) - lightness(rows[1], x, y)) > 40 for y in range(20))
    ]
    assert changed
    assert min(changed) > 50


def test_what_fits_in_a_choice_is_heavier_behind_an_emoji_too(qtbot: QtBot) -> None:
    view = ChoiceView("Suggestions")
    qtbot.addWidget(view)
    view.resize(600, 60)
    ink = []
    for query in ("", "rain"):
        view.show_matches(find_choices([Choice("x", f"{'🌱' * 8} rain")], query))
        image = view.grab(QRect(0, 4, 600, 20)).toImage().convertToFormat(GREY)
        paper = lightness(image, 560, 10)
        spread = [
            sum(abs(lightness(image, x, y) - paper) for y in range(20)) for x in range(10, 550)
        ]
        end = max(x for x, dark in enumerate(spread) if dark)
        ink.append(sum(spread[end - 20 : end + 1]))  # the word alone, without the emoji
    assert ink[1] > 1.15 * ink[0]


def lightness(image: QImage, x: int, y: int) -> int:
    return image.pixelColor(x, y).lightness()


GREY = QImage.Format.Format_Grayscale8


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_what_is_in_doubt_stands_on_one_edge_where_a_callout_has_its_text(
    qtbot: QtBot, scale: float
) -> None:
    doubts = UnverifiedNotice(["“נבדקים כל שבוע” is not in Backups.md as it was sent."])
    qtbot.addWidget(doubts)
    doubts.resize(700, 120)
    doubts.show()
    Theme.current().apply("light", scale)
    for _ in range(2):
        QApplication.processEvents()
    labels = doubts.findChildren(QLabel)
    assert {widgets.left_in(doubts, label) for label in labels} == {round(CALLOUT_INSET * scale)}
    assert [icon.x() for icon in doubts.findChildren(IconLabel)] == [12]
    assert not any(is_rtl(label.text()) for label in labels)


@pytest.mark.parametrize("line", ["Latin", "درجة حرارة الماء", "注釈", "हिन्दी में"])
def test_the_number_of_a_line_stands_on_its_baseline(qtbot: QtBot, line: str) -> None:
    text = NoteText()
    qtbot.addWidget(text)
    text.resize(300, 200)
    text.show_text(f"First\n{line}\n", 1, 0, 0)
    text.show()
    QApplication.processEvents()
    block = text.document().findBlockByNumber(1)
    top = text.blockBoundingGeometry(block).translated(text.contentOffset()).top()
    first = block.layout().lineAt(0)
    numbers: QWidget = text._numbers
    place = QRect(QPoint(0, round(top)), QPoint(numbers.width() - 1, round(top + first.height())))
    image = numbers.grab(place).toImage().convertToFormat(GREY)
    ground = image.pixelColor(0, 0).lightness()
    rows = [
        y
        for y in range(image.height())
        if any(abs(image.pixelColor(x, y).lightness() - ground) > 60 for x in range(image.width()))
    ]
    assert rows[-1] + 1 == pytest.approx(first.ascent(), abs=1)


@pytest.mark.parametrize(("item", "is_rtl_item"), [("אחד", True), ("one", False)])
def test_the_point_behind_a_number_stands_where_its_line_goes_on(
    qtbot: QtBot, item: str, is_rtl_item: bool
) -> None:
    page = Pane("content")
    qtbot.addWidget(page)
    page.resize(400, 100)
    view = MarkdownView()
    view.setParent(page)
    view.setGeometry(page.rect())
    page.show()
    view.set_markdown(f"8. {item}")
    QApplication.processEvents()
    mark = QRect(362 if is_rtl_item else 16, 0, 22, view.height())
    image = page.grab(mark).toImage().convertToFormat(GREY)
    columns = inked(image)
    point = range(columns[0], columns[0] + 2) if is_rtl_item else range(columns[-1] - 1, 22)
    digit = range(columns[-1] - 3, 22) if is_rtl_item else range(columns[0], columns[0] + 4)
    assert len(ink(image, point)) <= 4 < len(ink(image, digit))
