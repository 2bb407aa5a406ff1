"""A row of widgets that wraps onto as many lines as it needs."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from ui.theme import Theme
from ui.widgets.geometry import Scaled

__all__ = ["FlowRow"]

_GAP = 6
_LINE = 24


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
        """Set the height of each line, in pixels at the normal font scale."""
        self._line_height = height

    def show_widgets(self, widgets: Sequence[QWidget]) -> None:
        """Show widgets in the given order. Delete previous widgets that are no longer shown."""
        for widget in self._shown:
            if widget not in widgets:
                widget.hide()
                widget.deleteLater()
        self._shown = list(widgets)
        before: QWidget | None = None
        for widget in self._shown:
            widget.setParent(self._inner)
            widget.show()
            if before is not None:
                QWidget.setTabOrder(before, widget)
            before = widget
        self._fit()

    def shown(self) -> list[QWidget]:
        """Return the widgets in the order in which they are shown."""
        return list(self._shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the widgets again for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wrap the widgets again when one of them changes its size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return False

    def _fit(self) -> None:
        width, line = self.viewport().width(), Theme.current().px(self._line_height)
        spot, lines = QPoint(0, 0), 1
        for widget in self._shown:
            size = widget.sizeHint().boundedTo(widget.maximumSize())
            taken = min(size.width(), width)
            if spot.x() and spot.x() + taken > width:
                spot = QPoint(0, spot.y() + line + _GAP)
                lines += 1
            high = line if self._line_height == _LINE else min(line, size.height())
            widget.setGeometry(QRect(spot.x(), spot.y() + (line - high) // 2, taken, high))
            spot.setX(spot.x() + taken + _GAP)
        height = lines * (line + _GAP) - _GAP
        self._inner.resize(width, height)
        most = self._most_lines * (line + _GAP) - _GAP
        wanted = min(height, most)
        if self.minimumHeight() != wanted or self.maximumHeight() != wanted:
            self.setFixedHeight(wanted)
