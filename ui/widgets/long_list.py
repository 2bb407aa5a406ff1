"""Long lists with two lines in each row: a title and a detail.

A model returns `TwoLines` for the role `ROW`. They are created when the row becomes visible, so a
list with thousands of rows costs only the visible ones.
"""

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.icons import paint_icon
from ui.theme import Theme
from ui.widgets.controls import plain_tip
from ui.widgets.lists import ROW, Index, WithMenus, paint_row_field, paint_text

__all__ = ["LongList", "TwoLines"]

_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class TwoLines:
    """The appearance of a row with a title and a detail.

    Attributes:
        icon: the icon's name and colour token; `name` must include its meaning.
        mark: an icon and a word at the right of the title, such as a link icon and "linked".
        name: the text for screen readers; made from the other texts if empty.
    """

    title: str
    detail: str
    icon: tuple[str, str]
    mark: tuple[str, str] = ("", "")
    name: str = ""

    def data(self, role: int) -> object:
        """Return the row's data for a Qt item role."""
        if role == ROW:
            return self
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{self.title}\n{self.detail}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = (self.title, self.mark[1], self.detail)
            return self.name or ", ".join(filter(None, said))
        return None


class LongList(WithMenus, QListView):
    """A list view of `TwoLines` rows with its own scroll bar.

    `chosen` carries the index that was clicked or activated with Enter or Space. `menu_wanted`
    carries an index and the context menu to fill.
    """

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
        self.clicked.connect(self.chosen)

    def minimumSizeHint(self) -> QSize:
        """Return the height of two and a half rows, so that users see that there are more."""
        return QSize(0, round(2.5 * Theme.current().px(44)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Treat Enter and Space like a click."""
        if event.key() in _KEYS and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class _TwoLinesDelegate(QStyledItemDelegate):
    """Draws a `TwoLines`: icon, title and mark, and below them the detail."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row of two lines."""
        return QSize(0, Theme.current().px(44))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        theme, row = Theme.current(), index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state: QStyle.StateFlag = option.state & ~QStyle.StateFlag.State_Selected
        paint_row_field(painter, option.rect.adjusted(8, 1, -8, -1), state)
        rect: QRect = option.rect.adjusted(16, 0, -16, 0)
        side = theme.px(16)
        paint_icon(painter, QRect(rect.left(), rect.top() + theme.px(6), side, side), *row.icon)
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


def _paint_mark(painter: QPainter, rect: QRect, mark: tuple[str, str]) -> int:
    """Draw the mark at the right, and return the x position of its left edge."""
    icon, word = mark
    if not word:
        return rect.right()
    theme, font = Theme.current(), Theme.current().font("caption")
    side = theme.px(14)
    left = rect.right() - QFontMetrics(font).horizontalAdvance(word)
    painter.setFont(font)
    painter.setPen(theme.color("text.secondary"))
    line = QRect(left, rect.top() + theme.px(3), rect.right() - left + 1, theme.px(20))
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, word)
    left -= side + 4
    top = rect.top() + theme.px(3) + (theme.px(20) - side) // 2
    paint_icon(painter, QRect(left, top, side, side), icon, "text.secondary")
    return left
