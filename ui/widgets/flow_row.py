"""A row of widgets that wraps onto as many lines as it needs."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from ui.theme import Theme
from ui.widgets.geometry import Scaled

__all__ = ["FlowRow"]

_GAP = 6
_LINE = 24
_MOST = 16_777_215  # Qt's limit for a size


class FlowRow(Scaled, QScrollArea):
    """A row of widgets that wraps onto several lines, and scrolls if there are too many lines.

    Args:
        most_lines: the maximum number of lines that are visible without scrolling.
        parent: the Qt parent.
    """

    def __init__(self, most_lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most_lines = most_lines
        self._shown: list[QWidget] = []
        self._line_height = _LINE
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._inner = QWidget()
        self.setWidget(self._inner)
        for ground in (
            self.viewport(),
            self._inner,
        ):  # let the background show through
            ground.setAutoFillBackground(False)
        self._inner.installEventFilter(self)
        self._fit()

    def set_line_height(self, height: int) -> None:
        """Set the greatest height of a line, in pixels at the normal font scale."""
        self._line_height = height

    def show_widgets(self, widgets: Sequence[QWidget]) -> None:
        """Show widgets in the given order, and scroll to one that is added behind others.

        Previous widgets that are no longer shown are deleted.
        """
        old, new = self._shown, list(widgets)
        for widget in old:
            if widget not in new:
                widget.hide()
                widget.deleteLater()
        self._shown = new
        before: QWidget | None = None
        for widget in self._shown:
            widget.setParent(self._inner)
            widget.installEventFilter(self)
            widget.show()
            if before is not None:
                QWidget.setTabOrder(before, widget)
            before = widget
        self._fit()
        added = [widget for widget in new if widget not in old]
        if added and len(added) < len(new):
            self._reveal(added[-1])

    def shown(self) -> list[QWidget]:
        """Return the widgets in the order in which they are shown."""
        return list(self._shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the widgets again for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wrap the widgets again when one changes its size, and scroll to one that is focused."""
        if watched is not self._inner:
            if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
                self._reveal(watched)
            return False
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        """Place the widgets. A line is taller than usual only if one of its widgets is."""
        width, px = self.viewport().width(), Theme.current().px
        top, ends = 0, [0]
        for line in self._list_lines(width):
            heights = [min(px(self._line_height), size.height()) for _, size in line]
            height = max([px(_LINE), *heights])
            self._place(line, QRect(0, top, width, height))
            top += height + _GAP
            ends.append(top - _GAP)
        self._inner.resize(width, ends[-1])
        wanted = ends[min(self._most_lines, len(ends) - 1)] or px(_LINE)
        if self.minimumHeight() != wanted or self.maximumHeight() != wanted:
            self.setFixedHeight(wanted)

    def _reveal(self, widget: QWidget) -> None:
        self.ensureWidgetVisible(widget, 0, 0)

    def _list_lines(self, width: int) -> list[list[tuple[QWidget, QSize]]]:
        """Split the widgets into lines of at most the given width, with the size of each."""
        lines: list[list[tuple[QWidget, QSize]]] = []
        used = width
        for widget in self._shown:
            size = widget.sizeHint().boundedTo(widget.maximumSize()).boundedTo(QSize(width, _MOST))
            if not lines or used + size.width() > width:
                lines.append([])
                used = 0
            lines[-1].append((widget, size))
            used += size.width() + _GAP
        return lines

    def _place(self, line: Sequence[tuple[QWidget, QSize]], area: QRect) -> None:
        """Place the widgets of a line side by side, each in the middle of the line's height."""
        left, usual = area.left(), Theme.current().px(_LINE)
        for widget, size in line:
            height = usual if area.height() == usual else min(area.height(), size.height())
            top = area.top() + (area.height() - height) // 2
            widget.setGeometry(QRect(left, top, size.width(), height))
            left += size.width() + _GAP
