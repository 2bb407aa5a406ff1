"""The desktop in tests: it keeps what it is asked to open."""

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

__all__ = ["Desktop"]


class Desktop(QObject):
    """Takes the files that the window has the desktop open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        QDesktopServices.setUrlHandler("file", self, "open")

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())
