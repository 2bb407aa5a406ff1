"""Long lists whose rows have two lines: a title and a detail.

A Qt model returns a `TwoLines` for the role `ROW`. Each value is created only when its row becomes
visible, so a list with thousands of rows is as fast as a short one.
"""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from ui.icons import mirror_painter, paint_icon
from ui.theme import Theme
from ui.widgets.controls import draw_text, escape_tooltip
from ui.widgets.lists import ROW, Cell, Index, WithMenus, paint_row_field, paint_text

__all__ = ["LongList", "TwoLines", "find_act_rect"]

_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class TwoLines:
    """The content of a row with a title and a detail.

    Attributes:
        title: the text of the first line.
        detail: the text of the second line.
        icon: the names of the icon and of its colour. `name` must say what the icon means.
        mark: the name of an icon and a word, shown to the right of the title, such as "linked".
        act: the icon and the name of an action on the row, shown as a button at its right edge.
        name: the text for screen readers. If it is empty, the other texts are used.
        tip: a sentence for the tooltip and for screen readers, after the other texts.
    """

    title: str
    detail: str
    icon: tuple[str, str]
    mark: tuple[str, str] = ("", "")
    name: str = ""
    act: tuple[str, str] = ("", "")
    tip: str = ""

    @property
    def cell(self) -> Cell:
        """The row as a Qt model describes it."""
        tip = "\n".join(filter(None, (self.title, self.detail, self.tip)))
        texts = (self.title, self.mark[1], self.detail, self.tip)
        return Cell(self.title, tip, self.name or ", ".join(filter(None, texts)), self)


class LongList(WithMenus, QListView):
    """A list view of `TwoLines` rows with its own scroll bar.

    Signals:
        chosen: the index of a row that was clicked, or activated with Enter or Space.
        acted: the index of a row whose button was clicked, or that was activated with Ctrl+Enter.
        menu_wanted: the index of a row and its empty context menu, which the receiver fills.

    Args:
        name: the name of the list, for screen readers.
        parent: the parent widget.
    """

    acted = Signal(QModelIndex)
    chosen = Signal(QModelIndex)
    menu_wanted = Signal(QModelIndex, QMenu)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setItemDelegate(_TwoLinesDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._pressed = QPoint()
        self.clicked.connect(self._on_clicked)

    def minimumSizeHint(self) -> QSize:
        """Return the height of two and a half rows.

        The half row shows that there are more rows below.
        """
        return QSize(0, round(2.5 * Theme.current().px(44)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Treat Enter and Space as a click on the row, and Ctrl+Enter as a click on its button."""
        index = self.currentIndex()
        if event.key() not in _KEYS or not index.isValid():
            super().keyPressEvent(event)
        elif not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.chosen.emit(index)
        elif index.data(ROW).act[1]:
            self.acted.emit(index)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Store where the mouse was pressed: on a row or on its button."""
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the name of the action as a tooltip while the pointer is over a row's button."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.indexAt(event.pos())
            if self._is_on_button(index, event.pos()):
                QToolTip.showText(event.globalPos(), escape_tooltip(index.data(ROW).act[1]), self)
                return True
        return super().viewportEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        (self.acted if self._is_on_button(index, self._pressed) else self.chosen).emit(index)

    def _is_on_button(self, index: QModelIndex, spot: QPoint) -> bool:
        has_button = index.isValid() and bool(index.data(ROW).act[1])
        row = self.visualRect(index)
        shown = QStyle.visualRect(self.layoutDirection(), row, find_act_rect(row))
        return has_button and shown.contains(spot)


class _TwoLinesDelegate(QStyledItemDelegate):
    """Draws a `TwoLines`: icon, title and mark, with the detail below them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row of two lines."""
        return QSize(0, Theme.current().px(44))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row with its title and detail."""
        theme, row = Theme.current(), index.data(ROW)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state: QStyle.StateFlag = option.state & ~QStyle.StateFlag.State_Selected
        paint_row_field(painter, option.rect.adjusted(8, 1, -8, -1), state)
        rect: QRect = option.rect.adjusted(16, 0, -16, 0)
        side = theme.px(16)
        paint_icon(painter, QRect(rect.left(), rect.top() + theme.px(6), side, side), *row.icon)
        if row.act[1]:
            spot = find_act_rect(option.rect)
            is_hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
            inset = (spot.width() - side) // 2
            tone = "text.primary" if is_hovered else "text.tertiary"
            paint_icon(painter, spot.adjusted(inset, inset, -inset, -inset), row.act[0], tone)
            rect.setRight(spot.left() - 4)
        text = QRect(rect.left() + side + 8, rect.top() + theme.px(3), 0, theme.px(20))
        text.setRight(_paint_mark(painter, rect, row.mark) - 8)
        painter.setFont(theme.font("ui", weight=500))
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, text, row.title, Qt.TextElideMode.ElideMiddle)
        text.translate(0, theme.px(19))
        text.setRight(rect.right())
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.secondary"))
        paint_text(painter, text, row.detail)
        painter.restore()


def find_act_rect(rect: QRect) -> QRect:
    """Return the rectangle of a row's action button in a left-to-right layout.

    Args:
        rect: the rectangle of the row.
    """
    side = Theme.current().px(28)
    spot = QRect(0, 0, side, side)
    spot.moveCenter(QPoint(rect.right() - 12 - side // 2, rect.center().y()))
    return spot


def _paint_mark(painter: QPainter, rect: QRect, mark: tuple[str, str]) -> int:
    """Paint an icon and a word at the right edge of a row.

    Return the x coordinate of their left edge, or of the row's right edge if there is nothing to
    paint.

    Args:
        painter: the painter of the list.
        rect: the rectangle for the row's text.
        mark: the name of the icon, and the word.
    """
    icon, word = mark
    if not word:
        return rect.right()
    theme, font = Theme.current(), Theme.current().font("caption")
    side = theme.px(14)
    left = rect.right() - QFontMetrics(font).horizontalAdvance(word)
    painter.setFont(font)
    painter.setPen(theme.color("text.secondary"))
    line = QRect(left, rect.top() + theme.px(3), rect.right() - left + 1, theme.px(20))
    draw_text(painter, line, Qt.AlignmentFlag.AlignVCenter, word)
    left -= side + 4
    top = rect.top() + theme.px(3) + (theme.px(20) - side) // 2
    paint_icon(painter, QRect(left, top, side, side), icon, "text.secondary")
    return left
