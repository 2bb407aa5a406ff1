"""Formulas in a document: each of them is one character, which is drawn as a vector picture.

A formula that is not drawn yet is an empty box of an estimated size.
"""

from math import inf
from typing import Final

from PySide6.QtCore import QRect, QRectF, QSizeF, Signal
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

from ui.markdown.page.formats import AT_LEAST
from ui.markdown.page.formula_store import (
    Formula,
    FormulaKey,
    FormulaStore,
    UndrawableFormula,
    estimate_size,
)

__all__ = ["FormulaPainter", "read_with_formulas"]

_SIDE_PX: Final = 1.0
_LEAST_ROOM: Final = 40.0  # in pixels, for a formula that stands alone
_OBJECT: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
_KIND: Final = int(QTextFormat.ObjectTypes.UserObject.value)
_PROPERTY: Final = int(QTextFormat.Property.UserProperty.value)
_TEX, _DISPLAY, _COLOR, _INSET, _DRAWN = (_PROPERTY + number for number in range(1, 6))


class FormulaPainter(QPyTextObject):
    """Inserts formulas into a document and draws them.

    Signals:
        outdated: emitted when a formula of the document turns out to be undrawable. The document
            then has to be written again, with its TeX.
        shown: emitted when formulas have been shown in place of their boxes, which may have moved
            the text below them.
    """

    outdated = Signal()
    shown = Signal()

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self._store = FormulaStore.current()
        self._drawn: dict[FormulaKey, Formula] = {}
        self._waiting: dict[FormulaKey, list[QTextCursor]] = {}
        self._store.arrived.connect(self._on_arrived)
        document.documentLayout().registerHandler(_KIND, self)

    def forget(self) -> None:
        """Forget the formulas of the document, because it is written anew."""
        self._drawn.clear()
        self._waiting.clear()

    def explain(self, tex: str, char: QTextCharFormat, *, is_display: bool) -> str:
        """Return the reason why a formula cannot be drawn, or "" as far as is known.

        Args:
            tex: the formula.
            char: the format of the text around it.
            is_display: whether it stands alone.
        """
        found = self._find(_make_key(tex, char, is_display=is_display))
        return found.reason if isinstance(found, UndrawableFormula) else ""

    def insert(
        self,
        cursor: QTextCursor,
        tex: str,
        char: QTextCharFormat,
        *,
        is_display: bool,
        inset: float = 0,
    ) -> None:
        """Insert a formula that may be drawn. If it is not drawn yet, it appears later.

        Args:
            cursor: where to insert it.
            tex: the formula.
            char: the format of the text around it.
            is_display: whether it stands alone.
            inset: the width in pixels that a formula standing alone leaves beside it.
        """
        key = _make_key(tex, char, is_display=is_display)
        made = QTextCharFormat(char)
        made.setObjectType(_KIND)
        for number, value in ((_TEX, tex), (_DISPLAY, is_display), (_COLOR, key.color)):
            made.setProperty(number, value)
        made.setProperty(_INSET, inset)
        made.setToolTip(tex)
        formula = self._find(key)
        if isinstance(formula, Formula):
            _complete(made, formula)
        cursor.insertText(_OBJECT, made)
        if isinstance(formula, Formula):
            _make_room(cursor, formula, made)
        else:
            place = QTextCursor(cursor)
            place.setKeepPositionOnInsert(True)
            self._waiting.setdefault(key, []).append(place)

    def _find(self, key: FormulaKey) -> Formula | UndrawableFormula | None:
        if key in self._drawn:
            return self._drawn[key]
        found = self._store.find(key, self)
        if isinstance(found, Formula):
            self._drawn[key] = found
        return found

    def _on_arrived(self, keys: list[FormulaKey]) -> None:
        """Show formulas that have been drawn in place of their empty boxes."""
        mine = [key for key in keys if key in self._waiting]
        if not mine:
            return
        edit = QTextCursor(self._document)
        edit.beginEditBlock()
        for key in mine:
            formula = self._find(key)
            for place in self._waiting.pop(key):
                if isinstance(formula, Formula) and _is_at(place, key):
                    _show(place, formula)
            if isinstance(formula, UndrawableFormula):
                self.outdated.emit()
        edit.endEditBlock()
        self.shown.emit()

    def intrinsicSize(self, document: QTextDocument, position: int, format: QTextFormat) -> QSizeF:
        """Return the size of a formula's box, which `drawObject` fills."""
        formula = self._drawn.get(_read_key(format))
        if formula is None or not format.hasProperty(_DRAWN):
            width, height = estimate_size(_read_key(format))
            return QSizeF(min(width, _find_room(document, format)) + 2 * _SIDE_PX, height)
        height, _top = _measure(formula, format.toCharFormat().font())
        scale = _fit(formula, document, format)
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
        formula = self._drawn.get(_read_key(format))
        if formula is None or not format.hasProperty(_DRAWN):
            return
        _height, top = _measure(formula, format.toCharFormat().font())
        scale, high = _fit(formula, document, format), formula.ascent + formula.descent
        place = QRectF(rect.x() + _SIDE_PX, rect.y() + top * scale, formula.width * scale, 0)
        place.setHeight(high * scale)
        formula.paint(painter, place)


