"""The tree of layers with their segments, and the list of pins."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.icons import mirror_painter, paint_icon
from ui.panels.context.layer_rows import LayerRow, PartRow
from ui.theme import Theme, tokens
from ui.widgets.controls import draw_text
from ui.widgets.lists import ROW, Cell, FitTree, Index, paint_row_field, paint_text
from ui.widgets.rows_model import RowColumn, RowsModel
from ui.widgets.texts import from_left

__all__ = ["LayerTree", "PartTree", "PinList", "shorten_place"]

_SIDE = 16
_SHARE = 42
_BOLT = 68
_PIN = ("push-pin", "text.tertiary")
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class PartTree(FitTree):
    """A tree of the items in a request. The user can open an item's note, and pin an item.

    Signals:
        place_chosen: emitted when the user opens an item's note, with the note's path and the first
            and last line to show, or 0 and 0 for the whole note.
        pin_chosen: emitted when the user pins or unpins an item, with the item's ID and whether to
            pin it.
    """

    place_chosen = Signal(str, int, int)
    pin_chosen = Signal(str, bool)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._parts: Mapping[str, Sequence[PartRow]] = {}
        self._model: RowsModel[LayerRow | PartRow] = RowsModel(
            [RowColumn(_describe)], _name_row, self, below=self._list_below
        )
        self.setItemDelegate(_PartDelegate(self))
        self.setModel(self._model)
        self.setSelectionMode(FitTree.SelectionMode.NoSelection)
        self.chosen.connect(self._on_chosen)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pin or unpin an item if its pin icon is clicked. Pass other clicks to Qt."""
        spot = event.position().toPoint()
        row = self.indexAt(spot).data(ROW)
        if self._is_on_pin(spot) and isinstance(row, PartRow) and row.target:
            self.pin_chosen.emit(row.target, not row.is_pinned)
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pin or unpin the item in the current row when the key P is pressed."""
        row = self.currentIndex().data(ROW)
        if event.key() == Qt.Key.Key_P and isinstance(row, PartRow) and row.target:
            self.pin_chosen.emit(row.target, not row.is_pinned)
            return
        super().keyPressEvent(event)

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of an item: open its note, pin or unpin it, copy its name."""
        menu, row = super().build_menu(index), index.data(ROW)
        if not isinstance(row, PartRow):
            return menu
        if row.path:
            menu.addAction("Open the note\tEnter", lambda: self._open(row))
        if row.target:
            word = "Unpin" if row.is_pinned else "Pin: always send it word for word"
            pin = not row.is_pinned
            menu.addAction(f"{word}\tP", lambda: self.pin_chosen.emit(row.target, pin))
        menu.addAction("Copy the name", lambda: QGuiApplication.clipboard().setText(row.text))
        return menu

    def _list_below(self, row: LayerRow | PartRow) -> Sequence[PartRow]:
        return self._parts.get(row.code, ()) if isinstance(row, LayerRow) else ()

    def _is_on_pin(self, pos: QPoint) -> bool:
        width, is_mirrored = self.viewport().width(), self.isRightToLeft()
        x, right = width - 1 - pos.x() if is_mirrored else pos.x(), width - _SIDE
        return right - Theme.current().px(_SHARE) + 8 <= x <= right + 8

    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if isinstance(row, PartRow) and row.path:
            self._open(row)

    def _open(self, row: PartRow) -> None:
        first, last = row.lines or (0, 0)
        self.place_chosen.emit(row.path, first, last)


class LayerTree(PartTree):
    """The tree of a request's eight layers (kinds of content) and their items."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Layers", parent)
        codes = tokens()["layer_order"]
        self._model.set_rows([LayerRow(code, 0, "–", False, is_counted=False) for code in codes])

    def show_rows(self, layers: Sequence[LayerRow], parts: Mapping[str, Sequence[PartRow]]) -> None:
        """Update all rows. Expanded layers stay expanded.

        Args:
            layers: the rows of all eight layers, in request order.
            parts: the rows of each layer's items, by layer code.
        """
        self._parts = parts
        self._model.set_rows([*layers])

    def is_open(self, index: Index) -> bool:
        """Return whether a layer is expanded, so that its items are visible."""
        row = self._model.index(index.row(), 0)
        return self.isExpanded(row) and self._model.hasChildren(row)


class PinList(PartTree):
    """The list of items that the user has pinned in the chat."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Pinned", parent)

    def show_rows(self, rows: Sequence[PartRow]) -> None:
        """Replace the rows of the pinned items."""
        self._model.set_rows(rows)


def _describe(row: LayerRow | PartRow) -> Cell:
    if isinstance(row, LayerRow):
        return Cell(row.code, row.tip, row.name, row)
    return Cell(row.text, row.tip or row.text, row.name, row)


def _name_row(row: LayerRow | PartRow) -> str:
    return row.code if isinstance(row, LayerRow) else row.target or row.text


