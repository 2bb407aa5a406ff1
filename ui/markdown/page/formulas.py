"""Formulas as vector pictures: TeX is drawn by `ziamath`, which only this module imports.

A formula that cannot be read, is too long, or takes too long stays as TeX, and the reason is
returned. The time for drawing grows steeply with the depth of a formula, so it is limited.
"""

import re
import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from time import thread_time
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QByteArray, QRect, QRectF, QSizeF
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

__all__ = [
    "OBJECT",
    "Formula",
    "FormulaPainter",
    "draw_formula",
    "is_drawn",
    "make_formula_format",
    "read_with_formulas",
]

MOST_CHARS: Final = 1_200
_MOST_SECONDS: Final = 0.4  # of processor time for one formula
_FEW_SECONDS: Final = 0.05  # after some formulas that took too long
_MOST_SLOW: Final = 8
_MOST_SIZE_PX: Final = 4_000
_MOST_CACHED: Final = 2_000
_LARGER: Final = 1.1  # the letters of the formula's font are smaller than those of the text
_SIDE_PX: Final = 1.0
OBJECT: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
_KIND: Final = int(QTextFormat.ObjectTypes.UserObject.value)
_PROPERTY: Final = int(QTextFormat.Property.UserProperty.value)
_TEX, _DISPLAY, _COLOR, _SCALE = (_PROPERTY + number for number in range(1, 5))
_LIBRARY: Final = ("ziamath.", "ziafont.", "latex2mathml.")
_NO_TEX: Final = re.compile(r"\\(?:href|url|includegraphics|input|def|newcommand|tag)\b")


@dataclass(frozen=True, slots=True)
class Formula:
    """A drawn formula.

    Attributes:
        picture: draws the formula into any rectangle.
        width: the width in pixels.
        ascent: the height in pixels above the baseline.
        descent: the height in pixels below the baseline.
    """

    picture: "QSvgRenderer"
    width: float
    ascent: float
    descent: float


class _TooSlow(BaseException):
    """Drawing a formula took too long. No `except Exception` of the library catches it."""


_slow: list[str] = []
_drawn: "OrderedDict[tuple[str, bool, int, str], Formula | str]" = OrderedDict()


def draw_formula(tex: str, font: QFont, color: str, *, is_display: bool) -> Formula | str:
    """Draw a formula, or return the reason why it stays as TeX. Recent results are cached.

    Args:
        tex: the formula in TeX, without dollar signs.
        font: the font of the text around it, which determines the size.
        color: the colour of the text as `#rrggbb`.
        is_display: whether it stands alone, so that sums and fractions are larger.
    """
    key = (tex, is_display, font.pixelSize(), color)
    if key not in _drawn:
        _drawn[key] = _draw(tex, font.pixelSize() * _LARGER, color, is_display=is_display)
        while len(_drawn) > _MOST_CACHED:
            _drawn.popitem(last=False)
    _drawn.move_to_end(key)
    return _drawn[key]


def _draw(tex: str, size: float, color: str, *, is_display: bool) -> Formula | str:
    if len(tex) > MOST_CHARS:
        return f"The formula has {len(tex):,} characters; up to {MOST_CHARS:,} are drawn."
    if found := _NO_TEX.search(tex):
        return f"The formula is not drawn: {found[0]} is not known here."
    from PySide6.QtSvg import QSvgRenderer

    try:
        ziamath = _load_library()
        with _limit_time(_MOST_SECONDS if len(_slow) < _MOST_SLOW else _FEW_SECONDS):
            made = ziamath.Latex(tex, size=size, color=color, inline=not is_display, margin=0)
            svg, (width, height) = made.svg(), made.getsize()
            low = -float(made.getyofst())
    except _TooSlow:
        _slow.append(tex)
        return "The formula is not drawn: it is nested too deeply."
    except Exception as error:  # noqa: BLE001 - the library raises whatever goes wrong in it
        return f"The formula cannot be read: {_describe(error)}."
    picture = QSvgRenderer(QByteArray(svg.encode("utf-8", "replace")))
    if not picture.isValid() or not 0 < width <= _MOST_SIZE_PX or not 0 < height <= _MOST_SIZE_PX:
        return "The formula is not drawn: it is empty or too large."
    return Formula(picture, width, height - low, low)


