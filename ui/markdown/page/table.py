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
    """Return a right-to-left table with its columns in the order in which Qt writes them.

    Qt writes columns from left to right. Other tables are returned unchanged.
    """
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

    In right-to-left tables, all columns except centred ones are aligned to the right. In other
    tables, "left" means the side where the text of the cell starts, and "right" the opposite side.
    """
    align = columns.aligns[column]
    return _AT_RIGHT if columns.is_rtl and align != "center" else _ALIGNMENTS[align]


def table_format(leaf: TableRows, start: float) -> QTextTableFormat:
    """Return the Qt format for a group of a table's rows.

    Args:
        leaf: the group of rows.
        start: the indentation of the table in pixels.
    """
    made = QTextTableFormat()
    made.setBorder(0)
    made.setCellSpacing(0)
    made.setCellPadding(0)
    made.setLeftMargin(start)
    made.setWidth(QTextLength(_PERCENT, 100))
    made.setColumnWidthConstraints(column_lengths((), leaf.columns.shares))
    made.setHeaderRowCount(int(leaf.has_header and not leaf.is_continued))
    return made


def measure_columns(columns: ColumnLayout) -> tuple[float, ...]:
    """Return the width in pixels that each column of a table needs to be readable."""
    letter = QFontMetricsF(Theme.current().font("ui")).averageCharWidth()
    between = [_BETWEEN_COLUMNS] * (len(columns.letters) - 1) + [0]
    return tuple(
        letters * letter + space for letters, space in zip(columns.letters, between, strict=True)
    )


def column_lengths(fixed: Sequence[float], shares: Sequence[float]) -> list[QTextLength]:
    """Return the widths of a table's columns as `QTextLength` values.

    Args:
        fixed: the widths in pixels, or an empty sequence to use percentages.
        shares: the widths as percentages of the page's width.
    """
    if fixed:
        return [QTextLength(QTextLength.Type.FixedLength, length) for length in fixed]
    return [QTextLength(_PERCENT, share) for share in shares]


def cell_format(columns: ColumnLayout, column: int, char: QTextCharFormat) -> QTextTableCellFormat:
    """Return the format of a table cell, with its padding.

    Args:
        columns: the column layout of the table.
        column: the index of the cell's column.
        char: the character format of the table's text. Its font determines the height of empty
            cells.
    """
    made = QTextTableCellFormat()
    made.merge(char)
    made.setTopPadding(CELL_PADDING)
    made.setBottomPadding(CELL_PADDING)
    made.setLeftPadding(0)
    made.setRightPadding(0 if column == len(columns.shares) - 1 else _BETWEEN_COLUMNS)
    return made
