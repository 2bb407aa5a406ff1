"""The eight layers as rows that never change places, each opening into what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.icons import paint_icon
from ui.kit.controls import one_line, plain_tip
from ui.kit.figures import count, place, share
from ui.kit.lists import ROW, FitTree, Index, paint_row_field, paint_text
from ui.theme import Theme, tokens

__all__ = ["LayerRow", "LayerTree", "PartRow", "layer_rows", "part_rows"]

_SIDE = 16
_SHARE = 42
_RIGHT = Qt.AlignmentFlag.AlignRight
_UNITS = {"T": "tool", "L1": "part", "L4": "turn", "E": "note"}
_STATES = {"compacted", "shrunk", "pinned"}


@dataclass(frozen=True)
class LayerRow:
    """One layer of a request."""

    code: str
    tokens: int
    share: str
    is_reused: bool

    @property
    def name(self) -> str:
        """What screen readers say."""
        reused = ", reused" if self.is_reused else ""
        part = self.share.replace("\N{NO-BREAK SPACE}%", " percent").replace("–", "nothing")
        title = tokens()["layer_name"][self.code]
        return f"{self.code} {title}, {count(self.tokens)} tokens, {part}{reused}"


@dataclass(frozen=True)
class PartRow:
    """One thing on a layer; `path` and `lines` say where it can be opened."""

    text: str
    tokens: int
    state: str = ""
    path: str = ""
    lines: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """What screen readers say."""
        return ", ".join(filter(None, (self.text, f"{count(self.tokens)} tokens", self.state)))


def layer_rows(context: Mapping[str, Any]) -> list[LayerRow]:
    """Return all eight layers in the order of the wire; their tokens add up to what is used."""
    rows = []
    for code in tokens()["layer_order"]:
        layer = context["layers"][code]
        ratio = share(layer["tokens"], context["budget"])
        rows.append(LayerRow(code, layer["tokens"], ratio, bool(layer["cached"])))
    return rows


def part_rows(context: Mapping[str, Any], code: str) -> list[PartRow]:
    """Return what a layer holds: its segments, or in one line how many things there are."""
    rows = [
        _segment_row(segment)
        for segment in context["segments"]
        if segment["layer"] == code and segment["state"] != "dropped"
    ]
    layer = context["layers"][code]
    if not rows and layer["tokens"] > 0:
        unit = _UNITS.get(code, "message")
        items = layer["items"]
        rows.append(
            PartRow(f"{count(items)} {unit if items == 1 else unit + 's'}", layer["tokens"])
        )
    return rows


class LayerTree(FitTree):
    """The rows of the panel; `place_chosen` carries path and lines of a segment."""

    place_chosen = Signal(str, int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Layers", parent)
        self._model = QStandardItemModel(self)
        for code in tokens()["layer_order"]:
            item = QStandardItem(code)
            item.setData(LayerRow(code, 0, "–", False), ROW)
            self._model.appendRow(item)
        self.setItemDelegate(_LayerDelegate(self))
        self.setModel(self._model)
        self.setSelectionMode(FitTree.SelectionMode.NoSelection)
        self.chosen.connect(self._on_chosen)

    def show_context(self, context: Mapping[str, Any]) -> None:
        """Put new figures into the rows; what is open stays open."""
        for at, row in enumerate(layer_rows(context)):
            item = self._model.item(at)
            item.setData(row, ROW)
            item.setData(row.name, Qt.ItemDataRole.AccessibleTextRole)
            self._show_parts(item, part_rows(context, row.code))
        self.fit()

    def is_open(self, index: Index) -> bool:
        """Return whether a layer's parts are shown."""
        return self.isExpanded(self._model.index(index.row(), 0))

    def _show_parts(self, item: QStandardItem, parts: list[PartRow]) -> None:
        if [item.child(n).data(ROW) for n in range(item.rowCount())] == parts:
            return
        item.removeRows(0, item.rowCount())
        for part in parts:
            child = QStandardItem(part.text)
            child.setData(part, ROW)
            child.setData(part.name, Qt.ItemDataRole.AccessibleTextRole)
            child.setData(plain_tip(part.text), Qt.ItemDataRole.ToolTipRole)
            item.appendRow(child)

    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if isinstance(row, PartRow) and row.path:
            first, last = row.lines or (0, 0)
            self.place_chosen.emit(row.path, first, last)


