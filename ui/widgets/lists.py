"""Lists and trees whose rows are drawn from `Row` values.

A Qt model describes a row by a `Cell`. Its value for the role `ROW`, such as a `Row`, is what the
delegate draws. Views are as tall as their
content, so that several of them can share one column without scroll bars of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from ui.icons import keep_upright, mirror_painter, paint_icon
from ui.theme import Theme, dress
from ui.widgets.controls import draw_text, escape_tooltip, paint_focus
from ui.widgets.menus import select_item, show_menu

__all__ = ["CELL_ROLES", "ROW", "Cell", "FitTree", "Row", "RowDelegate", "WithMenus", "elide_path"]

if TYPE_CHECKING:
    _View = QAbstractItemView
else:
    _View = object  # a widget can have only one base class of Qt
ROW = Qt.ItemDataRole.UserRole
_INSET = 8
_FIELD_PADDING = 8  # the padding and border of a compact field, and the space before its text
_STEP = 16
_SHORTEST_PATH = 6  # characters; a path that would be shorter is not worth its space
Index = QModelIndex | QPersistentModelIndex


class WithMenus(_View):
    """A mixin for list views that adds a context menu to each row.

    It must come before the view class in the list of base classes. The view must define the signal
    `menu_wanted`, which is emitted with the index of a row and a menu. Receivers add actions to it.
    """

    menu_wanted: ClassVar[Signal]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Leave the selection as it is when the right button opens the menu of another row.

        A selected row is the one that is open, so that Qt's own behaviour would show another.
        """
        if event.button() == Qt.MouseButton.RightButton:
            event.accept()
        else:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu of the clicked row, or of the current row if a key was pressed.

        If the row's menu is empty, nothing is shown.
        """
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if is_by_key else self.indexAt(event.pos())
        if not index.isValid():
            return
        menu = self.build_menu(index)
        below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        if menu.isEmpty():
            menu.deleteLater()
            return
        show_menu(menu, below if is_by_key else event.globalPos())
        if is_by_key:
            select_item(menu)

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Return a new context menu for a row, filled by the receivers of `menu_wanted`."""
        menu = QMenu(self)
        self.menu_wanted.emit(index, menu)
        return menu


@dataclass(frozen=True)
class Cell:
    """What a Qt model returns for a row in one column.

    Attributes:
        text: the text.
        tip: the tooltip as plain text, or an empty string for none.
        name: the text for screen readers, or an empty string if they read the text.
        drawn: the value that the delegate draws, such as a `Row`.
        edited: the text that the user edits, or None if it is the text.
        is_checked: whether the row is marked among the others.
        tone: the name of the colour of the text, or an empty string for the usual one.
    """

    text: str
    tip: str = ""
    name: str = ""
    drawn: object = None
    edited: str | None = None
    is_checked: bool = False
    tone: str = ""

    def data(self, role: int) -> object:
        """Return the value for a Qt item role."""
        answer = _ANSWERS.get(role)
        return None if answer is None else answer(self)


_ANSWERS: Mapping[int, Callable[[Cell], object]] = {
    ROW: lambda cell: cell.drawn,
    Qt.ItemDataRole.DisplayRole: lambda cell: cell.text,
    Qt.ItemDataRole.EditRole: lambda cell: cell.text if cell.edited is None else cell.edited,
    Qt.ItemDataRole.ToolTipRole: lambda cell: escape_tooltip(cell.tip) if cell.tip else None,
    Qt.ItemDataRole.AccessibleTextRole: lambda cell: cell.name or None,
    Qt.ItemDataRole.CheckStateRole: (
        lambda cell: Qt.CheckState.Checked if cell.is_checked else None
    ),
    Qt.ItemDataRole.ForegroundRole: (
        lambda cell: Theme.current().color(cell.tone) if cell.tone else None
    ),
}
CELL_ROLES = frozenset(_ANSWERS)