class _PartDelegate(QStyledItemDelegate):
    """Draws the rows of layers (kinds of content), and the rows of their items."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row: 26 px for a layer, 22 px for an item, before scaling."""
        is_layer = isinstance(index.data(ROW), LayerRow)
        return QSize(0, Theme.current().px(26 if is_layer else 22))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the row of a layer or of an item."""
        row = index.data(ROW)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state & ~QStyle.StateFlag.State_Selected
        paint_row_field(painter, option.rect.adjusted(8, 0, -8, 0), state)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if isinstance(row, LayerRow):
            tree = self.parent()
            is_open = isinstance(tree, LayerTree) and tree.is_open(index)
            _paint_layer(painter, rect, row, is_open)
        else:
            hot = QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus
            _paint_part(painter, rect, row, bool(state & hot))
        painter.restore()


def _paint_layer(painter: QPainter, rect: QRect, row: LayerRow, is_open: bool) -> None:
    theme = Theme.current()
    tone = "text.primary" if row.tokens else "text.tertiary"
    arrow = _square(rect, 0, theme.px(12))
    paint_icon(painter, arrow, "caret-down" if is_open else "caret-right", "text.tertiary")
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(f"layer.{row.code}"))
    swatch = _square(rect, theme.px(18), theme.px(10))
    painter.drawRoundedRect(swatch, theme.radius("xs"), theme.radius("xs"))
    painter.setFont(theme.font("label"))
    painter.setPen(theme.color("text.secondary" if row.tokens else "text.tertiary"))
    code = rect.adjusted(theme.px(34), 0, 0, 0)
    draw_text(painter, code, Qt.AlignmentFlag.AlignVCenter, row.code)
    painter.setFont(theme.font("caption", numbers=True))
    painter.setPen(theme.color("text.secondary" if row.tokens else "text.tertiary"))
    draw_text(painter, rect, _RIGHT, row.share)
    kind = "ui_strong" if row.is_over else "ui"
    rest = _paint_figure(painter, rect, row.figure, "danger.text" if row.is_over else tone, kind)
    bolt = _square(rect, 0, theme.px(14))
    bolt.moveRight(rect.right() - theme.px(_SHARE + _BOLT))
    if row.is_reused:
        paint_icon(painter, bolt, "lightning", "success.graphic")
    rest.setRight(min(rest.right(), bolt.left() - 4))
    rest.setLeft(rect.left() + theme.px(60))
    painter.setFont(theme.font("ui"))
    painter.setPen(theme.color(tone))
    paint_text(painter, rest, row.title)


def _paint_part(painter: QPainter, rect: QRect, row: PartRow, is_hot: bool) -> None:
    theme = Theme.current()
    rest = _paint_figure(painter, rect, row.figure, "text.secondary", "caption")
    rest.setLeft(rect.left() + theme.px(60))
    if row.is_pinned or (is_hot and row.target):
        pin = _square(rect, 0, theme.px(14))
        pin.moveRight(rect.right())
        glyph = ("push-pin-fill", "text.secondary") if row.is_pinned else _PIN
        paint_icon(painter, pin, *glyph)
    painter.setFont(theme.font("caption", numbers=True))
    width = QFontMetrics(painter.font()).horizontalAdvance
    text = row.text
    if row.beside:
        whole = width(text) + 8
        beside = next((b for b in row.beside if whole + width(b) <= rest.width()), row.beside[-1])
        painter.setPen(theme.color("text.tertiary"))
        draw_text(painter, rest, _RIGHT, beside)
        rest.setRight(rest.right() - width(beside) - 8)
    painter.setPen(theme.color("text.secondary"))
    paint_text(painter, rest, shorten_place(text, width, rest.width()))


def shorten_place(text: str, width: Callable[[str], int], room: int) -> str:
    """Shorten a path with line or page numbers to fit a width. The folder is removed first.

    The numbers are always kept. The result is laid out left to right, even if it starts with a name
    in a right-to-left script.

    Args:
        text: the path with its numbers.
        width: returns the width of a text in pixels.
        room: the available width in pixels.
    """
    return from_left(_shorten_place(text, width, room))


def _shorten_place(text: str, width: Callable[[str], int], room: int) -> str:
    name = text.rpartition("/")[2]
    if width(text) <= room or width(name) <= room:
        return text if width(text) <= room else name
    note, comma, lines = name.rpartition(", ")
    if not lines.startswith(("line", "page")):
        note, comma, lines = name, "", ""
    for letters in range(len(note) - 1, 1, -1):
        head, tail = note[: (letters + 1) // 2], note[len(note) - letters // 2 :]
        if width(shorter := f"{head}…{tail}{comma}{lines}") <= room:
            return shorter
    return f"{note[:1]}…{comma}{lines}"


def _paint_figure(painter: QPainter, rect: QRect, text: str, tone: str, kind: str) -> QRect:
    """Draw the token count of a row, and return the rectangle to the left of the count.

    Args:
        painter: the painter of the row.
        rect: the rectangle of the row.
        text: the formatted token count.
        tone: the name of the colour.
        kind: a type role of the design tokens, such as `caption`.
    """
    theme = Theme.current()
    column = rect.adjusted(0, 0, -theme.px(_SHARE), 0)
    painter.setFont(theme.font(kind, numbers=True))
    painter.setPen(theme.color(tone))
    draw_text(painter, column, _RIGHT, text)
    taken = QFontMetrics(painter.font()).horizontalAdvance(text)
    return column.adjusted(0, 0, -taken - 8, 0)


def _square(rect: QRect, x: int, side: int) -> QRect:
    return QRect(rect.left() + x, rect.top() + (rect.height() - side) // 2, side, side)
