"""The list "Left out of this request", with details below each row."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.icons import mirror_painter, paint_icon
from ui.panels.context.left_out import Detail, LeftOutRow
from ui.theme import Theme
from ui.widgets.controls import draw_text
from ui.widgets.lists import ROW, Cell, FitTree, Index, paint_row_field, paint_text
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.texts import from_left

__all__ = ["LeftOutList"]

_SIDE = 16
_CODE = 18
_WHAT = 42
_MIDDLE = Qt.TextElideMode.ElideMiddle


class LeftOutList(FitTree):
    """The list of items that a request omits or shortens. Rows with details can be expanded.

    Signals:
        place_chosen: emitted when the user opens a note, with its path and the first and last line
            to show, or 0 and 0 for the whole note.
        summary_chosen: emitted when the user opens a summary, with the ID of its log entry.
    """

    place_chosen = Signal(str, int, int)
    summary_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Left out of this request", parent)
        self._model: RowsModel[LeftOutRow | Detail] = RowsModel(
            [RowColumn(_describe)], _name_row, self, below=_list_below
        )
        self.setItemDelegate(_LeftOutDelegate(self))
        self.setModel(self._model)
        self.setSelectionMode(FitTree.SelectionMode.NoSelection)
        self.chosen.connect(self._on_chosen)

    def show_rows(self, rows: Sequence[LeftOutRow]) -> None:
        """Replace the listed items. Expanded rows stay expanded."""
        self._model.set_rows(rows)

    def is_open(self, index: Index) -> bool:
        """Return whether the row of an omitted item is expanded and shows its details."""
        return self.isExpanded(self._model.index(index.row(), 0))

    def _on_chosen(self, index: QModelIndex) -> None:
        detail = self._model.find_row(index)
        if isinstance(detail, Detail) and detail.summary:
            self.summary_chosen.emit(detail.summary)
        elif isinstance(detail, Detail) and detail.path:
            self.place_chosen.emit(detail.path, *(detail.lines or (0, 0)))


def _describe(row: LeftOutRow | Detail) -> Cell:
    if isinstance(row, Detail):
        return Cell(row.text, row.text, row.text, row)
    return Cell(row.what, f"{row.what}\n{row.reason}", row.name, row)


def _name_row(row: LeftOutRow | Detail) -> str:
    return row.text if isinstance(row, Detail) else row.what


def _list_below(row: LeftOutRow | Detail) -> Sequence[Detail]:
    return row.below if isinstance(row, LeftOutRow) else ()


class _LeftOutDelegate(QStyledItemDelegate):
    """Draws the rows of omitted items, and the detail lines below them.

    The first line of a row contains an arrow, the code of the layer, the item and the tokens. The
    second line explains why the item is omitted or shortened.
    """

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row: two lines for an omitted item, or one line for a detail."""
        line = Theme.current().line("caption") + 2
        is_detail = isinstance(index.data(ROW), Detail)
        return QSize(0, line + 4 if is_detail else 2 * line + 6)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the row of an omitted item, or a detail line."""
        row = index.data(ROW)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state & ~QStyle.StateFlag.State_Selected
        paint_row_field(painter, option.rect.adjusted(8, 0, -8, 0), state)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if isinstance(row, Detail):
            _paint_detail(painter, rect, row)
        else:
            tree = self.parent()
            is_open = isinstance(tree, LeftOutList) and tree.is_open(index)
            _paint_row(painter, rect, row, is_open)
        painter.restore()


def _paint_row(painter: QPainter, rect: QRect, row: LeftOutRow, is_open: bool) -> None:
    theme = Theme.current()
    line = theme.line("caption") + 2
    first = QRect(rect.left(), rect.top() + 3, rect.width(), line)
    if row.below:
        side = theme.px(12)
        arrow = QRect(first.left(), first.top() + (line - side) // 2, side, side)
        paint_icon(painter, arrow, "caret-down" if is_open else "caret-right", "text.tertiary")
    painter.setFont(theme.font("label"))
    painter.setPen(theme.color("text.secondary"))
    code = first.adjusted(theme.px(_CODE), 0, 0, 0)
    draw_text(painter, code, Qt.AlignmentFlag.AlignVCenter, row.layer)
    painter.setFont(theme.font("caption", numbers=True))
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    draw_text(painter, first, right, row.figure)
    taken = QFontMetrics(painter.font()).horizontalAdvance(row.figure) + 8
    first.setLeft(first.left() + theme.px(_WHAT))
    painter.setFont(theme.font("caption", weight=500))
    painter.setPen(theme.color("text.primary"))
    paint_text(painter, first.adjusted(0, 0, -taken, 0), from_left(row.what), _MIDDLE)
    first.translate(0, line)
    painter.setFont(theme.font("caption"))
    painter.setPen(theme.color("text.secondary"))
    paint_text(painter, first, row.reason)


def _paint_detail(painter: QPainter, rect: QRect, detail: Detail) -> None:
    theme = Theme.current()
    is_link = bool(detail.path or detail.summary)
    painter.setFont(theme.font("caption", numbers=True))
    painter.setPen(theme.color("text.link" if is_link else "text.tertiary"))
    mode = _MIDDLE if detail.path else Qt.TextElideMode.ElideRight
    paint_text(painter, rect.adjusted(theme.px(_WHAT), 0, 0, 0), detail.text, mode)
