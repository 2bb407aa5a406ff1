"""Parsed Markdown as a flat list of blocks, which are called leaves.

The list is flat because a document is written from top to bottom, and only its end is replaced.
Each leaf has a `line`: the number of its first line in the parsed text, counted from 1, or 0 if it
is unknown. For a code block, this is the first line of code.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import count
from typing import Literal

from ui.widgets.texts import is_rtl

__all__ = [
    "GROUP_ROWS",
    "Box",
    "Cells",
    "CodeLines",
    "ColumnLayout",
    "Embed",
    "FormulaLeaf",
    "HeadingLeaf",
    "Leaf",
    "Missing",
    "Paragraph",
    "QuietRow",
    "Rule",
    "Run",
    "Style",
    "TabPage",
    "TabbedPages",
    "TableRows",
    "make_key",
    "plain",
    "settle_columns",
]

GROUP_ROWS = 6

_NUMBER = re.compile(r"[-+−±~<>≈]?\s?[$€£¥]?\s?\d[\d.,\u00a0\u202f ]*\s?(?:%|[A-Za-z°µ€]{1,3})?")
_FEWEST, _SHORT, _MOST, _PADDING = 4, 12, 40, 3
_READABLE = 24
_keys = count(1)


class Style(IntFlag):
    """Text style flags, which can be combined."""

    NONE = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    TEX = 16
    RAISED = 32
    MARK = 64
    QUIET = 128  # the name of a property or field
    SAME = 256  # a link that looks like the text around it
    CHOSEN = 512  # the tab whose page is shown


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one style.

    Attributes:
        text: the text of the run.
        style: the style of the text.
        link: an allowed address, or an empty string.
        cites: the citation numbers if the run is a citation, otherwise an empty tuple.
    """

    text: str
    style: Style = Style.NONE
    link: str = ""
    cites: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A container for blocks of Markdown: a list item, quote, callout, footnote or embedded note.

    Attributes:
        kind: the kind of container.
        key: a unique number that distinguishes two adjacent boxes of one kind.
        marker: an item's marker (`•`, `3.`, `[x]`, `[ ]`, `[-]`), or a footnote's label.
        tone: the colour of a callout: `success`, `amber`, `danger` or `neutral`.
        icon: the name of the icon of a callout or an embedded note.
        fold: `-` if a callout can be folded and is folded at first, `+` if it is open at first, or
            an empty string.
    """

    kind: Literal["item", "quote", "callout", "footnote", "embed"]
    key: int
    marker: str = ""
    tone: str = ""
    icon: str = ""
    fold: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. `is_title` marks the title line of a callout or an embedded note."""

    runs: tuple[Run, ...]
    boxes: tuple[Box, ...] = ()
    is_title: bool = False
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class HeadingLeaf:
    """A heading. Levels deeper than 3 look like level 3."""

    level: int
    runs: tuple[Run, ...]
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CodeLines:
    """Lines of code.

    Attributes:
        language: the language of the code as written, or an empty string.
        lines: the lines to draw. Each line is a sequence of (colour name, text) pairs.
        boxes: the boxes (containers such as quotes) around the block, from the outside in.
        whole: all lines of a block that has just been closed, in their final colours, to correct
            lines that were drawn earlier. Empty if no earlier lines were drawn.
        is_continued: whether earlier lines of the block were already drawn.
        later: the entire code of a closed block that is too long to be highlighted at once,
            otherwise an empty string.
        hint: what is said while the pointer is over the code, or an empty string.
    """

    language: str
    lines: tuple[tuple[tuple[str, str], ...], ...]
    boxes: tuple[Box, ...] = ()
    whole: tuple[tuple[tuple[str, str], ...], ...] = ()
    is_continued: bool = False
    later: str = ""
    line: int = field(default=0, compare=False)
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The column layout of a table, computed from its first rows.

    Attributes:
        shares: the width of each column as a percentage of the table's width.
        aligns: the alignment of each column: `left`, `center`, `right`, or `start`.
        letters: the width, in characters, that each column needs to be readable.
        is_rtl: whether the first column is at the right.
    """

    shares: tuple[float, ...]
    aligns: tuple[str, ...]
    letters: tuple[int, ...] = ()
    is_rtl: bool = False


@dataclass(frozen=True, slots=True)
class TableRows:
    """A group of rows of a table. The first group begins with the header.

    Attributes:
        columns: the column layout of the whole table.
        rows: the rows, each a sequence of cells.
        boxes: the boxes (containers such as quotes) around the table.
        is_continued: whether other rows of the table come before these.
        is_last: whether these are the last rows of the table that have arrived so far.
        has_header: whether the first row of the table is a header.
    """

    columns: ColumnLayout
    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    boxes: tuple[Box, ...] = ()
    is_continued: bool = False
    is_last: bool = True
    line: int = field(default=0, compare=False)
    has_header: bool = True


@dataclass(frozen=True, slots=True)
class Missing:
    """An image in Markdown text, which the parser does not load.

    Answers show a placeholder instead. Notes show the image if its file is in the vault.

    Attributes:
        where: the host of a web image, or the file name of a local one.
        alt: the description of the image.
        link: the address to open the image in a browser, or an empty string.
        boxes: the boxes (containers such as quotes) around the image.
        source: the path or name of a local image, as written, or an empty string for a web image.
    """

    where: str
    alt: str
    link: str
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)
    source: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Embed:
    """A note that is embedded with `![[…]]`, or a base or query, that is not read yet.

    Attributes:
        target: the name or path of the note as written, with the heading or `^block` after `#`, or
            what `ui.markdown.embeds.make_view_target` returns.
        boxes: the boxes (containers such as quotes) around the embedded note.
        code: the source of a base or query, or None for a note.
    """

    target: str
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)
    code: CodeLines | None = None


@dataclass(frozen=True, slots=True)
class FormulaLeaf:
    """A formula that stands alone, in TeX.

    Attributes:
        tex: the formula without dollar signs.
        boxes: the boxes (containers such as quotes) around the formula.
    """

    tex: str
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class QuietRow:
    """A row that stands in place of something that is not shown, such as a private note.

    Attributes:
        words: why it is not shown, as a sentence.
        icon: the name of the icon before the words.
        action: the link that opens it elsewhere, or None.
        boxes: the boxes (containers such as quotes) around the row.
    """

    words: str
    icon: str
    action: Run | None = None
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TabPage:
    """A text of which only the name is shown while another tab is chosen.

    Attributes:
        name: the name of the tab, unlike that of any other tab of its row.
        detail: what is shown after the name, such as "12 notes", or an empty string.
        leaves: the text.
    """

    name: str
    detail: str
    leaves: "tuple[Leaf, ...]"


@dataclass(frozen=True, slots=True)
class TabbedPages:
    """Texts of which one is shown below a row of tabs, such as the views of a base.

    Attributes:
        pages: the texts, at least one.
        boxes: the boxes (containers such as quotes) around the tabs.
    """

    pages: tuple[TabPage, ...]
    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule."""

    boxes: tuple[Box, ...] = ()
    line: int = field(default=0, compare=False)


