"""Sizes that follow the font scale, the width of the text column, and scroll areas."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QWidget

from ui.theme import Theme

__all__ = [
    "OUTDENT",
    "Scaled",
    "clear_layout",
    "column_of",
    "make_scroll_area",
    "scale_size",
    "set_in",
]

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # only one of a widget's bases can be of Qt

OUTDENT = 16


class Scaled(_Widget):
    """A mixin that calls `_fit` when the font scale changes; list it before the widget's class."""

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _fit(self) -> None:
        """Take the sizes that things have now."""
        raise NotImplementedError


def scale_size(widget: QWidget, width: int = 0, height: int = 0) -> None:
    """Hold a widget at a width, a height or both, now and at every later font scale."""
    _Size(widget, width, height)


class _Size(QObject):
    """Keeps the size of one widget; deleted together with it."""

    def __init__(self, widget: QWidget, width: int, height: int) -> None:
        super().__init__(widget)
        self._widget, self._width, self._height = widget, width, height
        Theme.current().changed.connect(self._take)
        self._take()

    def _take(self) -> None:
        theme = Theme.current()
        if self._width:
            self._widget.setFixedWidth(theme.px(self._width))
        if self._height:
            self._widget.setFixedHeight(theme.px(self._height))


def column_of(width: int) -> tuple[int, int]:
    """Return where the column begins and how wide it is, with its outdent on both sides.

    Args:
        width: of the whole middle.
    """
    theme = Theme.current()
    gutter = int(theme.value("layout.transcript.gutter")) - OUTDENT
    measure = theme.px(theme.value("layout.transcript.measure")) + 2 * OUTDENT
    column = max(0, min(measure, width - 2 * gutter))
    return (width - column) // 2, column


def set_in(width: int) -> tuple[int, int]:
    """Return the margins left and right of the column."""
    left, column = column_of(width)
    return left, width - left - column


def clear_layout(layout: QLayout) -> None:
    """Remove and delete everything in a layout."""
    while (item := layout.takeAt(0)) is not None:
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()


def make_scroll_area(content: QWidget) -> QScrollArea:
    """Return an area in which content scrolls up and down, and is as wide as there is room."""
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidget(content)
    return scroll
