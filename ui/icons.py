"""Icons that follow the colours of the current theme.

The glyphs are from the Phosphor set, which is part of QtAwesome. Only its font and its table of
names are read, because importing QtAwesome itself loads eleven more fonts and OpenGL.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QIcon,
    QIconEngine,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from ui.theme import Theme

__all__ = [
    "begin_painting",
    "icon",
    "keep_upright",
    "load_app_icon",
    "mirror_painter",
    "paint_icon",
    "pixmap",
]

_FONT = "phosphor-1.3.0.ttf"
_NAMES = "phosphor-charmap-1.3.0.json"
_GRID = 24.0
_DIRECTED = {"caret-right", "arrow-elbow-down-left"}  # they point along the layout's direction


def icon(name: str, tone: str = "text.secondary", on: str = "accent.base") -> QIcon:
    """Return an icon that is drawn in the colours of the current theme, even after a theme change.

    Args:
        name: a name from the Phosphor set, such as `gear`, or one of Strata's own icons:
            `panel-left`, `panel-right` and `up-down`.
        tone: the theme colour for the normal state. A disabled icon uses `text.disabled`. A hovered
            icon uses `text.primary` if `tone` is `text.secondary`.
        on: the theme colour for the checked state.
    """
    return QIcon(_Engine(name, tone, on))


def load_app_icon() -> QIcon:
    """Return the application icon: three light bars on a square in the accent colour."""
    made = QIcon()
    for size in (16, 32, 48, 64, 128, 256):
        made.addPixmap(_app_pixmap(size))
    return made


def pixmap(name: str, size: int, tone: str = "text.secondary", ratio: float = 1.0) -> QPixmap:
    """Render an icon in the current theme's colours.

    Args:
        name: the name of the icon, as in `icon`.
        size: the width and height in logical pixels.
        tone: the name of the colour in the theme.
        ratio: the number of physical pixels per logical pixel.
    """
    image = QPixmap(QSize(size, size) * ratio)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_icon(painter, QRect(0, 0, size, size), name, tone)
    painter.end()
    return image


def paint_icon(painter: QPainter, rect: QRect, name: str, tone: str = "text.secondary") -> None:
    """Paint an icon at the centre of a rectangle, as large as the rectangle allows.

    Args:
        painter: the painter of the widget.
        rect: the rectangle.
        name: the name of the icon.
        tone: the name of the icon's theme colour.
    """
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Theme.current().color(tone))
    with nullcontext() if name in _DIRECTED else keep_upright(painter, rect):
        if name in _OWN:
            _paint_own(painter, QRectF(rect), side, name)
        else:
            painter.setFont(_glyph_font(side))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, chr(int(_glyphs()[name], 16)))
    painter.restore()


def begin_painting(widget: QWidget) -> QPainter:
    """Return an antialiased painter for a widget, mirrored if the layout is right-to-left.

    Icons, texts and images are not mirrored (see `mirror_painter`).
    """
    painter = QPainter(widget)
    mirror_painter(painter, widget.rect(), widget.layoutDirection())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def mirror_painter(painter: QPainter, rect: QRect | QRectF, direction: Qt.LayoutDirection) -> None:
    """Mirror a painter within a rectangle if the layout is right-to-left.

    Callers can therefore always compute positions as in a left-to-right layout. Icons, texts and
    images are not mirrored, because the functions that draw them use `keep_upright`.
    """
    if direction == Qt.LayoutDirection.RightToLeft:
        _flip(painter, rect)


@contextmanager
def keep_upright(painter: QPainter, rect: QRect | QRectF) -> Iterator[bool]:
    """Undo the mirroring of a painter within a rectangle, for the duration of a `with` block.

    Yield whether the painter was mirrored.
    """
    is_mirrored = painter.worldTransform().m11() < 0
    painter.save()
    if is_mirrored:
        _flip(painter, rect)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    try:
        yield is_mirrored
    finally:
        painter.restore()


def _flip(painter: QPainter, rect: QRect | QRectF) -> None:
    painter.translate(2 * QRectF(rect).center().x(), 0)
    painter.scale(-1, 1)


class _Engine(QIconEngine):
    """An icon engine that draws a glyph in the current theme's colours each time it is painted."""

    def __init__(self, name: str, tone: str, on: str) -> None:
        super().__init__()
        self._name, self._tone, self._on = name, tone, on

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        paint_icon(painter, rect, self._name, self._tone_for(mode, state))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        image = QPixmap(size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return image

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._tone, self._on)

    def _tone_for(self, mode: QIcon.Mode, state: QIcon.State) -> str:
        if mode == QIcon.Mode.Disabled:
            return "text.disabled"
        if state == QIcon.State.On:
            return self._on
        if mode == QIcon.Mode.Active and self._tone == "text.secondary":
            return "text.primary"
        return self._tone


@cache
def _folder() -> Path:
    spec = find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("QtAwesome is not installed; install Strata again.")
    return Path(spec.submodule_search_locations[0]) / "fonts"


@cache
def _family() -> str:
    number = QFontDatabase.addApplicationFont(str(_folder() / _FONT))
    return QFontDatabase.applicationFontFamilies(number)[0]


@cache
def _glyphs() -> dict[str, str]:
    """Return the hexadecimal code of each icon in the icon font, by its name."""
    table: dict[str, str] = json.loads((_folder() / _NAMES).read_text("utf-8"))
    return table


def _glyph_font(side: int) -> QFont:
    font = QFont(_family())
    font.setPixelSize(side)
    font.setStyleStrategy(QFont.StyleStrategy.NoFontMerging)
    return font


def _app_pixmap(size: int) -> QPixmap:
    theme, unit = Theme.current(), size / 16
    image = QPixmap(size, size)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent.base"))
    painter.drawRoundedRect(QRectF(0, 0, size, size), 3.5 * unit, 3.5 * unit)
    painter.setBrush(theme.color("text.on_accent"))
    for row, width in enumerate((5.5, 9.0, 7.0)):
        bar = QRectF(3.5 * unit, (3.9 + 3.1 * row) * unit, width * unit, 2 * unit)
        painter.drawRoundedRect(bar, unit, unit)
    painter.end()
    return image


def _paint_own(painter: QPainter, rect: QRectF, side: int, name: str) -> None:
    scale = side / _GRID
    painter.translate(rect.center() - QPointF(side / 2, side / 2))
    painter.scale(scale, scale)
    painter.setPen(QPen(painter.pen().color(), 1.6))
    painter.drawPath(_OWN[name]())


def _panel(x: float) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(QRectF(3.75, 4.5, 16.5, 15), 1.5, 1.5)
    path.moveTo(x, 4.5)
    path.lineTo(x, 19.5)
    return path


def _up_down() -> QPainterPath:
    path = QPainterPath()
    for tip, foot in ((5.0, 9.5), (19.0, 14.5)):
        path.moveTo(7.5, foot)
        path.lineTo(12.0, tip)
        path.lineTo(16.5, foot)
    return path


_OWN = {
    "panel-left": lambda: _panel(9.0),
    "panel-right": lambda: _panel(15.0),
    "up-down": _up_down,
}
