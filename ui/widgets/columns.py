"""The window's three columns, which adapt to its width.

If the window is narrower than the first breakpoint, the right column is closed and can be opened as
a drawer over the chat. If it is narrower than the second one, the sidebar becomes a rail of icons
and can be opened as a drawer too. The user's choices for a wide window are remembered and apply
again when the window is wide enough.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QWidget
from shiboken6 import isValid

from ui.theme import Theme, redress
from ui.widgets.layouts import make_row
from ui.widgets.surfaces import Hairline, Pane

__all__ = ["Columns"]


class Columns(QWidget):
    """The window's columns: sidebar or rail, middle, and right column.

    The signal `changed` is emitted when a column is shown or hidden, or the layout is updated.

    Attributes:
        splitter: the parent of the columns. Qt restyles everything below a widget that gets another
            parent, so the columns are created with this one.

    Args:
        parent: the parent widget.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.wants_sidebar = True
        self.wants_right = True
        self._drawers: list[_Drawer] = []
        self._came_from: QWidget | None = None
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self._edge = Hairline(is_vertical=True)
        self._row = make_row(margins=0, spacing=0, parent=self)

    def take(self, sidebar: QWidget, rail: QWidget, middle: QWidget, right: QWidget) -> None:
        """Lay out the columns.

        Args:
            sidebar: the left column of a wide window.
            rail: the narrow bar of icons that replaces the sidebar in a narrow window.
            middle: the column with the chat.
            right: the right column.
        """
        self._sidebar, self._rail, self._middle, self._right = sidebar, rail, middle, right
        self._widths: dict[QWidget, int | None] = {sidebar: None, right: None}
        for widget in (rail, self._edge, self.splitter):
            self._row.addWidget(widget)
        for widget in (sidebar, middle, right):
            self.splitter.addWidget(widget)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setCollapsible(1, False)
        self.splitter.splitterMoved.connect(self._on_moved)
        middle.installEventFilter(self)
        Theme.current().changed.connect(self._fit_limits)
        self.set_widths([])

    @property
    def is_right_docked(self) -> bool:
        """Whether the window is wide enough to dock the right column."""
        return self.width() >= self._breakpoint("right_drawer_below")

    @property
    def is_sidebar_docked(self) -> bool:
        """Whether the window is wide enough to dock the sidebar."""
        return self.width() >= self._breakpoint("sidebar_rail_below")

    @property
    def is_sidebar_shown(self) -> bool:
        """Whether the sidebar is visible, docked or as a drawer."""
        return self._sidebar.isVisibleTo(self)

    @property
    def is_right_shown(self) -> bool:
        """Whether the right column is visible, docked or as a drawer."""
        return self._right.isVisibleTo(self)

    def widths(self) -> list[int]:
        """Return the widths in pixels of the sidebar and of the right column, in this order."""
        return [self._chosen(self._sidebar), self._chosen(self._right)]

    def set_widths(self, widths: list[int]) -> None:
        """Set the widths in pixels of the sidebar and of the right column.

        Args:
            widths: the widths, as returned by `widths`. A missing width resets its column to the
                default.
        """
        for place, widget in enumerate((self._sidebar, self._right)):
            self._widths[widget] = widths[place] if place < len(widths) else None
        self._fit_limits()

    def toggle_sidebar(self) -> None:
        """Show or hide the sidebar, as a drawer if the window is too narrow to dock it."""
        if self.is_sidebar_docked:
            self.wants_sidebar = not self.wants_sidebar
            self.arrange()
        elif not self._close(self._sidebar):
            self._open(self._sidebar, Qt.Edge.LeftEdge)

    def toggle_right(self) -> None:
        """Show or hide the right column, as a drawer if the window is too narrow to dock it."""
        if self.is_right_docked:
            self.wants_right = not self.wants_right
            self.arrange()
        elif not self._close(self._right):
            self._open(self._right, Qt.Edge.RightEdge)

    def show_sidebar(self) -> None:
        """Show the sidebar if it is hidden."""
        if not self.is_sidebar_shown:
            self.toggle_sidebar()

    def show_right(self) -> None:
        """Show the right column if it is hidden."""
        if not self.is_right_shown:
            self.toggle_right()

    def close_drawer(self) -> bool:
        """Close the drawer that was opened last. Return False if no drawer is open."""
        if not self._drawers:
            return False
        return self._close(self._drawers[-1].content)

    def list_drawers(self) -> Sequence[QWidget]:
        """Return the drawers that are open."""
        return tuple(self._drawers)

    def arrange(self) -> None:
        """Lay out the columns for the current width of the window.

        A column for which the window is too narrow is hidden, and can be opened as a drawer.
        """
        if self.is_right_docked:
            self._dock(self._right, 2)
        if self.is_sidebar_docked:
            self._dock(self._sidebar, 0)
        has_sidebar = self.is_sidebar_docked and self.wants_sidebar
        has_right = self.is_right_docked and self.wants_right
        if not self._is_drawer(self._sidebar):
            self._sidebar.setVisible(has_sidebar)
        if not self._is_drawer(self._right):
            self._right.setVisible(has_right)
        is_rail = not self.is_sidebar_docked
        self._rail.setVisible(is_rail)
        self._edge.setVisible(is_rail)
        self._apply_widths(has_sidebar, has_right)
        self._place_drawers()
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out the columns again, because the window may have passed a breakpoint."""
        super().resizeEvent(event)
        self.arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the sidebar drawer when the middle column is clicked."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self._close(self._sidebar)
        return False

    def _on_moved(self) -> None:
        for widget in (self._sidebar, self._right):
            is_docked = widget.isVisible() and not self._is_drawer(widget)
            if is_docked and widget.width() != self._compute_width(widget):
                self._widths[widget] = widget.width()

    def _apply_widths(self, has_sidebar: bool, has_right: bool) -> None:
        left = self._compute_width(self._sidebar) if has_sidebar else 0
        right = self._compute_width(self._right) if has_right else 0
        total = self.splitter.width()
        sizes = {self._sidebar: left, self._middle: total - left - right, self._right: right}
        places = {self.splitter.indexOf(widget): width for widget, width in sizes.items()}
        self.splitter.setSizes([max(0, places[n]) for n in sorted(places) if n >= 0])

    def _fit_limits(self) -> None:
        for widget, name in ((self._sidebar, "sidebar"), (self._right, "right")):
            widget.setMinimumWidth(self._length(f"{name}.min"))
            widget.setMaximumWidth(self._length(f"{name}.max"))
        self._rail.setFixedWidth(self._length("sidebar.rail"))
        self._middle.setMinimumWidth(min(440, self._length("transcript.min")))

    def _compute_width(self, widget: QWidget) -> int:
        """Return the width that the user chose for a column, clamped to the allowed range."""
        return min(max(widget.minimumWidth(), self._chosen(widget)), widget.maximumWidth())

    def _chosen(self, widget: QWidget) -> int:
        name = "sidebar" if widget is self._sidebar else "right"
        return self._widths[widget] or self._length(f"{name}.default")

    def _is_drawer(self, widget: QWidget) -> bool:
        return any(drawer.content is widget for drawer in self._drawers)

    def _dock(self, widget: QWidget, place: int) -> None:
        self._close(widget)
        if widget.parent() is not self.splitter:
            self.splitter.insertWidget(min(place, self.splitter.count()), widget)
            redress(widget)

    def _open(self, widget: QWidget, edge: Qt.Edge) -> None:
        if not self._drawers:
            self._came_from = QApplication.focusWidget()
        drawer = _Drawer(self, widget, edge)
        redress(widget)
        self._drawers.append(drawer)
        self._place_drawers()
        drawer.show()
        drawer.raise_()
        widget.show()
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _close(self, widget: QWidget) -> bool:
        for drawer in self._drawers:
            if drawer.content is widget:
                self._drawers.remove(drawer)
                widget.hide()
                at = 0 if widget is self._sidebar else self.splitter.count()
                self.splitter.insertWidget(at, widget)
                redress(widget)
                drawer.hide()
                drawer.deleteLater()
                self._restore_focus()
                self.changed.emit()
                return True
        return False

    def _restore_focus(self) -> None:
        """Focus the widget that had the focus before the drawer was opened."""
        before, self._came_from = self._came_from, None
        is_there = before is not None and isValid(before) and before.isVisible()
        target = before if before is not None and is_there else self._middle
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_drawers(self) -> None:
        rail = self._rail.width() + 1 if not self.is_sidebar_docked else 0
        for drawer in self._drawers:
            room = self.width() - rail
            width = min(self._compute_width(drawer.content) + 1, room)
            left = rail if drawer.edge == Qt.Edge.LeftEdge else self.width() - width
            drawer.setGeometry(left, 0, width, self.height())

    def _length(self, name: str) -> int:
        theme = Theme.current()
        return theme.px(theme.value(f"layout.{name}"))

    def _breakpoint(self, name: str) -> int:
        theme = Theme.current()
        scale = theme.scale if theme.scale >= 1.5 else 1.0
        return int(theme.value(f"layout.breakpoints.{name}") * scale)


class _Drawer(Pane):
    """A column that is shown on top of the middle column. Its inner edge is a hairline."""

    def __init__(self, parent: QWidget, content: QWidget, edge: Qt.Edge) -> None:
        super().__init__("panel", parent)
        self.content, self.edge = content, edge
        parts = [content, Hairline(is_vertical=True)]
        make_row(
            *parts if edge == Qt.Edge.LeftEdge else reversed(parts),
            margins=0,
            spacing=0,
            parent=self,
        )
