"""Convert between source lines of Markdown and positions in the document.

The writer stores a block's first source line as the block's user state. Each line break within a
paragraph begins another source line, except for those that the tag `<br>` makes.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, islice

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextDocument, QTextLine

from ui.markdown.blocks import TableRows
from ui.markdown.inline import BREAK, INNER_BREAK

__all__ = ["NO_LINE", "SourceLines", "find_line_at", "find_row_line"]

NO_LINE = -1  # Qt's own value for blocks without a user state
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_ABOVE_BASELINE = 0.8
_BREAK_OR_WIDE = re.compile(rf"(?<!{INNER_BREAK[0]}){BREAK}|[\U00010000-\U0010ffff]")


def find_row_line(leaf: TableRows, row: int) -> int:
    """Return the source line of a table row. The delimiter line below the header is not a row."""
    if not leaf.line:
        return NO_LINE
    return leaf.line + row + (row > 0 and leaf.has_header and not leaf.is_continued)


def find_line_at(document: QTextDocument, position: int) -> int:
    """Return the source line at a text position, or 0 if it is not known."""
    block = document.findBlock(position)
    before = bisect_left(_list_breaks(block.text()), position - block.position())
    while block.isValid() and block.userState() == NO_LINE:
        block, before = block.previous(), 0
    return block.userState() + before if block.isValid() else 0


class SourceLines:
    """Finds where source lines are in a document.

    The places of all lines are listed once, because a table of many rows has thousands of blocks.

    Args:
        document: a document that has been laid out. Call `forget` when its text has changed.
    """

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._blocks: list[tuple[int, int]] | None = None  # first line, number of the block
        self._ends: list[int] = []  # the last line of these blocks, or of one above if it is lower

    def forget(self) -> None:
        """Forget the places of the lines, because the text has changed."""
        self._blocks = None

    def find_next(self, line: int) -> int:
        """Return the first source line that is not above a line, or 0 if there is none."""
        blocks = self._list_blocks()
        at = bisect_left(self._ends, line)
        return max(blocks[at][0], line) if at < len(blocks) else 0

    def find_band(self, first: int, last: int) -> tuple[float, float] | None:
        """Return the y coordinates of the upper and lower edge of a range of source lines.

        Return None if the document does not contain the lines.
        """
        blocks = self._list_blocks()
        tops, bottoms = [], []
        for begin, number in islice(blocks, bisect_left(self._ends, first), None):
            if begin > last:
                break
            block = self._document.findBlockByNumber(number)
            for line in _list_lines(block, first, last):
                above, below = _extent(block, line)
                tops.append(above)
                bottoms.append(below)
        return (min(tops), max(bottoms)) if tops else None

    def _list_blocks(self) -> list[tuple[int, int]]:
        """Return the first line and the number of each block whose line is known, in text order."""
        if self._blocks is None:
            known = list(_read_blocks(self._document))
            self._blocks = [(first, number) for first, _, number in known]
            self._ends = list(accumulate((last for _, last, _ in known), max))
        return self._blocks


def _read_blocks(document: QTextDocument) -> Iterator[tuple[int, int, int]]:
    """Yield the first and last line and the number of each block whose line is known."""
    block, number = document.begin(), 0
    while block.isValid():
        first = block.userState()
        if first != NO_LINE:
            yield first, first + _count_breaks(block.text()), number
        block, number = block.next(), number + 1


def _count_breaks(text: str) -> int:
    """Return how many line breaks of the source are in a text."""
    return text.count(BREAK) - text.count(INNER_BREAK)


def _list_breaks(text: str) -> list[int]:
    """Return the offsets of the line breaks of the source, for which Qt counts an emoji as two."""
    breaks, wide = list[int](), 0
    for sign in _BREAK_OR_WIDE.finditer(text):
        if sign[0] == BREAK:
            breaks.append(sign.start() + wide)
        else:
            wide += 1
    return breaks


def _list_lines(block: QTextBlock, first: int, last: int) -> Iterator[QTextLine]:
    begin, text, layout = block.userState(), block.text(), block.layout()
    if begin + _count_breaks(text) < first:
        return
    breaks = _list_breaks(text)
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        if first <= begin + bisect_left(breaks, line.textStart()) <= last:
            yield line


def _extent(block: QTextBlock, line: QTextLine) -> tuple[float, float]:
    """Return the y coordinates of the upper and lower edge of a line of text.

    With a fixed line height, Qt puts the extra space above the text.
    """
    top = block.document().documentLayout().blockBoundingRect(block).y() + line.y()
    height = block.blockFormat().lineHeight()
    if block.blockFormat().lineHeightType() != _FIXED:
        return top, top + max(height, line.height())
    low = top + line.ascent()
    return low - _ABOVE_BASELINE * height, low + (1 - _ABOVE_BASELINE) * height
