"""Drag notes, images and answers out of widgets: onto the composer, and to other programs."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

__all__ = ["MARKDOWN_TYPE", "DragSource", "pack_file", "pack_markdown", "pack_page"]

MARKDOWN_TYPE = "text/markdown"

# Returns what is dragged from a point of a widget, or None if nothing can be dragged there.
Pack = Callable[[QPoint], QMimeData | None]


class DragSource(QObject):
    """Begins a drag when the mouse is moved over a widget with the left button pressed.

    What is dragged is always copied: another program that moves a file would take it out of the
    vault.

    Args:
        widget: the widget, which for a list is its viewport.
        pack: returns what is dragged from a point of the widget.
    """

    def __init__(self, widget: QWidget, pack: Pack) -> None:
        super().__init__(widget)
        self._widget, self._pack = widget, pack
        self._pressed: QPoint | None = None
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember where the mouse was pressed, and begin the drag once it has moved far enough."""
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonPress:
            is_left = event.button() == Qt.MouseButton.LeftButton
            self._pressed = event.position().toPoint() if is_left else None
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._pressed = None
        elif event.type() == QEvent.Type.MouseMove and self._pressed is not None:
            return self._begin(event.position().toPoint())
        return False

    def _begin(self, spot: QPoint) -> bool:
        """Begin the drag. Return False if the mouse has hardly moved, or nothing can be dragged."""
        start = self._pressed
        if start is None or (spot - start).manhattanLength() < QApplication.startDragDistance():
            return False
        self._pressed = None
        data = self._pack(start)
        if data is None:
            return False
        drag = QDrag(self._widget)
        drag.setMimeData(data)
        drag.exec(Qt.DropAction.CopyAction)
        if isinstance(self._widget, QAbstractButton):
            self._widget.setDown(False)  # it gets no event of the release
        return True


def pack_file(file: Path) -> QMimeData:
    """Return a file, such as a note, as what is dragged."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    return data


def pack_page(address: str) -> QMimeData:
    """Return a web page as what is dragged."""
    data = QMimeData()
    data.setUrls([QUrl(address)])
    data.setText(address)
    return data


def pack_markdown(text: str) -> QMimeData:
    """Return Markdown as what is dragged. Programs that do not know Markdown get it as text."""
    data = QMimeData()
    data.setText(text)
    data.setData(MARKDOWN_TYPE, text.encode())
    return data
