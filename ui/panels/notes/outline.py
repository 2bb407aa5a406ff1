"""The panel "Outline", which lists the headings of the open note and marks the present one."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from ui.icons import mirror_painter
from ui.theme import Theme
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.find_bar import SearchField
from ui.widgets.formatting import count
from ui.widgets.geometry import set_apart
from ui.widgets.lists import Cell, Index, Row, RowDelegate
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.surfaces import Pane
from vault.notes.keywords import fold

if TYPE_CHECKING:
    from vault.notes.text.document import Heading

__all__ = ["OutlinePanel"]

_NO_NOTE = "No note is open."
_NO_HEADINGS = "This note has no headings."
_READING = "Reading the headings…"
_NO_MATCH = "No heading contains these words."
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class OutlinePanel(Pane):
    """The panel that lists the headings of the open note, indented by their level.

    The heading above the visible lines of the note is marked. The field above the list restricts it
    to the headings that contain all words in the field.

    Signals:
        line_chosen: emitted with the line number of the heading that the user selects.
        left: emitted when the user leaves the panel with Esc.
        looked_at: emitted when the panel becomes visible.

    Attributes:
        field: the filter field.
        list: the list of headings.
    """

    line_chosen = Signal(int)
    left = Signal()
    looked_at = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self._line, self._least = 1, 1
        self._headings: Sequence[Heading] = ()
        self._folded: list[str] | None = None
        self._marked: Heading | None = None
        self.field = SearchField("Filter the headings", "note_outline")
        self.field.textChanged.connect(self._filter)
        self.field.left_down.connect(self._enter_list)
        self.field.returnPressed.connect(self._choose_first)
        self._model: RowsModel[Heading] = RowsModel(
            [RowColumn(self._describe)], lambda heading: heading.line, self
        )
        self.list = OutlineList()
        self.list.setModel(self._model)
        self.list.chosen.connect(self._on_chosen)
        self.list.left_up.connect(self.field.begin)
        self._message_label = make_wrapped_label("", "ui", "tertiary")
        self._message_label.setContentsMargins(16, 4, 16, 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(set_apart(self.field, 16, 8, 16, 8))
        column.addWidget(self._message_label)
        column.addWidget(self.list, 1)
        column.addStretch(0)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Clear the list, and say that no note is open."""
        self._show((), _NO_NOTE)

    def show_reading(self) -> None:
        """Clear the list, and say that the headings are being read."""
        self._show((), _READING)

    def show_error(self, message: str) -> None:
        """Clear the list, and show why the headings could not be read."""
        self._show((), message)

    def show_headings(self, headings: "Sequence[Heading]") -> None:
        """List the headings of the open note. The words in the filter field still apply."""
        was_awaited = self.hasFocus()
        self._show(headings, "" if headings else _NO_HEADINGS)
        if was_awaited:
            self.begin()

    def clear_filter(self) -> None:
        """Empty the filter field, because another note is open."""
        self.field.clear()

    def mark_line(self, line: int) -> None:
        """Mark the heading above a line of the note, and scroll to it unless the user is here.

        Args:
            line: the line at the top of the note's visible area.
        """
        self._line = line
        if self._mark() and not self.isAncestorOf(self.window().focusWidget()):
            self._show_marked()

    def begin(self) -> None:
        """Focus the filter field, or the panel itself if there is nothing to filter."""
        if self.field.isVisible():
            self.field.begin()
        else:
            self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def texts(self) -> list[str]:
        """Return the texts of the listed headings."""
        return [heading.text for heading in self._model.rows]

    def find_marked_text(self) -> str:
        """Return the text of the marked heading, or an empty string if none is listed."""
        heading = self._model.find_row(self._find_marked())
        return "" if heading is None else heading.text

    def read_hint(self) -> str:
        """Return the sentence that is shown in place of the list, or an empty string."""
        return self._message_label.text()

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `looked_at` when the panel becomes visible, so that its contents are loaded."""
        super().showEvent(event)
        self.looked_at.emit()

    def event(self, event: QEvent) -> bool:
        """Leave the panel on Esc before the window's shortcut closes the note."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
            event.accept()
            return True
        return super().event(event)

    def _show(self, headings: "Sequence[Heading]", text: str) -> None:
        self._headings, self._folded, self._marked = headings, None, None
        self._least = min((heading.level for heading in headings), default=1)
        self._model.set_rows(self._list_matches(self.field.text()))
        self._mark()
        self.field.setVisible(bool(headings))
        self._say(text)
        self._show_marked()

    def _say(self, text: str) -> None:
        self._message_label.setText(text)
        self._message_label.setVisible(bool(text))
        self.list.setVisible(not text)

    def _filter(self, text: str) -> None:
        if self._headings:
            self._model.set_rows(self._list_matches(text))
            self._say("" if self._model.rowCount() else _NO_MATCH)
            self._show_marked()

    def _show_marked(self) -> None:
        """Make the marked heading the current row and scroll to it; the first row if none is."""
        row = self._model.index(max(0, self._find_marked().row()), 0)
        self.list.setCurrentIndex(row)
        self.list.scrollTo(row, QAbstractItemView.ScrollHint.EnsureVisible)

    def _enter_list(self) -> None:
        if self._model.rowCount():
            self.list.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose_first(self) -> None:
        """Choose the first heading that is listed, or the current one if all are listed."""
        row = self._model.index(0, 0) if self.field.text() else self.list.currentIndex()
        if row.isValid():
            self._on_chosen(row)

    def _on_chosen(self, index: QModelIndex) -> None:
        if (heading := self._model.find_row(index)) is not None:
            self.line_chosen.emit(heading.line)

    def _list_matches(self, text: str) -> "Sequence[Heading]":
        """Return the headings that contain all words of a text, in any case and order."""
        words = fold(text).split()
        if not words:
            return self._headings
        if self._folded is None:
            self._folded = [fold(heading.text) for heading in self._headings]
        pairs = zip(self._headings, self._folded, strict=True)
        return [heading for heading, folded in pairs if all(word in folded for word in words)]

    def _mark(self) -> bool:
        """Mark the last heading up to the line, or the first one. Return whether this changed."""
        found = bisect_right(self._headings, self._line, key=lambda heading: heading.line) - 1
        marked = self._headings[max(0, found)] if self._headings else None
        if marked is self._marked:
            return False
        before, self._marked = self._find_marked(), marked
        for index in (before, self._find_marked()):
            self._model.redraw(index)
        return True

    def _find_marked(self) -> QModelIndex:
        """Return the index of the marked heading, or an invalid index if it is not listed."""
        if self._marked is None:
            return QModelIndex()
        rows, line = self._model.rows, self._marked.line
        place = bisect_left(rows, line, key=lambda heading: heading.line)
        is_listed = place < len(rows) and rows[place] is self._marked
        return self._model.index(place, 0) if is_listed else QModelIndex()

    def _describe(self, heading: "Heading") -> Cell:
        is_marked = heading is self._marked
        text = one_line(heading.text)
        name = f"{text}, level {heading.level}{', the present heading' if is_marked else ''}"
        tip = f"{text}\nLine {count(heading.line)}"
        row = Row(text, tip=tip, name=name, depth=heading.level - self._least)
        return replace(row.cell, is_checked=is_marked)


