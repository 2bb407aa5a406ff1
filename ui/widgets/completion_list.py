"""A list of suggestions for typed text: best matches first, matching letters in bold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from math import ceil

from PySide6.QtCore import QModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.icons import keep_upright, mirror_painter, paint_icon
from ui.theme import Theme
from ui.widgets.controls import draw_text, one_line
from ui.widgets.lists import ROW, Cell, Index, paint_text
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.texts import find_units

__all__ = ["Choice", "ChoiceView", "Match", "find_choices"]

SHOWN_ROWS = 8
_MOST = 60
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Choice:
    """An item of a suggestion list or the command palette.

    Attributes:
        value: the value that the signal `chosen` carries when the item is chosen.
        text: the displayed name of the item.
        icon: the name of the icon, or an empty string for no icon.
        detail: text shown dimmed after the name, such as a note's folder or a command's
            description. It is searched too.
        beside: text in the right column, such as the kind of item or its shortcut.
        other_words: text that is searched but not shown.
    """

    value: str
    text: str
    icon: str = ""
    detail: str = ""
    beside: str = ""
    other_words: str = ""
    _keys: tuple[str, str] = field(default=("", ""), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Computed here, because computing it in the first search would block the GUI.
        whole = f"{self.text} {self.detail} {self.other_words}"
        keys = (self.text.casefold(), whole.casefold())
        object.__setattr__(self, "_keys", keys)

    def rank(self, query: str, words: Sequence[str]) -> tuple[int, int] | None:
        """Return a sort key, which is lowest for the best match.

        Return None if the choice does not contain all of the words.

        Args:
            query: the whole text that the user typed, in lower case.
            words: the words of the query.
        """
        text, whole = self._keys
        if any(word not in whole for word in words):
            return None
        if text.startswith(query):
            return 0, len(text)
        if f" {query}" in text:
            return 1, len(text)
        if query in text:
            return 2, len(text)
        return (3 if f" {query}" in whole else 4), len(text)


@dataclass(frozen=True)
class Match:
    """A choice that matches a search text.

    Attributes:
        choice: the choice.
        spans: the start and end index of each matching piece of the choice's text.
    """

    choice: Choice
    spans: tuple[tuple[int, int], ...] = ()


def find_choices(choices: Iterable[Choice], query: str, most: int = _MOST) -> list[Match]:
    """Return the choices that contain every word of a query, best match first.

    Case is ignored. An empty query matches all choices, in their original order.

    Args:
        choices: the choices to search.
        query: the text that the user typed.
        most: the maximum number of choices to return.
    """
    wanted = " ".join(query.casefold().split())
    words = wanted.split()
    ranked = (
        (rank, at, choice)
        for at, choice in enumerate(choices)
        if (rank := choice.rank(wanted, words)) is not None
    )
    if not words:
        return [Match(choice) for _, (_, _, choice) in zip(range(most), ranked, strict=False)]
    best = nsmallest(most, ranked, key=lambda item: item[:2])
    return [Match(choice, _spans(choice.text, words)) for _, _, choice in best]


def _describe(match: Match) -> Cell:
    choice = match.choice
    parts = (choice.text, choice.detail, choice.beside)
    name = ", ".join(one_line(part) for part in parts if part)
    tip = f"{choice.text}\n{choice.detail}" if choice.detail else ""
    return Cell(one_line(choice.text), tip, name, match)


def _name_match(match: Match) -> tuple[str, str]:
    return match.choice.value, match.choice.text


class ChoiceView(QListView):
    """A list view of matches, which never takes the focus.

    The widget that has the focus calls `step` when an arrow key is pressed. The signal `chosen` is
    emitted with the `value` of a choice when its row is clicked.

    Args:
        name: the name of the list, for screen readers.
        parent: the parent widget.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = RowsModel([RowColumn(_describe)], _name_match, self)
        self.setModel(self._model)
        self.setItemDelegate(_ChoiceDelegate(self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.clicked.connect(self._on_clicked)

    @property
    def matches(self) -> Sequence[Match]:
        """The matching choices in the list."""
        return self._model.rows

    @property
    def current(self) -> Choice | None:
        """The selected choice, or None if the list is empty."""
        index = self.currentIndex()
        return self.matches[index.row()].choice if index.isValid() else None

    def show_matches(self, matches: Sequence[Match]) -> None:
        """Show matches and select the first one."""
        self._model.set_rows(matches)
        self.setCurrentIndex(self._model.index(0, 0))
        self.scrollToTop()

    def step(self, by: int) -> None:
        """Move the selection down, or up if `by` is negative.

        A move by one row wraps around at the ends. A longer move stops there.

        Args:
            by: the number of rows.
        """
        rows = len(self.matches)
        if rows:
            row = self.currentIndex().row() + by
            row = row % rows if abs(by) == 1 else max(0, min(rows - 1, row))
            self.setCurrentIndex(self._model.index(row, 0))

    def measure_rows(self) -> int:
        """Return the height of up to eight rows, in pixels."""
        return min(SHOWN_ROWS, len(self.matches)) * Theme.current().px(28)

    def _on_clicked(self, index: QModelIndex) -> None:
        self.chosen.emit(self.matches[index.row()].choice.value)


class _ChoiceDelegate(QStyledItemDelegate):
    """Draws a match: icon, text with matching letters in bold, detail, and right column."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, Theme.current().px(28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, match = Theme.current(), index.data(ROW)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_field(painter, option)
        rect: QRect = option.rect.adjusted(12, 0, -12, 0)
        if match.choice.icon:
            side = theme.px(16)
            spot = QRect(rect.left(), rect.top() + (rect.height() - side) // 2, side, side)
            paint_icon(painter, spot, match.choice.icon, "text.secondary")
            rect.setLeft(rect.left() + side + 8)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        draw_text(painter, rect, _RIGHT, match.choice.beside)
        beside = QFontMetrics(painter.font()).horizontalAdvance(match.choice.beside)
        rect.setRight(rect.right() - beside - (12 if beside else 0))
        rect.setLeft(_paint_match(painter, rect, match) + 10)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        paint_text(painter, rect, one_line(match.choice.detail), Qt.TextElideMode.ElideMiddle)
        painter.restore()

    def _paint_field(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme, state = Theme.current(), option.state
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("bg.selected" if is_chosen else "bg.hover"))
            radius = theme.radius("md")
            painter.drawRoundedRect(option.rect.adjusted(4, 0, -4, 0), radius, radius)


def _paint_match(painter: QPainter, rect: QRect, match: Match) -> int:
    """Draw the text of a match, and return the x coordinate of the text's right end."""
    theme = Theme.current()
    painter.setPen(theme.color("text.primary"))
    plain, heavy = theme.font("ui"), theme.font("ui_strong")
    text = one_line(match.choice.text)
    if QFontMetrics(heavy).horizontalAdvance(text) > rect.width():
        painter.setFont(plain)
        paint_text(painter, rect, text, Qt.TextElideMode.ElideMiddle)
        return rect.right()
    layout = QTextLayout(text, plain)
    layout.setFormats([_stretch(heavy, *span) for span in find_units(text, match.spans)])
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(rect.width())
    layout.endLayout()
    down = (rect.height() - line.height()) / 2
    width = ceil(line.naturalTextWidth())
    with keep_upright(painter, QRect(rect.left(), rect.top(), width, rect.height())):
        layout.draw(painter, QPointF(rect.left(), rect.top() + down))
    return rect.left() + width


def _stretch(font: QFont, first: int, last: int) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length = first, last - first
    made.format.setFont(font)
    return made


def _spans(text: str, words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    folded = text.casefold()
    if len(folded) != len(text):
        return ()  # casefolding changed the length, as with ß
    found = sorted((folded.find(word), len(word)) for word in words if word in folded)
    spans: list[tuple[int, int]] = []
    for start, length in found:
        if not spans or start >= spans[-1][1]:
            spans.append((start, start + length))
    return tuple(spans)


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
