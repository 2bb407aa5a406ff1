"""The page that shows an image of the vault, fitted to the width of the note panel."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible, QBrush, QImage, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from ui.theme import Theme
from ui.widgets.formatting import count
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["ImagePage", "OpenImage"]

_MARGIN, _SQUARE = 20, 8


@dataclass(frozen=True)
class OpenImage:
    """An image that has been read from disk, to be shown in the note panel.

    Attributes:
        path: the path of the image, relative to the vault.
        version: the SHA-256 hash of the file, in hexadecimal.
        image: the decoded image, which may be smaller than the image in the file.
        own_size: the width and height of the image in the file, in pixels.
    """

    path: str
    version: str
    image: QImage
    own_size: tuple[int, int]

    @property
    def name(self) -> str:
        """The file name of the image."""
        return self.path.rpartition("/")[2]

    @property
    def pixels(self) -> str:
        """The size of the original image as text, such as `1,200 × 800 pixels`."""
        width, height = self.own_size
        return f"{count(width)} × {count(height)} pixels"


class ImagePage(QScrollArea):
    """A page that shows an image at its original size, or smaller if the page is too narrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = _Picture()
        self._page = QWidget()
        self._picture.setParent(self._page)
        self.setWidget(self._page)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Image")

    @property
    def shown(self) -> OpenImage | None:
        """The displayed image, or None if there is none."""
        return self._picture.shown

    def show_image(self, shown: OpenImage | None) -> None:
        """Show an image, or remove the current one if `shown` is None.

        The scroll position is kept if the new image is a changed version of the same file.
        """
        before = self._picture.shown
        self._picture.shown = shown
        name = "Image" if shown is None else f"Image {shown.name}, {shown.pixels}"
        self.setAccessibleName(name)
        self._picture.setAccessibleName(name)
        self._fit()
        if shown is None or before is None or before.path != shown.path:
            self.verticalScrollBar().setValue(0)
        self._picture.update()

    @property
    def picture(self) -> QWidget:
        """The widget that is filled by the image."""
        return self._picture

    def find_picture_rect(self) -> QRect:
        """Return the rectangle of the image within the page."""
        return self._picture.geometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the image to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown, room = self._picture.shown, self.viewport().width()
        if shown is None:
            self._picture.hide()
            self._page.resize(room, 0)
            return
        own_width, own_height = shown.own_size
        width = max(1, min(own_width, room - 2 * _MARGIN))
        height = max(1, round(own_height * width / own_width))
        self._picture.setGeometry((room - width) // 2, _MARGIN, width, height)
        self._picture.show()
        self._page.resize(room, height + 2 * _MARGIN)
        self.verticalScrollBar().setSingleStep(Theme.current().line("body"))


class _Picture(AccessibleFrame):
    """A widget that is filled by an image. Behind transparent areas, it shows a checkerboard."""

    def __init__(self) -> None:
        super().__init__(QAccessible.Role.Graphic)
        self.shown: OpenImage | None = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the image, on a checkerboard if it has an alpha channel."""
        if self.shown is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self.shown.image.hasAlphaChannel():
            painter.fillRect(self.rect(), _make_checkerboard())
        painter.drawImage(self.rect(), self.shown.image)


def _make_checkerboard() -> QBrush:
    """Return a brush of white and light grey squares, on which light lines remain visible."""
    tile = QPixmap(2 * _SQUARE, 2 * _SQUARE)
    tile.fill(Qt.GlobalColor.white)
    painter = QPainter(tile)
    for corner in (0, _SQUARE):
        painter.fillRect(corner, corner, _SQUARE, _SQUARE, Qt.GlobalColor.lightGray)
    painter.end()
    return QBrush(tile)
