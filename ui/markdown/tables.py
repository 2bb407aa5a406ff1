"""How wide a table's columns are, which hold numbers, and which comes first; settled by its start.

Later rows do not change what was settled, so a table that is still arriving never reflows, and
its rows can be appended without touching those above.
"""

import re
import unicodedata
from collections.abc import Sequence

from ui.markdown.blocks import Columns, Run
from ui.widgets.direction import is_rtl

__all__ = ["GROUP_ROWS", "Cells", "settle_columns"]

GROUP_ROWS = 6

Cells = tuple[tuple[Run, ...], ...]

_NUMBER = re.compile(r"[-+−±~<>≈]?\s?[$€£¥]?\s?\d[\d.,\u00a0\u202f ]*\s?(?:%|[A-Za-z°µ€]{1,3})?")
_FEWEST, _SHORT, _MOST, _PADDING = 4, 12, 40, 3
_READABLE = 24


def settle_columns(header: Cells, rows: Sequence[Cells], written: Sequence[str]) -> Columns:
    """Return shares and alignments.

    Args:
        header: the cells of the first line.
        rows: the first rows, at most `GROUP_ROWS`.
        written: the alignment each column asks for, or an empty string.
    """
    columns = [[header[i], *(row[i] for row in rows)] for i in range(len(header))]
    weights = [_weight(cells) for cells in columns]
    aligns = [
        asked or ("right" if _holds_numbers([row[i] for row in rows]) else "left")
        for i, asked in enumerate(written)
    ]
    total = sum(weights)
    shares = tuple(100 * weight / total for weight in weights)
    letters = tuple(_letters(cells) for cells in columns)
    first = "".join(run.text for row in (header, *rows) for cell in row for run in cell)
    return Columns(shares, tuple(aligns), letters, is_rtl(first))


def _letters(cells: Sequence[tuple[Run, ...]]) -> int:
    """Return the length of the longest cell, as far as it is not better broken."""
    longest = max((_width("".join(run.text for run in cell)) for cell in cells), default=0)
    return max(_FEWEST, min(longest, _READABLE))


def _weight(cells: Sequence[tuple[Run, ...]]) -> float:
    texts = ["".join(run.text for run in cell) for cell in cells]
    longest = min(max((_width(text) for text in texts), default=0), _MOST)
    # What is long can be broken, so it yields before what is short.
    return max(_FEWEST, min(longest, _SHORT) + max(0, longest - _SHORT) / 2) + _PADDING


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _holds_numbers(cells: Sequence[tuple[Run, ...]]) -> bool:
    texts = ["".join(run.text for run in cell if not run.cites).strip() for cell in cells]
    filled = [text for text in texts if text and text not in {"-", "–", "—"}]
    return bool(filled) and all(_NUMBER.fullmatch(text) for text in filled)
