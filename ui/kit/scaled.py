"""What follows the font scale."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget

__all__ = ["Scaled"]

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
