"""The positions of text in a document after layout.

With a fixed line height, Qt puts the baseline at four fifths of the line, with the extra space
above the text. Rectangles are therefore measured from the baseline.
"""

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument, QTextLine

__all__ = ["baseline", "find_bottom", "find_origin", "find_top", "line_at", "pieces"]

_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_ABOVE_BASELINE = 0.8


def find_origin(block: QTextBlock) -> QPointF:
    """Return the top left corner of a text block in document coordinates.

    The positions of the block's lines are relative to this point.
    """
    layout = block.document().documentLayout()
    return layout.blockBoundingRect(block).topLeft()


def find_top(document: QTextDocument, position: int) -> float:
    """Return the y coordinate of a text block's upper edge, without the block's margin.

    Args:
        document: the document with the block.
        position: any text position in the block.
    """
    return find_origin(document.findBlock(position)).y()


def find_bottom(document: QTextDocument, position: int) -> float:
    """Return the y coordinate of the lower edge of the text block at a position.

    If the position is in a table, this is the lower edge of the table.
    """
    block = document.findBlock(position)
    if table := QTextCursor(block).currentTable():
        return document.documentLayout().frameBoundingRect(table).bottom()
    layout = block.layout()
    if layout.lineCount() == 0:
        return find_origin(block).y()
    line = layout.lineAt(layout.lineCount() - 1)
    height = block.blockFormat().lineHeight()
    top = find_origin(block).y() + line.y()
    if block.blockFormat().lineHeightType() == _FIXED:
        return top + line.ascent() + (1 - _ABOVE_BASELINE) * height
    return top + max(height, line.height())


def line_at(document: QTextDocument, position: int) -> tuple[QTextBlock, QTextLine]:
    """Return the text block and the laid-out line that contain a text position."""
    block = document.findBlock(position)
    return block, block.layout().lineForTextPosition(position - block.position())


def baseline(block: QTextBlock, line: QTextLine) -> float:
    """Return the y coordinate of a line's baseline in document coordinates."""
    return find_origin(block).y() + line.y() + line.ascent()


def pieces(document: QTextDocument, start: int, end: int) -> Iterator[tuple[QRectF, float]]:
    """Yield the rectangle and the baseline of each displayed line between two text positions.

    Each rectangle extends from the top of the ascent to the bottom of the descent.

    Args:
        document: a document that has been laid out.
        start: the first text position.
        end: the last text position, in the same text block.
    """
    block = document.findBlock(start)
    origin, layout = find_origin(block), block.layout()
    first, last = start - block.position(), end - block.position()
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        begins = max(first, line.textStart())
        ends = min(last, line.textStart() + line.textLength())
        if begins >= ends:
            continue
        x, other = _x(line, begins), _x(line, ends)
        at = origin.y() + line.y()
        rect = QRectF(origin.x() + min(x, other), at, abs(other - x), line.height())
        yield rect, at + line.ascent()


def _x(line: QTextLine, position: int) -> float:
    # PySide may return a tuple of the x coordinate and the position.
    found: Any = line.cursorToX(position)
    return float(found[0] if isinstance(found, tuple) else found)
