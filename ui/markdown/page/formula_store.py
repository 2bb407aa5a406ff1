"""The formulas that the window shows, once drawn, and those that wait to be drawn.

Drawing a formula takes some milliseconds, so it is done in another process. Until then, a formula
has an estimated size, which is rather too small: when it is drawn, the page below it only moves
down.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPixmap
from shiboken6 import isValid

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

__all__ = [
    "Formula",
    "FormulaKey",
    "FormulaStore",
    "UndrawableFormula",
    "estimate_size",
    "make_retry",
]

_MOST_CACHED: Final = 2_000
_RETRY_S: Final = 60.0
_MOST_PIXELS: Final = 500_000  # of a formula that is kept as pixels too
_EM_SHARE: Final = 0.5  # the width of a letter, by the size of the font
_COMMAND: Final = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}^_&\s]+")
_SMALL: Final = re.compile(r"[_^](?:\{[^{}]*\}|\S)")
_WIDTHLESS: Final = re.compile(
    r"\\(?:begin|end|text\w*|math\w+|left|right|frac|sqrt|operatorname)\b"
)
_ROW: Final = re.compile(r"\\\\")
_TALL: Final = re.compile(r"\\(?:[dtc]?frac|binom|sum|prod|int|oint|lim|bigcup|bigcap)(?![a-zA-Z])")
_ROW_EM, _TALL_ROW_EM = 1.0, 1.9


class FormulaKey(NamedTuple):
    """What determines the picture of a formula.

    Attributes:
        tex: the formula in TeX.
        is_display: whether it stands alone.
        size_px: the size of the font of the text around it.
        color: the colour of the text as `#rrggbb`.
    """

    tex: str
    is_display: bool
    size_px: int
    color: str


class Formula:
    """A drawn formula.

    Args:
        svg: the picture.
        width: the width in pixels.
        ascent: the height in pixels above the baseline.
        descent: the height in pixels below the baseline.
    """

    def __init__(self, svg: bytes, width: float, ascent: float, descent: float) -> None:
        self.width, self.ascent, self.descent = width, ascent, descent
        self._svg, self._pixels = svg, QPixmap()

    def paint(self, painter: QPainter, place: QRectF) -> None:
        """Paint the formula into a rectangle, from its pixels if they have the right size."""
        ratio = painter.device().devicePixelRatioF()
        size = QSize(round(place.width() * ratio) + 1, round(place.height() * ratio) + 1)
        if size.width() * size.height() > _MOST_PIXELS:
            self._load().render(painter, place)
            return
        if self._pixels.size() != size or self._pixels.devicePixelRatio() != ratio:
            self._pixels = self._make_pixels(size, ratio, place)
        corner = place.topLeft() * ratio
        painter.drawPixmap(corner.toPoint().toPointF() / ratio, self._pixels)

    def _make_pixels(self, size: QSize, ratio: float, place: QRectF) -> QPixmap:
        made = QPixmap(size)
        made.setDevicePixelRatio(ratio)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._load().render(painter, QRectF(0, 0, place.width(), place.height()))
        painter.end()
        return made

    def _load(self) -> "QSvgRenderer":
        from PySide6.QtSvg import QSvgRenderer

        return QSvgRenderer(QByteArray(self._svg))


@dataclass(frozen=True, slots=True)
class UndrawableFormula:
    """A formula that stays as TeX.

    Attributes:
        reason: why, as a sentence.
        until_s: the time on the monotonic clock after which drawing it is tried again.
    """

    reason: str
    until_s: float = inf


class FormulaStore(QObject):
    """Keeps recent formulas, and collects those that are shown but not drawn yet.

    Signals:
        wanted: a formula has to be drawn. The receiver calls `take` and later `show`.
        arrived: emitted with a list of keys of formulas that were drawn, or could not be drawn.
    """

    wanted = Signal()
    arrived = Signal(list)
    _current: "FormulaStore | None" = None

    def __init__(self) -> None:
        super().__init__()
        self._known: OrderedDict[FormulaKey, Formula | UndrawableFormula] = OrderedDict()
        self._waiting: dict[FormulaKey, list[QObject]] = {}

    @classmethod
    def current(cls) -> "FormulaStore":
        """Return the store of the application. The first call creates it."""
        if FormulaStore._current is None:
            FormulaStore._current = cls()
        return FormulaStore._current

    def find(self, key: FormulaKey, viewer: QObject) -> Formula | UndrawableFormula | None:
        """Return a formula. If it is not drawn yet, request it and return None.

        Args:
            key: the formula.
            viewer: what shows the formula. If it is deleted, the formula is no longer needed.
        """
        found = self._known.get(key)
        if isinstance(found, UndrawableFormula) and monotonic() > found.until_s:
            found = None
        if found is None:
            self._waiting.setdefault(key, []).append(viewer)
            self.wanted.emit()
        else:
            self._known.move_to_end(key)
        return found

    def take(self, most: int) -> list[FormulaKey]:
        """Remove up to `most` formulas that wait and are still shown, and return them in order."""
        taken: list[FormulaKey] = []
        while self._waiting and len(taken) < most:
            key = next(iter(self._waiting))
            if any(isValid(viewer) for viewer in self._waiting.pop(key)):
                taken.append(key)
        return taken

    def show(self, drawn: Sequence[tuple[FormulaKey, Formula | UndrawableFormula]]) -> None:
        """Keep formulas that were drawn, or could not be drawn, and let them be shown."""
        for key, formula in drawn:
            self._known[key] = formula
            self._known.move_to_end(key)
            self._waiting.pop(key, None)
        self.arrived.emit([key for key, _formula in drawn])
        while len(self._known) > _MOST_CACHED:
            self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget all formulas."""
        self._known.clear()
        self._waiting.clear()


def make_retry(reason: str) -> UndrawableFormula:
    """Return a failure after which drawing the formula is tried again later."""
    return UndrawableFormula(reason, monotonic() + _RETRY_S)


def estimate_size(key: FormulaKey) -> tuple[float, float]:
    """Return about how wide and tall a formula will be in pixels, and rather less than more.

    A formula within a line is as tall as a letter: most formulas fit into their line.
    """
    rows = _ROW.split(key.tex)
    width = max(_count_letters(row) for row in rows) * _EM_SHARE * key.size_px
    if not key.is_display:
        return width, float(key.size_px)
    ems = (_TALL_ROW_EM if _TALL.search(row) else _ROW_EM for row in rows)
    return width, sum(ems) * key.size_px


def _count_letters(row: str) -> float:
    return max(1.0, sum(_weigh_pieces(_WIDTHLESS.sub("", row))))


def _weigh_pieces(row: str) -> Iterator[float]:
    """Yield the width of each symbol in letters. Small ones, such as exponents, count half."""
    for small in _SMALL.findall(row):
        yield 0.5 * len(_COMMAND.sub("x", small.strip("_^{}")))
    rest = _SMALL.sub("", row)
    yield len(_COMMAND.sub("", rest))
    yield sum(piece.startswith("\\") for piece in _COMMAND.findall(rest))
