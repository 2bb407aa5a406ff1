"""The Qt formats of tables: full width, padded cells, no borders."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QTextCharFormat,
    QTextLength,
    QTextTableCellFormat,
    QTextTableFormat,
)

from ui.markdown.blocks import ColumnLayout, TableRows
from ui.theme import Theme

__all__ = [
    "CELL_PADDING",
    "cell_format",
    "column_lengths",
    "find_alignment",
    "measure_columns",
    "reverse_rtl_columns",
    "table_format",
]

CELL_PADDING = 5
_BETWEEN_COLUMNS = 16
_PERCENT = QTextLength.Type.PercentageLength

_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeading,
    "right": Qt.AlignmentFlag.AlignTrailing,
    "center": Qt.AlignmentFlag.AlignHCenter,
}
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute


def reverse_rtl_columns(leaf: TableRows) -> TableRows:
    """Reverse the columns of a right-to-left table, because Qt requires left-to-right order."""
    columns = leaf.columns
    if not columns.is_rtl:
        return leaf
    turned = replace(
        columns,
        shares=columns.shares[::-1],
        aligns=columns.aligns[::-1],
        letters=columns.letters[::-1],
    )
    return replace(leaf, columns=turned, rows=tuple(row[::-1] for row in leaf.rows))


def find_alignment(columns: ColumnLayout, column: int) -> Qt.AlignmentFlag:
    """Return the alignment of a table column.

    In right-to-left tables, all but centred columns are aligned to the right. In other tables, the
    alignment is relative to the text direction of each cell.
    """
    align = columns.aligns[column]
    return _AT_RIGHT if columns.is_rtl and align != "center" else _ALIGNMENTS[align]


def table_format(leaf: TableRows, start: float) -> QTextTableFormat:
    """Return the format for a group of rows, indented by `start` pixels."""
    made = QTextTableFormat()
    made.setBorder(0)
    made.setCellSpacing(0)
    made.setCellPadding(0)
    made.setLeftMargin(start)
    made.setWidth(QTextLength(_PERCENT, 100))
    made.setColumnWidthConstraints(column_lengths((), leaf.columns.shares))
    made.setHeaderRowCount(0 if leaf.is_continued else 1)
    return made


def measure_columns(columns: ColumnLayout) -> tuple[float, ...]:
    """Return the width in pixels that each column needs to be readable."""
    letter = QFontMetricsF(Theme.current().font("ui")).averageCharWidth()
    between = [_BETWEEN_COLUMNS] * (len(columns.letters) - 1) + [0]
    return tuple(
        letters * letter + space for letters, space in zip(columns.letters, between, strict=True)
    )


def column_lengths(fixed: Sequence[float], shares: Sequence[float]) -> list[QTextLength]:
    """Return the column widths: fixed widths in pixels if given, otherwise percentages."""
    if fixed:
        return [QTextLength(QTextLength.Type.FixedLength, length) for length in fixed]
    return [QTextLength(_PERCENT, share) for share in shares]


def cell_format(columns: ColumnLayout, column: int, char: QTextCharFormat) -> QTextTableCellFormat:
    """Return the format of a table cell.

    The format contains the padding, and the font that gives an empty cell its height.
    """
    made = QTextTableCellFormat()
    made.merge(char)
    made.setTopPadding(CELL_PADDING)
    made.setBottomPadding(CELL_PADDING)
    made.setLeftPadding(0)
    made.setRightPadding(0 if column == len(columns.shares) - 1 else _BETWEEN_COLUMNS)
    return made
