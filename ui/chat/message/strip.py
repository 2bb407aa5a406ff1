"""Two groups of tools on one line, or below each other where there is no room for that."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QAccessible, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget, QWidgetItem

from ui.chat.message.roles import Part
from ui.theme import Theme
from ui.widgets.scaled import Scaled

__all__ = ["ToolStrip"]


class ToolStrip(Scaled, Part):
    """The strip; `lines_changed` when it takes another number of lines.

    Args:
        role: as `Part`.
        row: the height of a line.
        margins: left and right of it.
        spacing: between two tools.
    """

    lines_changed = Signal()

    def __init__(
        self, role: QAccessible.Role, row: int, margins: tuple[int, int], spacing: int
    ) -> None:
        super().__init__(role)
        self.lines = 1
        self._row = row
        self._outer = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._outer.setContentsMargins(margins[0], 0, margins[1], 0)
        self._outer.setSpacing(0)
        self._spacing = spacing
        self._first, self._second = QHBoxLayout(), QHBoxLayout()
        for group in (self._first, self._second):
            group.setSpacing(spacing)
        self._fit()

    def fill(
        self, first: Sequence[QWidget], second: Sequence[QWidget], growing: QWidget | None
    ) -> None:
        """Put in the tools; `growing` takes what is left of its line, None leaves it between."""
        for group, widgets in ((self._first, first), (self._second, second)):
            for widget in widgets:
                group.addWidget(widget, 1 if widget is growing else 0)
        self._first.setContentsMargins(0, 0, self._spacing, 0)
        self._outer.addLayout(self._first)
        if growing is None:
            self._outer.addStretch(1)
        self._outer.addLayout(self._second, 1 if growing in second else 0)

    def event(self, event: QEvent) -> bool:
        """Follow tools that come and go."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the line anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        lines = 2 if self._is_tight() else 1
        self._outer.setDirection(across if lines == 1 else down)
        height = lines * Theme.current().px(self._row)
        if self.height() != height or self.minimumHeight() != height:
            self.setFixedHeight(height)
        if lines != self.lines:
            self.lines = lines
            self.lines_changed.emit()

    def _is_tight(self) -> bool:
        widths = [_least_width(group) for group in (self._first, self._second)]
        margins = self._outer.contentsMargins()
        room = self.width() - margins.left() - margins.right()
        return min(widths) > 0 and sum(widths) + self._spacing > room > 0


def _least_width(group: QHBoxLayout) -> int:
    items = [group.itemAt(place) for place in range(group.count())]
    shown = [item for item in items if isinstance(item, QWidgetItem) and not item.isEmpty()]
    spaces = max(0, len(shown) - 1) * group.spacing()
    return sum(item.minimumSize().width() for item in shown) + spaces
