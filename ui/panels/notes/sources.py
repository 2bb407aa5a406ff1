"""The sources of an answer: a row for each citation number, which shows whether it is verified."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ui.icons import mirror_painter, paint_icon
from ui.notify import announce
from ui.theme import Theme
from ui.widgets.buttons import ButtonText
from ui.widgets.controls import draw_text, make_wrapped_label, one_line
from ui.widgets.geometry import make_scroll_area
from ui.widgets.lists import ROW, Cell, FitTree, Index, elide_path, paint_row_field, paint_text
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.surfaces import Notice, Pane
from ui.widgets.texts import from_left

if TYPE_CHECKING:
    from chains.citations.answer_sources import Source

__all__ = [
    "REASON",
    "SourcesPanel",
    "choose_mark",
    "describe_no_sources",
    "describe_place",
    "name_source",
]

_CLOSE: Final = ButtonText("Close", "Hide the reason")
_NOTHING_QUOTED: Final = "No note is quoted here."
_WORDS_ONLY: Final = "Searched by words only, not by meaning."
REASON: Final = "Why was this note used?"


def name_source(source: "Source") -> str:
    """Return the accessible name of a source's row, which screen readers read aloud."""
    word = "not verified" if source.doubt else _name_check(source)
    start = f"Source {source.number}" if source.number is not None else "Quotation"
    return f"{start}, {one_line(source.title)}, {describe_place(source)}, {word}"


def _name_check(source: "Source") -> str:
    if source.is_compared:
        return "verified"
    return source.describe_check().rstrip(".")


def describe_place(source: "Source") -> str:
    """Return the second line of a source's row: its path and lines, or why it is not verified."""
    found = " · found by Strata" if source.is_found else ""
    return one_line(source.doubt or f"{source.place}{found}")


def choose_mark(source: "Source") -> tuple[str, str]:
    """Return the icon of a source's row and its colour.

    The tick stands only where something of the answer was found in the passage.
    """
    if source.doubt:
        return "warning", "amber.graphic"
    return (
        ("check-circle", "success.graphic") if source.is_compared else ("circle", "text.tertiary")
    )


def describe_no_sources(model: str) -> str:
    """Return the sentence that replaces the sources of an answer that has none.

    An answer without a model does not omit its sources: it says itself why it quotes no note.
    """
    from chains.events import CITES_NOTHING  # not needed for the first paint
    from chains.models import EXTRACTIVE

    return _NOTHING_QUOTED if model == EXTRACTIVE else CITES_NOTHING


