"""The Qt formats of tables: full width, padded cells, no borders."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QTextCharFormat,
    QTextLength,
    QTextTableCellFormat,
    QTextTableFormat,
)

from ui.markdown.blocks import ColumnLayout, TableRows
from ui.markdown.page.spacing import Inset
from ui.theme import Theme

__all__ = [
    "CELL_PADDING",
    "TableSize",
    "build_cell_format",
    "build_table_format",
    "choose_size",
    "find_alignment",
    "measure_columns",
    "reverse_rtl_columns",
    "set_table_size",
]

CELL_PADDING = 5
_BETWEEN_COLUMNS = 16
_PERCENT = QTextLength.Type.PercentageLength

_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeading,
    "right": Qt.AlignmentFlag.AlignTrailing,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "start": Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute,
}
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute


@dataclass(frozen=True, slots=True)
class TableSize:
    """How wide a table is.

    Attributes:
        width: its width in pixels, or 0 if it has the width of the page.
        is_wide: whether it is wider than the page and therefore scrolls horizontally.
    """

    width: float = 0.0
    is_wide: bool = False


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
    "start" means the side where the table starts, whatever text is in the cell.
    """
    align = columns.aligns[column]
    return _AT_RIGHT if columns.is_rtl and align != "center" else _ALIGNMENTS[align]


def build_table_format(leaf: TableRows, start: float) -> QTextTableFormat:
    """Return the Qt format for a group of a table's rows, without its width.

    Args:
        leaf: the group of rows.
        start: the indentation of the table in pixels.
    """
    made = QTextTableFormat()
    made.setBorder(0)
    made.setCellSpacing(0)
    made.setCellPadding(0)
    made.setLeftMargin(start)
    made.setHeaderRowCount(int(leaf.has_header and not leaf.is_continued))
    return made


def choose_size(lengths: Sequence[float], inset: Inset, page_width: float) -> TableSize:
    """Return how wide a table is.

    Args:
        lengths: the width in pixels that each column needs to be readable.
        inset: the space that boxes around the table keep free.
        page_width: the width of the text around the table in pixels.
    """
    room = page_width - inset.start - inset.end
    if room > 0 and sum(lengths) > room:
        return TableSize(sum(lengths), is_wide=True)
    # Qt does not subtract a table's margin from a percentage of the page's width.
    return TableSize(max(0, room) if inset.start else 0)


def set_table_size(
    made: QTextTableFormat, size: TableSize, lengths: Sequence[float], shares: Sequence[float]
) -> None:
    """Complete the Qt format of a table by its width and those of its columns.

    Args:
        made: the format.
        size: how wide the table is.
        lengths: the widths of the columns in pixels, if the table is wider than the page.
        shares: their widths as percentages otherwise.
    """
    fixed = QTextLength(QTextLength.Type.FixedLength, size.width)
    made.setWidth(fixed if size.width else QTextLength(_PERCENT, 100))
    made.setColumnWidthConstraints(_choose_lengths(lengths if size.is_wide else (), shares))


def measure_columns(columns: ColumnLayout) -> tuple[float, ...]:
    """Return the width in pixels that each column of a table needs to be readable."""
    letter = QFontMetricsF(Theme.current().font("ui")).averageCharWidth()
    between = [_BETWEEN_COLUMNS] * (len(columns.letters) - 1) + [0]
    return tuple(
        letters * letter + space for letters, space in zip(columns.letters, between, strict=True)
    )


def _choose_lengths(fixed: Sequence[float], shares: Sequence[float]) -> list[QTextLength]:
    """Return the widths of a table's columns as `QTextLength` values.

    Args:
        fixed: the widths in pixels, or an empty sequence to use percentages.
        shares: the widths as percentages of the page's width.
    """
    if fixed:
        return [QTextLength(QTextLength.Type.FixedLength, length) for length in fixed]
    return [QTextLength(_PERCENT, share) for share in shares]


def build_cell_format(
    columns: ColumnLayout, column: int, char: QTextCharFormat
) -> QTextTableCellFormat:
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
