"""Find the columns of a page, so that their lines are not read as one line.

A page has columns if its lines leave a clear gap from top to bottom, and if most of them reach the
gap. The cells of a table do not: a table is read row by row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, NamedTuple

__all__ = ["TextBox", "find_columns"]

_LEAST_GAP: Final = 9.0  # in points, as all lengths
_LEAST_LINES: Final = 5
_LEAST_SHARE: Final = 0.18  # of the width of the page's text that a column has
_SPANNING_SHARE: Final = 0.6  # from which a line belongs to no column
_FULL_SHARE: Final = 0.75  # of its column that a full line has
_LEAST_FULL: Final = 0.6
_MARGIN: Final = 2.0


class TextBox(NamedTuple):
    """A rectangle on a page, in the units of PDF files, whose vertical axis points upwards."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class _Column:
    left: float
    right: float
    boxes: Sequence[TextBox]

    @property
    def width(self) -> float:
        return self.right - self.left

    def is_prose(self) -> bool:
        """Return whether most of the lines are as long as the column is wide."""
        lines = _join_lines(self.boxes)
        full = sum(line.right - line.left >= _FULL_SHARE * self.width for line in lines)
        return len(lines) >= _LEAST_LINES and full >= _LEAST_FULL * len(lines)


def find_columns(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Return the parts of a page in reading order, or an empty list if it can be read as it is.

    Args:
        boxes: the rectangles of the texts of the page, in the order of the file.
    """
    if not boxes:
        return []
    page = _surround(boxes)
    width = page.right - page.left
    spanning = [box for box in boxes if box.right - box.left > _SPANNING_SHARE * width]
    narrow = [box for box in boxes if box not in spanning]
    columns = _split(narrow)
    is_wide = all(column.width >= _LEAST_SHARE * width for column in columns)
    if len(columns) < 2 or not is_wide or not all(column.is_prose() for column in columns):
        return []
    bands = _find_bands(page, spanning)
    if not _is_mixed(boxes, columns, len(bands)):
        return []
    return [part for band in bands for part in _cut_band(band, columns, spanning, narrow)]


def _surround(boxes: Sequence[TextBox]) -> TextBox:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return TextBox(min(lefts), min(bottoms), max(rights), max(tops))


def _split(boxes: Sequence[TextBox]) -> list[_Column]:
    """Split texts at the vertical gaps between them."""
    groups: list[list[TextBox]] = []
    right = float("-inf")
    for box in sorted(boxes):
        if box.left - right >= _LEAST_GAP:
            groups.append([])
        groups[-1].append(box)
        right = max(right, box.right)
    return [_Column(all_.left, all_.right, g) for g in groups for all_ in [_surround(g)]]


def _join_lines(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Join the texts that stand beside each other."""
    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda each: -each.top):
        if lines and (box.bottom + box.top) / 2 > lines[-1][0].bottom:
            lines[-1].append(box)
        else:
            lines.append([box])
    return [_surround(line) for line in lines]


def _find_bands(page: TextBox, spanning: Sequence[TextBox]) -> list[tuple[float, float]]:
    """Return the tops and bottoms of the bands above, on, and below the lines that span columns."""
    edges = {page.top + _MARGIN, page.bottom - _MARGIN}
    for line in _join_lines(spanning):
        edges |= {line.top + 1, line.bottom - 1}
    return list(pairwise(sorted(edges, reverse=True)))


def _is_mixed(boxes: Sequence[TextBox], columns: Sequence[_Column], bands: int) -> bool:
    """Return whether the file goes from column to column more often than a reader does."""
    places = [
        number
        for box in boxes
        for number, column in enumerate(columns)
        if column.left <= box.left and box.right <= column.right
    ]
    return sum(1 for _ in groupby(places)) > len(columns) * max(1, bands)


def _cut_band(
    band: tuple[float, float],
    columns: Sequence[_Column],
    spanning: Sequence[TextBox],
    narrow: Sequence[TextBox],
) -> list[TextBox]:
    top, bottom = band
    if any(bottom <= (box.top + box.bottom) / 2 <= top for box in spanning):
        whole = _surround([*spanning, *narrow])
        return [TextBox(whole.left - _MARGIN, bottom, whole.right + _MARGIN, top)]
    parts = [TextBox(each.left - _MARGIN, bottom, each.right + _MARGIN, top) for each in columns]
    return [part for part in parts if any(_holds(part, box) for box in narrow)]


def _holds(part: TextBox, box: TextBox) -> bool:
    middle = (box.top + box.bottom) / 2
    return part.left <= box.left and box.right <= part.right and part.bottom <= middle <= part.top
