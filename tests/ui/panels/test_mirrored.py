"""What painters draw in a layout that runs from right to left: each thing on the other side."""

from collections import Counter
from collections.abc import Callable
from itertools import chain

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyledItemDelegate, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from chains.citations.answer_sources import Source
from tests.support.window.clicks import LEFT, NONE
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.attachment_state import ChipState
from ui.chat.composer.chips import Chip
from ui.chat.composer.composer_controls import Meter
from ui.first_run.cards import ChoiceCard, StepBar
from ui.panels.context.layer_rows import LayerRow
from ui.panels.context.layer_tree import LayerTree
from ui.panels.notes.sources import SourcesPanel
from ui.panels.sidebar import RowButton
from ui.panels.vault_switcher import VaultSwitcher
from ui.theme import tokens
from ui.widgets.completion_list import Choice, ChoiceView, find_choices
from ui.widgets.controls import ElidedLabel, make_wrapped_label
from ui.widgets.find_bar import SearchField
from ui.widgets.lists import ROW, Row, RowDelegate
from ui.widgets.long_list import LongList, TwoLines
from ui.widgets.menus import MenuButton, TitleButton

RTL, LTR = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight
WIDTH, INK, GAP, EDGE = 360, 40, 6, 6


def find_ink(image: QImage) -> list[tuple[int, int]]:
    """Return the first and last column of each thing that is drawn, such as an icon or a text."""
    grey = image.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = range(EDGE, grey.height() - EDGE)
    columns = {x: [grey.pixelColor(x, y).lightness() for y in rows] for x in range(grey.width())}
    ground = Counter(chain.from_iterable(columns.values())).most_common(1)[0][0]
    found: list[tuple[int, int]] = []
    for x in range(EDGE, grey.width() - EDGE):
        if not any(abs(lightness - ground) > INK for lightness in columns[x]):
            continue
        if found and x - found[-1][1] <= GAP:
            found[-1] = (found[-1][0], x)
        else:
            found.append((x, x))
    return found


