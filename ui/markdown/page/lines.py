"""Convert between source lines of Markdown and positions in the document.

The writer stores a block's first source line as the block's user state. Each line break within a
paragraph begins another source line.
"""

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextDocument, QTextLine

from ui.markdown.blocks import TableRows

__all__ = ["NO_LINE", "find_line_at", "find_line_band", "find_next_line", "find_row_line"]

NO_LINE = -1  # Qt's own value for blocks without a user state
_BREAK = "\N{LINE SEPARATOR}"
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_ABOVE_BASELINE = 0.8


def find_row_line(leaf: TableRows, row: int) -> int:
    """Return the source line of a table row. The delimiter line below the header is not a row."""
    if not leaf.line:
        return NO_LINE
    return leaf.line + row + (row > 0 and leaf.has_header and not leaf.is_continued)


def find_line_at(document: QTextDocument, position: int) -> int:
    """Return the source line at a text position, or 0 if it is not known."""
    block = document.findBlock(position)
    before = block.text()[: position - block.position()].count(_BREAK)
    while block.isValid() and block.userState() == NO_LINE:
        block, before = block.previous(), 0
    return block.userState() + before if block.isValid() else 0


def find_next_line(document: QTextDocument, line: int) -> int:
    """Return the first source line in a document that is not above a line, or 0 if there is none.

    This takes far less time than the band of all lines from there on, as in a table of many rows.
    """
    for block in _list_blocks(document):
        if block.userState() + block.text().count(_BREAK) >= line:
            return max(block.userState(), line)
    return 0


def find_line_band(document: QTextDocument, first: int, last: int) -> tuple[float, float] | None:
    """Return the y coordinates of the upper and lower edge of a range of source lines.

    Return None if the document does not contain the lines.

    Args:
        document: a document that has been laid out.
        first: the first source line.
        last: the last source line.
    """
    top = bottom = None
    for block in _list_blocks(document):
        if block.userState() > last:
            break
        for line in _list_lines(block, first, last):
            above, below = _extent(block, line)
            top = above if top is None else min(top, above)
            bottom = below if bottom is None else max(bottom, below)
    return None if top is None or bottom is None else (top, bottom)


def _list_blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    """Yield the blocks of the document whose source line is known, in text order."""
    block = document.begin()
    while block.isValid():
        if block.userState() != NO_LINE:
            yield block
        block = block.next()


def _list_lines(block: QTextBlock, first: int, last: int) -> Iterator[QTextLine]:
    begin, text, layout = block.userState(), block.text(), block.layout()
    if begin + text.count(_BREAK) < first:
        return
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        if first <= begin + text.count(_BREAK, 0, line.textStart()) <= last:
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