Leaf = (
    Paragraph
    | HeadingLeaf
    | CodeLines
    | TableRows
    | Missing
    | Embed
    | QuietRow
    | Rule
    | TabbedPages
    | FormulaLeaf
)


def make_key() -> int:
    """Return a number that no other box has."""
    return next(_keys)


def plain(runs: tuple[Run, ...]) -> str:
    """Return the text of styled runs without their styles."""
    return "".join(run.text for run in runs)


Cells = tuple[tuple[Run, ...], ...]


def settle_columns(header: Cells, rows: Sequence[Cells], written: Sequence[str]) -> ColumnLayout:
    """Compute the column layout of a table from its header and first rows.

    Args:
        header: the cells of the header.
        rows: the first rows, at most `GROUP_ROWS`.
        written: the alignment of each column as specified in the Markdown, or an empty string for
            the default: right for numbers, otherwise left.
    """
    columns = [[header[i], *(row[i] for row in rows)] for i in range(len(header))]
    weights = [_weight(cells) for cells in columns]
    aligns = [
        asked or ("right" if _holds_numbers([row[i] for row in rows]) else "left")
        for i, asked in enumerate(written)
    ]
    total = sum(weights)
    shares = tuple(100 * weight / total for weight in weights)
    letters = tuple(_count_letters(cells) for cells in columns)
    first = "".join(run.text for row in (header, *rows) for cell in row for run in cell)
    return ColumnLayout(shares, tuple(aligns), letters, is_rtl(first))


def _count_letters(cells: Sequence[tuple[Run, ...]]) -> int:
    """Return the width of the widest cell in characters, clamped to a minimum and a maximum."""
    longest = max((_width("".join(run.text for run in cell)) for cell in cells), default=0)
    return max(_FEWEST, min(longest, _READABLE))


def _weight(cells: Sequence[tuple[Run, ...]]) -> float:
    texts = ["".join(run.text for run in cell) for cell in cells]
    longest = min(max((_width(text) for text in texts), default=0), _MOST)
    # Long texts can be wrapped, so their length beyond `_SHORT` counts only half.
    return max(_FEWEST, min(longest, _SHORT) + max(0, longest - _SHORT) / 2) + _PADDING


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _holds_numbers(cells: Sequence[tuple[Run, ...]]) -> bool:
    texts = ["".join(run.text for run in cell if not run.cites).strip() for cell in cells]
    filled = [text for text in texts if text and text not in {"-", "–", "—"}]
    return bool(filled) and all(_NUMBER.fullmatch(text) for text in filled)