class SourcesPanel(Pane):
    """The panel that lists an answer's sources.

    Signals:
        place_chosen: emitted when the user opens a source, with its path and the first and last
            line to show, or 0 and 0 for the whole note.
        hovered: emitted with the citation number of the source under the pointer, or with 0 if
            there is none.
        cited: emitted when the sources are replaced, with the path of the first one that is a note,
            or an empty string if none is.
        reason_requested: emitted with the path of a note when the user asks why it was used.
    """

    place_chosen = Signal(str, int, int)
    cited = Signal(str)
    hovered = Signal(int)
    reason_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self.list = FitTree("Sources")
        self._model: RowsModel[Source] = RowsModel([RowColumn(_describe)], _name_quotation, self)
        self.list.setModel(self._model)
        self._delegate = _SourceDelegate(self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.setSelectionMode(FitTree.SelectionMode.NoSelection)
        self.list.chosen.connect(self._on_chosen)
        self.list.menu_wanted.connect(self._fill_menu)
        self.list.entered.connect(self._on_entered)
        self.list.viewport().installEventFilter(self)
        self._empty = make_wrapped_label("Sources appear here with the answer.", "ui", "tertiary")
        self._empty.setContentsMargins(16, 8, 16, 8)
        self._ways = make_wrapped_label(_WORDS_ONLY, "caption", "amber")
        self._ways.setContentsMargins(16, 2, 16, 6)
        self._coverage = make_wrapped_label("", "caption", "tertiary")
        self._coverage.setContentsMargins(16, 6, 16, 6)
        self._reason = Notice("info")
        self._lay_out()

    def show_rows(
        self,
        rows: "Sequence[Source]",
        empty: str = "",
        searched_by: Sequence[str] = (),
        coverage: str = "",
    ) -> None:
        """Replace the listed sources.

        Args:
            rows: the rows of the sources.
            empty: the text to show if there are no rows.
            searched_by: the ways in which notes were searched. A search by words only is named.
            coverage: how many sentences of the answer have a source, or an empty string.
        """
        self._coverage.setText(coverage)
        self._coverage.setVisible(bool(coverage))
        self._model.set_rows(rows)
        self._empty.setText(empty)
        self.hide_reason()
        self._empty.setVisible(not rows)
        self._ways.setVisible(tuple(searched_by) == ("words",))
        self.list.setVisible(bool(rows))
        self.list.fit()
        self.cited.emit(next((row.path for row in rows if row.path), ""))

    def find_path(self, spot: QPoint) -> str:
        """Return the path or address of the source at a point of the list's viewport, or ""."""
        index = self.list.indexAt(spot)
        return index.data(ROW).path if index.isValid() else ""

    def show_reason(self, reason: str) -> None:
        """Show above the sources why a note was or was not used for the answer."""
        self._reason.show_notice("info", REASON, reason, [(_CLOSE, self.hide_reason)])
        self._scroll.verticalScrollBar().setValue(0)
        announce(self, reason)

    def hide_reason(self) -> None:
        """Hide the text that explains why a note was or was not used."""
        self._reason.hide()

    def mark(self, number: int) -> None:
        """Highlight the rows of a citation number. 0 removes the highlight."""
        self._delegate.marked = number
        self.list.viewport().update()

    def rows(self) -> "list[Source]":
        """Return the rows of the listed sources."""
        return [*self._model.rows]

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Emit `hovered` with 0 when the pointer leaves the list."""
        if event.type() == QEvent.Type.Leave:
            self.hovered.emit(0)
        return False

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        content = Pane("panel")
        self._scroll = make_scroll_area(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 6, 0, 8)
        column.setSpacing(0)
        inset = QHBoxLayout()
        inset.setContentsMargins(8, 0, 8, 6)
        inset.addWidget(self._reason)
        column.addLayout(inset)
        column.addWidget(self._ways)
        column.addWidget(self._empty)
        column.addWidget(self.list)
        column.addWidget(self._coverage)
        column.addStretch(1)
        for part in (self.list, self._coverage, self._reason, self._ways):
            part.hide()

    def _on_chosen(self, index: QModelIndex) -> None:
        row: Source = index.data(ROW)
        if row.path:
            first, last = row.shown_lines or (0, 0)
            self.place_chosen.emit(row.path, first, last)

    def _fill_menu(self, index: QModelIndex, menu: QMenu) -> None:
        row: Source = index.data(ROW)
        if row.path:
            menu.addAction("Open").triggered.connect(lambda: self._on_chosen(index))
            menu.addAction(REASON).triggered.connect(lambda: self.reason_requested.emit(row.path))

    def _on_entered(self, index: QModelIndex) -> None:
        row: Source = index.data(ROW)
        self.hovered.emit(row.number or 0)


def _describe(source: "Source") -> Cell:
    title = one_line(source.title)
    tip_lines = dict.fromkeys((title, describe_place(source), one_line(source.describe_check())))
    return Cell(title, "\n".join(tip_lines), name_source(source), source)


def _name_quotation(source: "Source") -> tuple[int | None, str]:
    return source.number, source.path


class _SourceDelegate(QStyledItemDelegate):
    """Draws the row of a source: number, title, location, and a check mark or warning icon.

    Attributes:
        marked: the citation number under the pointer in the answer, or 0 if there is none.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.marked = 0

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row, which has two lines."""
        return QSize(0, Theme.current().px(44))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the row of a source."""
        theme = Theme.current()
        row: Source = index.data(ROW)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state & ~QStyle.StateFlag.State_Selected
        if self.marked and row.number == self.marked:
            state |= QStyle.StateFlag.State_MouseOver
        paint_row_field(painter, option.rect.adjusted(8, 1, -8, -1), state)
        rect: QRect = option.rect.adjusted(16, 0, -16, 0)
        self._paint_pill(painter, rect, row)
        side = theme.px(16)
        spot = QRect(rect.right() - side + 1, rect.top() + theme.px(6), side, side)
        paint_icon(painter, spot, *choose_mark(row))
        text = QRect(rect.left() + theme.px(32), rect.top() + theme.px(3), 0, theme.px(20))
        text.setRight(spot.left() - 8)
        painter.setFont(theme.font("ui", weight=500))
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, text, one_line(row.title))
        text.translate(0, theme.px(19))
        text.setRight(rect.right())
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.secondary"))
        detail = elide_path(
            describe_place(row), one_line(row.path), QFontMetrics(painter.font()), text.width()
        )
        paint_text(painter, text, from_left(detail))
        painter.restore()

    def _paint_pill(self, painter: QPainter, rect: QRect, row: "Source") -> None:
        theme = Theme.current()
        pill = QRectF(rect.left(), rect.top() + theme.px(5), theme.px(22), theme.px(18))
        kind = "amber" if row.doubt else "accent"
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(f"{kind}.soft"))
        painter.drawRoundedRect(pill, theme.radius("sm"), theme.radius("sm"))
        painter.setFont(theme.font("label", numbers=True))
        painter.setPen(theme.color("amber.text" if row.doubt else "accent.soft_text"))
        text = "?" if row.number is None else str(row.number)
        draw_text(painter, pill, Qt.AlignmentFlag.AlignCenter, text)
