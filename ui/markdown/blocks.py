"""Leaves of a Markdown text: a flat list of blocks, each with the boxes it is nested in.

Flat, because a document is written from top to bottom and only its end is ever taken back.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from ui.widgets.texts import is_rtl

__all__ = [
    "GROUP_ROWS",
    "Box",
    "Cells",
    "CodeLines",
    "ColumnLayout",
    "HeadingLeaf",
    "Leaf",
    "Missing",
    "Paragraph",
    "Rule",
    "Run",
    "Style",
    "TableRows",
    "plain",
    "settle_columns",
]

GROUP_ROWS = 6

_NUMBER = re.compile(r"[-+−±~<>≈]?\s?[$€£¥]?\s?\d[\d.,\u00a0\u202f ]*\s?(?:%|[A-Za-z°µ€]{1,3})?")
_FEWEST, _SHORT, _MOST, _PADDING = 4, 12, 40, 3
_READABLE = 24


class Style(IntFlag):
    """How a run of text is set apart."""

    NONE = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    TEX = 16
    RAISED = 32


@dataclass(frozen=True, slots=True)
class Run:
    """Text in one look.

    Attributes:
        link: an address from the allow-list, or nothing.
        cites: the numbers of the sources this run stands for.
    """

    text: str
    style: Style = Style.NONE
    link: str = ""
    cites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """Something that leaves stand in: a list item, a quote, a callout, a footnote.

    Attributes:
        key: tells two neighbours of one kind apart.
        marker: what hangs before an item: `•`, `3.`, `[x]`, `[ ]`, or a footnote's label.
        tone: of a callout: accent, success, amber, danger or neutral.
        icon: of a callout.
    """

    kind: Literal["item", "quote", "callout", "footnote"]
    key: int
    marker: str = ""
    tone: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `is_title` for the first line of a callout."""

    runs: tuple[Run, ...]
    boxes: tuple[Box, ...] = ()
    is_title: bool = False


@dataclass(frozen=True, slots=True)
class HeadingLeaf:
    """A heading; what is deeper than three looks like three."""

    level: int
    runs: tuple[Run, ...]
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeLines:
    """Lines of code, or of mathematics between `$$`.

    Attributes:
        lines: of each, the syntax colours' names with their text.
        whole: every line of the block in its final colours, once the block is closed and a
            part of it was drawn before; otherwise nothing.
        is_continued: whether the block's beginning was drawn before.
        later: all code of a closed block that is too long to be coloured at once; otherwise
            nothing.
    """

    language: str
    lines: tuple[tuple[tuple[str, str], ...], ...]
    boxes: tuple[Box, ...] = ()
    whole: tuple[tuple[tuple[str, str], ...], ...] = ()
    is_continued: bool = False
    later: str = ""


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """What all rows of a table share, settled by its first rows.

    Attributes:
        shares: of the whole width, as percentages.
        aligns: left, center or right.
        letters: how many letters a line of each needs to be read well.
        is_rtl: whether the first column stands at the right.
    """

    shares: tuple[float, ...]
    aligns: tuple[str, ...]
    letters: tuple[int, ...] = ()
    is_rtl: bool = False


@dataclass(frozen=True, slots=True)
class TableRows:
    """Some rows of a table; the first group begins with the header.

    Attributes:
        is_last: whether the table ends here, as far as is known.
    """

    columns: ColumnLayout
    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    boxes: tuple[Box, ...] = ()
    is_continued: bool = False
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class Missing:
    """Where an image was meant to be; images are never fetched.

    Attributes:
        where: the host, or the name of the file.
        link: to open it in the browser, or nothing.
    """

    where: str
    alt: str
    link: str
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""

    boxes: tuple[Box, ...] = ()


Leaf = Paragraph | HeadingLeaf | CodeLines | TableRows | Missing | Rule


def plain(runs: tuple[Run, ...]) -> str:
    """Return the text of runs without their look."""
    return "".join(run.text for run in runs)


Cells = tuple[tuple[Run, ...], ...]


def settle_columns(header: Cells, rows: Sequence[Cells], written: Sequence[str]) -> ColumnLayout:
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
    return ColumnLayout(shares, tuple(aligns), letters, is_rtl(first))


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