@cache
def _load_library() -> Any:
    """Import the library at the first formula. It finds its fonts in a way that is deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import ziamath
    ziamath.config.svg2 = False  # Qt draws paths, but does not place symbols
    return ziamath


def _describe(error: Exception) -> str:
    said = " ".join(str(error).split())[:120].rstrip(".")
    return said or {"AssertionError": "a bracket is missing"}.get(
        type(error).__name__, re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    )


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    """Interrupt the body with `_TooSlow` when it has taken some seconds of processor time.

    Python calls the profiler at every call of a function, and the library is pure Python. Only its
    own functions are interrupted: an exception in a callback of the garbage collector, which runs
    in between, is swallowed, and Python then calls the profiler no more.
    """
    until, before = thread_time() + seconds, sys.getprofile()

    def check(frame: FrameType, _event: str, _argument: object) -> None:
        if thread_time() > until and str(frame.f_globals["__name__"]).startswith(_LIBRARY):
            raise _TooSlow

    sys.setprofile(check)
    try:
        yield
    finally:
        sys.setprofile(before)


class FormulaPainter(QPyTextObject):
    """Draws the formulas of a document, in which each of them is one character."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        document.documentLayout().registerHandler(_KIND, self)

    def intrinsicSize(self, document: QTextDocument, position: int, format: QTextFormat) -> QSizeF:
        """Return the size of a formula's box, which `drawObject` fills."""
        formula = _find(format)
        if formula is None:
            return QSizeF()
        height, _top = _measure(formula, format.toCharFormat().font())
        scale = float(format.property(_SCALE))
        return QSizeF(formula.width * scale + 2 * _SIDE_PX, height * scale)

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        document: QTextDocument,
        position: int,
        format: QTextFormat,
    ) -> None:
        """Draw a formula, with its baseline on that of the text."""
        formula = _find(format)
        if formula is None:
            return
        _height, top = _measure(formula, format.toCharFormat().font())
        scale, high = float(format.property(_SCALE)), formula.ascent + formula.descent
        place = QRectF(rect.x() + _SIDE_PX, rect.y() + top * scale, formula.width * scale, 0)
        place.setHeight(high * scale)
        formula.picture.render(painter, place)


def is_drawn(tex: str, char: QTextCharFormat, *, is_display: bool) -> bool:
    """Return whether a formula has been drawn already, so that it is there at once."""
    color = char.foreground().color().name()
    return (tex, is_display, char.font().pixelSize(), color) in _drawn


def make_formula_format(
    tex: str, char: QTextCharFormat, *, is_display: bool, width: float = 0
) -> tuple[QTextCharFormat, float] | str:
    """Return the format of the character that a formula is, and how tall its line is in pixels.

    If the formula cannot be drawn, return the reason.

    Args:
        tex: the formula.
        char: the format of the text around it.
        is_display: whether it stands alone.
        width: the width in pixels that it may have, or 0 if it is not limited.
    """
    color = char.foreground().color().name()
    formula = draw_formula(tex, char.font(), color, is_display=is_display)
    if isinstance(formula, str):
        return formula
    made = QTextCharFormat(char)
    made.setObjectType(_KIND)
    scale = min(1.0, width / formula.width) if width else 1.0
    for number, value in ((_TEX, tex), (_DISPLAY, is_display), (_COLOR, color), (_SCALE, scale)):
        made.setProperty(number, value)
    is_low = formula.descent > QFontMetricsF(char.font()).descent()
    alignments = QTextCharFormat.VerticalAlignment
    made.setVerticalAlignment(alignments.AlignMiddle if is_low else alignments.AlignBaseline)
    made.setToolTip(tex)
    return made, _measure(formula, char.font())[0] * scale


def read_with_formulas(cursor: QTextCursor) -> str:
    """Return the selected text with Qt's separators, and with the TeX in place of formulas."""
    text = cursor.selectedText()
    if OBJECT not in text:
        return text
    start, pieces = cursor.selectionStart(), []
    units = text.encode("utf-16-le")
    at = QTextCursor(cursor.document())
    for offset in range(len(units) // 2):
        unit = units[2 * offset : 2 * offset + 2]
        if unit.decode("utf-16-le", "ignore") == OBJECT:
            at.setPosition(start + offset + 1)
            unit = _write_tex(at.charFormat()).encode("utf-16-le")
        pieces.append(unit)
    return b"".join(pieces).decode("utf-16-le", "replace")


def _write_tex(char: QTextCharFormat) -> str:
    if char.objectType() != _KIND:
        return OBJECT
    mark = "$$" if char.property(_DISPLAY) else "$"
    return f"{mark}{char.property(_TEX)}{mark}"


def _find(char: QTextFormat) -> Formula | None:
    tex, color = str(char.property(_TEX)), str(char.property(_COLOR))
    is_display = bool(char.property(_DISPLAY))
    found = draw_formula(tex, char.toCharFormat().font(), color, is_display=is_display)
    return found if isinstance(found, Formula) else None


def _measure(formula: Formula, font: QFont) -> tuple[float, float]:
    """Return the height of a formula's box, and the space in it above the formula.

    Qt sets a box on the line of the letters below the baseline, or centres it around half the
    height of an x. The second way is for a formula that is lower than any letter.
    """
    metrics = QFontMetricsF(font)
    if formula.descent <= metrics.descent():
        return formula.ascent + metrics.descent(), 0.0
    half = metrics.xHeight() / 2
    height = max(2 * formula.ascent - half, 2 * formula.descent + half)
    return height, (height + half) / 2 - formula.ascent
