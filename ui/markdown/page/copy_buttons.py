"""The buttons that copy a block of code; they are always seen."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRectF, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from ui.widgets.controls import IconButton

__all__ = ["CopyButtons"]

_SIZE = 24
_FROM_EDGE = 8
_SHOWN_MS = 1500


class CopyButtons:
    """One button in the head of each code block of a view.

    Args:
        parent: what the buttons lie on.
        text_of: gives the code of a block by its place among the blocks.
    """

    def __init__(self, parent: QWidget, text_of: Callable[[int], str]) -> None:
        self._parent = parent
        self._text_of = text_of
        self._buttons: list[IconButton] = []

    def place(self, panels: Sequence[QRectF]) -> None:
        """Show a button in the head of each background, and none elsewhere."""
        while len(self._buttons) < len(panels):
            self._buttons.append(self._make(len(self._buttons)))
        for button, rect in zip(self._buttons, panels, strict=False):
            x = round(rect.right()) - button.width() - _FROM_EDGE
            spot = QPoint(x, round(rect.top()) + _FROM_EDGE - 2)
            if button.pos() != spot or button.isHidden():
                button.move(spot)
                button.show()
        for button in self._buttons[len(panels) :]:
            button.hide()

    def _make(self, index: int) -> IconButton:
        made = IconButton("copy", "Copy code", size=_SIZE)
        made.setParent(self._parent)
        made.clicked.connect(lambda _checked=False: self._copy(index))
        return made

    def _copy(self, index: int) -> None:
        QGuiApplication.clipboard().setText(self._text_of(index))
        button = self._buttons[index]
        button.set_icon("check", "success.graphic")
        QTimer.singleShot(_SHOWN_MS, button, lambda: button.set_icon("copy"))