def _make_key(tex: str, char: QTextCharFormat, *, is_display: bool) -> FormulaKey:
    color = char.foreground().color().name()
    return FormulaKey(tex, is_display, char.font().pixelSize(), color)


def _read_key(format: QTextFormat) -> FormulaKey:
    tex, color = str(format.property(_TEX)), str(format.property(_COLOR))
    size_px = format.toCharFormat().font().pixelSize()
    return FormulaKey(tex, bool(format.property(_DISPLAY)), size_px, color)


def _is_at(place: QTextCursor, key: FormulaKey) -> bool:
    """Return whether the character before a position is still this formula."""
    char = place.charFormat()
    return char.objectType() == _KIND and _read_key(char) == key


def _show(place: QTextCursor, formula: Formula) -> None:
    # The text that was inserted after the formula has moved the anchor of `place`.
    cursor = QTextCursor(place)
    cursor.clearSelection()
    cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor)
    made = place.charFormat()
    _complete(made, formula)
    cursor.setCharFormat(made)
    cursor.clearSelection()
    _make_room(cursor, formula, made)


def _complete(made: QTextCharFormat, formula: Formula) -> None:
    """Complete the format of a formula that has been drawn."""
    is_low = formula.descent > QFontMetricsF(made.font()).descent()
    alignments = QTextCharFormat.VerticalAlignment
    made.setVerticalAlignment(alignments.AlignMiddle if is_low else alignments.AlignBaseline)
    made.setProperty(_DRAWN, True)


def _make_room(cursor: QTextCursor, formula: Formula, made: QTextCharFormat) -> None:
    """Let a line be as tall as the formula in it."""
    block = cursor.blockFormat()
    height = _measure(formula, made.font())[0] * _fit(formula, cursor.document(), made)
    if height > block.lineHeight() and block.lineHeightType() != AT_LEAST:
        block.setLineHeight(block.lineHeight(), AT_LEAST)
        cursor.setBlockFormat(block)


def _fit(formula: Formula, document: QTextDocument, format: QTextFormat) -> float:
    """Return the scale at which a formula fits into its width."""
    return min(1.0, _find_room(document, format) / formula.width)


def _find_room(document: QTextDocument, format: QTextFormat) -> float:
    """Return the width in pixels that a formula may have in the present width of the document."""
    if not format.property(_DISPLAY):
        return inf
    return max(_LEAST_ROOM, document.textWidth() - float(format.property(_INSET)))


def read_with_formulas(cursor: QTextCursor) -> str:
    """Return the selected text with Qt's separators, and with the TeX in place of formulas."""
    text = cursor.selectedText()
    if _OBJECT not in text:
        return text
    start, pieces = cursor.selectionStart(), []
    units = text.encode("utf-16-le")
    at = QTextCursor(cursor.document())
    for offset in range(len(units) // 2):
        unit = units[2 * offset : 2 * offset + 2]
        if unit.decode("utf-16-le", "ignore") == _OBJECT:
            at.setPosition(start + offset + 1)
            unit = _write_tex(at.charFormat()).encode("utf-16-le")
        pieces.append(unit)
    return b"".join(pieces).decode("utf-16-le", "replace")


def _write_tex(char: QTextCharFormat) -> str:
    if char.objectType() != _KIND:
        return _OBJECT
    mark = "$$" if char.property(_DISPLAY) else "$"
    return f"{mark}{char.property(_TEX)}{mark}"


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