class OutlineList(QTableView):
    """A list of headings, all of the same height.

    It is a table of one column because Qt's list views ask the model for each row whenever the rows
    change, which takes 0.1 s for 60,000 rows.

    Signals:
        chosen: the index of a row that was clicked, or activated with Enter.
        left_up: emitted when Up is pressed in the first row.
    """

    chosen = Signal(QModelIndex)
    left_up = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Headings of the note")
        self.setItemDelegate(_HeadingDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(self.chosen)
        Theme.current().changed.connect(self._fit_rows)
        self._fit_rows()

    def _fit_rows(self) -> None:
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(Theme.current().px(28))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Treat Enter as a click on the row, and leave the list with Up in the first row."""
        index = self.currentIndex()
        if event.key() in _ENTER and index.isValid():
            self.chosen.emit(index)
        elif event.key() == Qt.Key.Key_Up and index.row() <= 0:
            self.left_up.emit()
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            row = 0 if event.key() == Qt.Key.Key_Home else self.model().rowCount() - 1
            self.setCurrentIndex(self.model().index(row, 0))
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the panel leaves
        else:
            super().keyPressEvent(event)


class _HeadingDelegate(RowDelegate):
    """Draws a heading. The marked one is drawn as selected, with a bar at its leading edge."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one heading."""
        is_marked = index.data(Qt.ItemDataRole.CheckStateRole) is not None
        state: QStyle.StateFlag = option.state & ~QStyle.StateFlag.State_Selected
        shown = QStyleOptionViewItem(option)
        shown.state = state | QStyle.StateFlag.State_Selected if is_marked else state
        super().paint(painter, shown, index)
        if is_marked:
            self._paint_bar(painter, option)

    def _paint_bar(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme, rect = Theme.current(), QRect(option.rect)
        painter.save()
        mirror_painter(painter, rect, option.direction)
        bar = QRect(rect.left() + 8, rect.top() + 6, 3, rect.height() - 12)
        painter.fillRect(bar, theme.color("accent.base"))
        painter.restore()
