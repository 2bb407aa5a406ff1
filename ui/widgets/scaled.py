"""What follows the font scale."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from ui.theme import Theme

__all__ = ["Scaled", "scale_size"]

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # only one of a widget's bases can be of Qt


class Scaled(_Widget):
    """Stands before a widget's class, and has `_fit` measure it anew for every font scale."""

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
    """The size of one widget; it goes with it."""

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