def mirror(found: list[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    return [(width - 1 - last, width - 1 - first) for first, last in reversed(found)]


def assert_mirrored(left: list[tuple[int, int]], right: list[tuple[int, int]], width: int) -> None:
    mirrored = mirror(right, width)
    assert len(left) == len(mirrored)
    for one, other in zip(left, mirrored, strict=True):
        assert one == pytest.approx(other, abs=4)


def make_chip() -> QWidget:
    return Chip(Attachment("Notes/Rain barrel.md"), ChipState(1_200))


def make_meter() -> QWidget:
    meter = Meter()
    meter.set_fraction(0.4)
    return meter


def make_menu_button() -> QWidget:
    button = MenuButton("Model", "cpu")
    button.set_choices([("small", "A small model", "")])
    button.set_value("small")
    return button


def make_title() -> QWidget:
    title = TitleButton("Chat", "Click for more")
    title.set_text("How many barrels?")
    return title


def make_switcher() -> QWidget:
    switcher = VaultSwitcher()
    switcher.show_vault("Garden", "/notes/Garden")
    return switcher


def make_choices() -> QWidget:
    view = ChoiceView("Suggestions")
    view.show_matches(find_choices([Choice("x", "Rain", "file-text", "Garden", "note")], ""))
    return view


def make_layers() -> QWidget:
    tree = LayerTree()
    codes = tokens()["layer_order"]
    tree.show_rows([LayerRow(code, 31_595, "25 %", True) for code in codes], {})
    return tree


def make_sources() -> QWidget:
    panel = SourcesPanel()
    panel.show_rows([Source("Rain", "Garden/Rain.md", None, 1, is_verified=True)])
    return panel


def make_long_list() -> QWidget:
    view, model = LongList("Related"), QStandardItemModel(1, 1)
    model.setParent(view)
    row = TwoLines("Rain", "Garden/Rain.md", ("link", "text.secondary"), ("link", "linked"))
    model.setData(model.index(0, 0), row, ROW)
    view.setModel(model)
    return view


@pytest.mark.parametrize(
    "make",
    [
        lambda: RowButton("note-pencil", "New chat", "new_chat"),
        lambda: ChoiceCard("cpu", "A model", "It answers."),
        lambda: StepBar(("Notes", "Model", "Ask")),
        make_chip,
        make_choices,
        make_layers,
        make_long_list,
        make_menu_button,
        make_meter,
        make_sources,
        make_switcher,
        make_title,
    ],
)
def test_what_a_widget_draws_is_mirrored(make: Callable[[], QWidget], qtbot: QtBot) -> None:
    widget = make()
    qtbot.addWidget(widget)
    widget.resize(widget.sizeHint().expandedTo(widget.minimumSizeHint()))
    if widget.sizePolicy().horizontalPolicy() != widget.sizePolicy().Policy.Fixed:
        widget.resize(WIDTH, max(widget.height(), 28))
    widget.show()
    found = []
    for direction in (LTR, RTL):
        widget.setLayoutDirection(direction)
        QApplication.processEvents()
        found.append(find_ink(widget.grab().toImage()))
    assert_mirrored(*found, widget.width())


@pytest.mark.parametrize(
    "row", [Row("Rain", "file-text", "12"), Row("Rain", arrow="open", depth=2)]
)
def test_a_row_of_a_list_is_mirrored(row: Row) -> None:
    found = []
    for direction in (LTR, RTL):
        found.append(find_ink(paint_row(RowDelegate(), row, direction)))
    assert_mirrored(*found, WIDTH)


def paint_row(delegate: QStyledItemDelegate, row: Row, direction: Qt.LayoutDirection) -> QImage:
    model, option = QStandardItemModel(1, 1), QStyleOptionViewItem()
    option.rect, option.direction = QRect(0, 0, WIDTH, 28), direction
    model.setData(model.index(0, 0), row, ROW)
    image = QImage(WIDTH, 28, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    delegate.paint(painter, option, model.index(0, 0))
    painter.end()
    return image


def test_the_cross_of_a_mirrored_chip_is_clicked_where_it_is_drawn(qtbot: QtBot) -> None:
    chip = make_chip()
    assert isinstance(chip, Chip)
    qtbot.addWidget(chip)
    chip.resize(chip.sizeHint())
    chip.setLayoutDirection(RTL)
    chip.show()
    assert chip.cross_rect().left() == 0
    with qtbot.waitSignal(chip.removed):
        QTest.mouseClick(chip, LEFT, NONE, chip.cross_rect().center())


def test_a_label_begins_at_the_right_in_a_mirrored_layout(qtbot: QtBot) -> None:
    label = ElidedLabel("Rain")
    qtbot.addWidget(label)
    assert label.alignment() & Qt.AlignmentFlag.AlignLeft
    label.setLayoutDirection(RTL)
    assert label.alignment() & Qt.AlignmentFlag.AlignRight


def test_a_wrapped_label_begins_at_the_right_in_a_mirrored_layout(qtbot: QtBot) -> None:
    label = make_wrapped_label("A sentence that is longer than its line. " * 3)
    qtbot.addWidget(label)
    label.resize(WIDTH, 100)
    label.show()
    label.setLayoutDirection(RTL)
    lines = label.grab(QRect(0, 0, WIDTH, 200)).toImage()
    found = find_ink(lines)
    assert WIDTH - found[-1][1] < found[0][0]  # the last letters of a wrapped line leave a rest


def test_what_a_search_field_says_does_not_meet_its_shortcut(qtbot: QtBot) -> None:
    field = SearchField("Search chats", "search_chats")
    qtbot.addWidget(field)
    field.resize(WIDTH, 30)
    field.setLayoutDirection(RTL)
    assert field.alignment() & Qt.AlignmentFlag.AlignRight
    assert field.alignment() & Qt.AlignmentFlag.AlignAbsolute
