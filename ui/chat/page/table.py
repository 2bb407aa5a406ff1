"""The formats of a table: the full measure wide, with room in its cells and no lines of its own."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextLength, QTextTableCellFormat, QTextTableFormat

from ui.chat.markdown.blocks import Columns, TableRows

__all__ = ["ALIGNMENTS", "CELL_PADDING", "cell_format", "table_format"]

CELL_PADDING = 5
_BETWEEN_COLUMNS = 16
_PERCENT = QTextLength.Type.PercentageLength

ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeading,
    "right": Qt.AlignmentFlag.AlignTrailing,
    "center": Qt.AlignmentFlag.AlignHCenter,
}


def table_format(leaf: TableRows, start: float) -> QTextTableFormat:
    """Return the format of some rows, set in by `start`."""
    made = QTextTableFormat()
    made.setBorder(0)
    made.setCellSpacing(0)
    made.setCellPadding(0)
    made.setLeftMargin(start)
    made.setWidth(QTextLength(_PERCENT, 100))
    made.setColumnWidthConstraints([QTextLength(_PERCENT, share) for share in leaf.columns.shares])
    made.setHeaderRowCount(0 if leaf.is_continued else 1)
    return made


def cell_format(columns: Columns, column: int, char: QTextCharFormat) -> QTextTableCellFormat:
    """Return a cell's padding, with the font that an empty cell is as high as."""
    made = QTextTableCellFormat()
    made.merge(char)
    made.setTopPadding(CELL_PADDING)
    made.setBottomPadding(CELL_PADDING)
    made.setLeftPadding(0)
    made.setRightPadding(0 if column == len(columns.shares) - 1 else _BETWEEN_COLUMNS)
    return made