@dataclass(frozen=True)
class Row:
    """The content and appearance of one row in a list.

    Attributes:
        text: the main text.
        icon: the name of the icon, or an empty string.
        right: text at the right edge, usually a count.
        problem: a problem with the item, shown as the tooltip of a warning icon, or an empty
            string.
        tip: the tooltip. If it is empty, the row's text is the tooltip.
        name: the text for screen readers. If it is empty, the other texts are used.
        depth: the level of indentation, from 0.
        arrow: `open`, `closed`, or an empty string for a row without children.
        head: whether the row is a heading, which cannot be chosen.
        is_dim: whether the row is drawn dimmed.
        is_file: whether the text is a file name, which is laid out left to right in any script.
        is_lit: whether the row is news, so that its icon and the text at its right edge stand out.
    """

    text: str
    icon: str = ""
    right: str = ""
    problem: str = ""
    tip: str = ""
    name: str = ""
    depth: int = 0
    arrow: str = ""
    head: bool = False
    is_dim: bool = False
    is_file: bool = False
    is_lit: bool = False

    @property
    def cell(self) -> Cell:
        """The row as a Qt model describes it."""
        name = self.name or ", ".join(filter(None, (self.text, self.right, self.problem)))
        return Cell(self.text, self.problem or self.tip or self.text, name, self)