class _LayerDelegate(QStyledItemDelegate):
    """Draws a layer: arrow, swatch, code, name, bolt, tokens, share; or a part of one."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return 26 for a layer, 22 for what is in it."""
        return QSize(0, Theme.current().px(22 if index.parent().isValid() else 26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        row = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state & ~QStyle.StateFlag.State_Selected
        paint_row_field(painter, option.rect.adjusted(8, 0, -8, 0), state)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if isinstance(row, LayerRow):
            tree = self.parent()
            is_open = isinstance(tree, LayerTree) and tree.is_open(index)
            self._paint_layer(painter, rect, row, is_open)
        else:
            self._paint_part(painter, rect, row)
        painter.restore()

    def _paint_layer(self, painter: QPainter, rect: QRect, row: LayerRow, is_open: bool) -> None:
        theme = Theme.current()
        tone = "text.primary" if row.tokens else "text.tertiary"
        arrow = _square(rect, 0, theme.px(12))
        paint_icon(painter, arrow, "caret-down" if is_open else "caret-right", "text.tertiary")
        swatch = _square(rect, theme.px(18), theme.px(10))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(f"layer.{row.code}"))
        painter.drawRoundedRect(swatch, theme.radius("xs"), theme.radius("xs"))
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("text.secondary" if row.tokens else "text.tertiary"))
        code = rect.adjusted(theme.px(34), 0, 0, 0)
        painter.drawText(code, Qt.AlignmentFlag.AlignVCenter, row.code)
        rest = _paint_figures(painter, rect, row.tokens, row.share, tone)
        bolt = _square(rect, 0, theme.px(14))
        bolt.moveRight(rect.right() - theme.px(_SHARE + 68))
        if row.is_reused:
            paint_icon(painter, bolt, "lightning", "success.graphic")
        rest.setRight(min(rest.right(), bolt.left() - 4))
        rest.setLeft(rect.left() + theme.px(60))
        painter.setFont(theme.font("ui"))
        painter.setPen(theme.color(tone))
        paint_text(painter, rest, tokens()["layer_name"][row.code])

    def _paint_part(self, painter: QPainter, rect: QRect, row: PartRow) -> None:
        theme = Theme.current()
        rest = _paint_figures(painter, rect, row.tokens, "", "text.secondary", "caption")
        rest.setLeft(rect.left() + theme.px(50))
        painter.setFont(theme.font("caption"))
        if row.state:
            painter.setPen(theme.color("text.tertiary"))
            painter.drawText(rest, _RIGHT | Qt.AlignmentFlag.AlignVCenter, row.state)
            rest.setRight(
                rest.right() - QFontMetrics(painter.font()).horizontalAdvance(row.state) - 8
            )
        painter.setPen(theme.color("text.secondary"))
        fits = QFontMetrics(painter.font()).horizontalAdvance(row.text) <= rest.width()
        text = row.text if fits else row.text.rpartition("/")[2]
        paint_text(painter, rest, text, Qt.TextElideMode.ElideMiddle)


def _paint_figures(
    painter: QPainter, rect: QRect, amount: int, ratio: str, tone: str, kind: str = "ui"
) -> QRect:
    """Draw tokens and share in their columns and return what is left of the row."""
    theme = Theme.current()
    painter.setFont(theme.font("caption", numbers=True))
    painter.setPen(theme.color("text.tertiary"))
    painter.drawText(rect, _RIGHT | Qt.AlignmentFlag.AlignVCenter, ratio)
    column = rect.adjusted(0, 0, -theme.px(_SHARE), 0)
    painter.setFont(theme.font(kind, numbers=True))
    painter.setPen(theme.color(tone))
    text = count(amount)
    painter.drawText(column, _RIGHT | Qt.AlignmentFlag.AlignVCenter, text)
    return column.adjusted(0, 0, -QFontMetrics(painter.font()).horizontalAdvance(text) - 8, 0)


def _segment_row(segment: Mapping[str, Any]) -> PartRow:
    lines = segment["lines"]
    source = one_line(segment["source"] or segment["kind"])
    text = place(source, lines)
    state = segment["state"] if segment["state"] in _STATES else ""
    spot = (lines[0], lines[1]) if lines else None
    return PartRow(text, segment["tokens"], state, segment["source"] or "", spot)


def _square(rect: QRect, x: int, side: int) -> QRect:
    return QRect(rect.left() + x, rect.top() + (rect.height() - side) // 2, side, side)