class RowDelegate(QStyledItemDelegate):
    """Draws a `Row`: icon, text and count, with a rounded background for hover and selection."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the fixed height of a row."""
        return QSize(0, Theme.current().px(28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row of a list."""
        row = index.data(ROW)
        rect: QRect = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        mirror_painter(painter, option.rect, option.direction)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.head:
            self._paint_head(painter, rect, row)
        else:
            self._paint_row(painter, rect, row, option)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Create a field in which the user edits the text of a row."""
        made = QLineEdit(parent)  # Qt's own field would grow over the edge of the row
        made.setProperty("compact", True)
        dress(made, "ui")
        return made

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Place the field so that its text stands where the text of the row stood."""
        row: Row = index.data(ROW)
        rect: QRect = option.rect.adjusted(_INSET, 2, -_INSET, -2)
        before = _INSET + row.depth * _STEP
        if row.arrow or row.icon:
            before += Theme.current().px(16) + 8
        left = before - _FIELD_PADDING
        rect.adjust(left, 0, 0, 0)
        if option.direction == Qt.LayoutDirection.RightToLeft:
            rect.translate(-left, 0)
        editor.setGeometry(rect)

    def _paint_head(self, painter: QPainter, rect: QRect, row: Row) -> None:
        theme = Theme.current()
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        place = rect.adjusted(_INSET, 4, -_INSET, 0)
        paint_text(painter, place, row.text)

    def _paint_row(
        self, painter: QPainter, rect: QRect, row: Row, option: QStyleOptionViewItem
    ) -> None:
        theme = Theme.current()
        state: QStyle.StateFlag = option.state
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        paint_row_field(painter, rect, state)
        inner = rect.adjusted(_INSET + row.depth * _STEP, 0, -_INSET, 0)
        if row.arrow or row.icon:
            side = theme.px(16)
            spot = QRect(inner.left(), inner.top() + (inner.height() - side) // 2, side, side)
            paint_icon(painter, spot, *_mark(row, is_chosen))
            inner.setLeft(inner.left() + side + 8)
        inner = self._paint_right(painter, inner, row)
        painter.setFont(theme.font("ui_strong" if is_chosen else "ui"))
        painter.setPen(theme.color("text.tertiary" if row.is_dim else "text.primary"))
        ways = Qt.LayoutDirection
        direction = ways.LeftToRight if row.is_file else ways.LayoutDirectionAuto
        paint_text(painter, inner, row.text, direction=direction)

    def _paint_right(self, painter: QPainter, inner: QRect, row: Row) -> QRect:
        theme = Theme.current()
        if row.right:
            painter.setFont(theme.font("caption", numbers=True))
            painter.setPen(theme.color("text.link" if row.is_lit else "text.tertiary"))
            draw_text(
                painter,
                inner,
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                row.right,
            )
            width = QFontMetrics(painter.font()).horizontalAdvance(row.right)
            inner = inner.adjusted(0, 0, -width - 8, 0)
        if row.problem:
            side = theme.px(14)
            top = inner.top() + (inner.height() - side) // 2
            spot = QRect(inner.right() - side, top, side, side)
            paint_icon(painter, spot, "warning", "amber.graphic")
            inner = inner.adjusted(0, 0, -side - 8, 0)
        return inner


class FitTree(WithMenus, QTreeView):
    """A tree view without header and branch lines that is as tall as its rows, up to a maximum.

    It has at most two levels of rows. Rows with children open and close on a click. The selected
    row is the one that is open elsewhere, so a click that only folds rows leaves it selected.

    Signals:
        chosen: the index of a row that was clicked, or activated with Enter or Space.
        menu_wanted: the index of a row and its empty context menu, which the receiver fills.
    """

    chosen = Signal(QModelIndex)
    menu_wanted = Signal(QModelIndex, QMenu)
    height_changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limit = 1 << 20
        self._drop_target: QPersistentModelIndex | None = None
        self.setDropIndicatorShown(False)
        self.setAccessibleName(name)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformRowHeights(False)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("surface", "clear")
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)
        self.expanded.connect(self.fit)
        self.collapsed.connect(self.fit)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Set the model, and fit the height to its rows whenever they change."""
        super().setModel(model)
        if model is not None:
            changes = model.modelReset, model.layoutChanged, model.rowsInserted, model.rowsRemoved
            for signal in changes:
                signal.connect(self.fit)
        self.fit()

    def selectionCommand(
        self, index: Index, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Return how a row that becomes the current one changes the selection."""
        if isinstance(event, QMouseEvent) and self.is_fold(index):
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)

    def is_fold(self, index: Index) -> bool:
        """Return whether a click at a row only shows or hides others, or opens its menu."""
        return False

    def mark(self, index: QModelIndex) -> None:
        """Select a row, or none if the index is invalid. The current row stays the current one."""
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(index, flags.ClearAndSelect | flags.Rows)

    def set_limit(self, height: int) -> None:
        """Set the maximum height in pixels, above which the content scrolls."""
        self._limit = height
        self.fit()

    def measure_content(self) -> int:
        """Return the total height of the rows in pixels, without those inside collapsed rows.

        Rows with the same parent have the same height, so that one of them is measured for all: a
        key press would otherwise measure each of ten thousand rows.
        """
        model = self.model()
        total = self._height_inside(QModelIndex())
        for at in range(model.rowCount() if model is not None else 0):
            if total > self._limit:
                break
            if self.isExpanded(index := model.index(at, 0)):
                total += self._height_inside(index)
        return total

    def _height_inside(self, parent: QModelIndex) -> int:
        model = self.model()
        rows = model.rowCount(parent) if model is not None else 0
        if rows == 0:
            return 0
        first = model.index(0, 0, parent)
        return rows * self.itemDelegate().sizeHint(QStyleOptionViewItem(), first).height()

    def fit(self) -> None:
        """Set the view's height to the height of its content, up to the maximum height."""
        height = min(self.measure_content(), self._limit)
        if height != self.minimumHeight() or height != self.maximumHeight():
            self.setFixedHeight(height)
            self.height_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Update the view's height when the font scale changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.scheduleDelayedItemsLayout()
            self.fit()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Mark the row on which something may be dropped."""
        super().dragMoveEvent(event)
        self._mark_target(self.indexAt(event.position().toPoint()) if event.isAccepted() else None)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Mark no row any more."""
        super().dragLeaveEvent(event)
        self._mark_target(None)

    def dropEvent(self, event: QDropEvent) -> None:
        """Drop on the row under the pointer, also at its edges. Qt would drop between two rows."""
        self._mark_target(None)
        index = self.indexAt(event.position().toPoint())
        if not index.isValid():
            super().dropEvent(event)
            return
        spot, actions, data = (
            self.visualRect(index).center(),
            event.possibleActions(),
            event.mimeData(),
        )
        moved = QDropEvent(QPointF(spot), actions, data, event.buttons(), event.modifiers())
        moved.setDropAction(event.dropAction())
        super().dropEvent(moved)
        event.setDropAction(moved.dropAction())
        event.setAccepted(moved.isAccepted())

    def _mark_target(self, index: QModelIndex | None) -> None:
        is_none = index is None or not index.isValid()
        self._drop_target = None if index is None or is_none else QPersistentModelIndex(index)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, and a ring around the one on which something may be dropped."""
        super().paintEvent(event)
        if self._drop_target is not None and self._drop_target.isValid():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            rect = self.visualRect(self._drop_target)
            paint_focus(painter, rect.adjusted(_INSET, 0, -_INSET, 0))
            painter.end()

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw nothing, because the delegate draws the arrow."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Treat Enter and Space as a click on the current row, and expand it when `*` is pressed.

        Qt would expand each row inside it too, although those have no children.
        """
        index = self.currentIndex()
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.key() in keys and index.isValid():
            self._on_clicked(index)
            return
        if event.key() == Qt.Key.Key_Asterisk:
            self.expand(index)
            return
        super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        # Not `hasChildren`, which is private in `QAbstractListModel`.
        if self.model().rowCount(index) > 0:
            self.setExpanded(index, not self.isExpanded(index))
        self.chosen.emit(index)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        """Choose a row without children again, because the second press has taken the focus."""
        if self.model().rowCount(index) == 0:
            self.chosen.emit(index)


def paint_row_field(painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
    """Draw the highlight of a selected or hovered row, and the focus ring of a focused row."""
    theme = Theme.current()
    radius = theme.radius("md")
    painter.setPen(Qt.PenStyle.NoPen)
    if state & QStyle.StateFlag.State_Selected:
        painter.setBrush(theme.color("bg.selected"))
        painter.drawRoundedRect(rect, radius, radius)
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.setBrush(theme.color("bg.hover"))
        painter.drawRoundedRect(rect, radius, radius)
    if state & QStyle.StateFlag.State_HasFocus:
        paint_focus(painter, rect)


def paint_text(
    painter: QPainter,
    rect: QRect,
    text: str,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    direction: Qt.LayoutDirection = Qt.LayoutDirection.LayoutDirectionAuto,
) -> str:
    """Draw a line of text, elided if it is too long. Return the visible text.

    Args:
        painter: the painter of the widget.
        rect: the space for the text.
        mode: where to elide the text.
        direction: the text direction. By default, it depends on the first letter, and the text is
            aligned to the left, or to the right if the painter is mirrored. With an explicit
            right-to-left direction, it is aligned to the right.
    """
    shown = QFontMetrics(painter.font()).elidedText(text, mode, rect.width())
    flags = Qt.AlignmentFlag
    with keep_upright(painter, rect) as is_mirrored:
        painter.setLayoutDirection(direction)
        start = flags.AlignRight if is_mirrored else flags.AlignLeft
        painter.drawText(rect, start | flags.AlignVCenter, shown)
    return shown


def elide_path(text: str, path: str, metrics: QFontMetrics, width: int) -> str:
    """Shorten a sentence that is too long, by eliding the beginning of the path in it.

    If the path would become too short, the middle of the whole sentence is elided instead.

    Args:
        text: a sentence such as `Guide/Search.md, line 12`.
        path: the path as it occurs in the sentence.
        metrics: the metrics of the font in which the sentence is drawn.
        width: the available width in pixels.
    """
    rest = metrics.horizontalAdvance(text.replace(path, "", 1))
    shown = metrics.elidedText(path, Qt.TextElideMode.ElideLeft, max(0, width - rest))
    if metrics.horizontalAdvance(text) <= width or len(shown) < _SHORTEST_PATH:
        return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)
    return text.replace(path, shown, 1)


def _mark(row: Row, is_chosen: bool) -> tuple[str, str]:
    if row.arrow:
        return ("caret-down" if row.arrow == "open" else "caret-right"), "text.tertiary"
    if is_chosen or (row.is_lit and not row.is_dim):
        return row.icon, "accent.base"
    return row.icon, "text.tertiary" if row.is_dim else "text.secondary"
