"""The decorations of a document, sorted by position: backgrounds, markers, pills and lines."""

from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from PySide6.QtGui import QTextTable

from ui.markdown.blocks import Box, HeadingLeaf, Leaf, Paragraph, plain
from ui.markdown.page.spacing import compute_inset
from ui.markdown.page.table import TableSize
from ui.widgets.texts import is_rtl

__all__ = [
    "BoxDecorations",
    "Decorations",
    "ListMarker",
    "Panel",
    "Pill",
    "ReplacedPart",
    "Rows",
    "RuleLine",
    "Span",
]

# What a character in a checkbox stands for in Obsidian's themes. Any other one is only shown.
_STATUSES = {
    " ": "open",
    "x": "done",
    "/": "in progress",
    "-": "cancelled",
    ">": "put off",
    "<": "scheduled",
    "?": "a question",
    "!": "important",
}
_CHECKBOX_CHARS = 3


@dataclass(slots=True)
class Panel:
    """A background behind several blocks of text, such as a code block or a quote.

    While an answer is streamed, `last` changes, because the background grows with the text.

    Attributes:
        kind: what the background belongs to.
        first: a text position in the first block.
        last: a text position in the last block.
        start: the indentation in pixels at the start of the lines.
        end: the indentation in pixels at the end of the lines.
        tone: the name of a callout's colour.
        icon: the name of the icon of a callout, an embedded note or a row in place of one.
        language: the language of a code block.
        is_rtl: whether the text runs from right to left.
    """

    kind: Literal["code", "callout", "quote", "missing", "embed"]
    first: int
    last: int
    start: float
    end: float
    tone: str = ""
    icon: str = ""
    language: str = ""
    is_rtl: bool = False


@dataclass(frozen=True, slots=True)
class ListMarker:
    """The marker before a list item or a footnote.

    Attributes:
        start: a text position in the first line of the item.
        text: the marker, such as `•`, `3.` or `[x]`.
    """

    start: int
    text: str

    @property
    def status(self) -> str:
        """The character in a checkbox, or an empty string if the marker is no checkbox."""
        is_box = len(self.text) == _CHECKBOX_CHARS and (self.text[0], self.text[2]) == ("[", "]")
        return self.text[1] if is_box else ""

    def describe_status(self) -> str:
        """Return what a checkbox stands for, in words."""
        return _STATUSES.get(self.status, f"marked “{self.status}”")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text with a background, such as inline code.

    Attributes:
        start: the text position where it starts.
        end: the text position where it ends.
        tone: the name of the theme colour of the background.
    """

    start: int
    end: int
    tone: str = "bg.raised"


@dataclass(frozen=True, slots=True)
class Pill:
    """A citation, drawn as a pill: short text on a rounded background.

    Attributes:
        start: the text position where the citation starts.
        end: the text position where it ends.
        numbers: the citation numbers of its sources.
    """

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A horizontal rule across the page."""

    start: int


@dataclass(slots=True, eq=False)
class Rows:
    """A group of a table's rows. Qt lays out each group as a separate table.

    Attributes:
        start: a text position in the last cell, used to sort and find the decoration.
        table: the Qt table with the rows.
        first: the text position of the first cell.
        shares: the widths of the columns as percentages of the page's width.
        lengths: the width in pixels that each column needs to be readable.
        start_inset: the indentation in pixels caused by the boxes (containers) around the table.
        end_inset: the space in pixels that these boxes keep free at the table's other side.
        size: how wide the table is.
        is_continued: whether other rows of the table come before these.
        is_rtl: whether the table is read from right to left.
    """

    start: int
    table: QTextTable
    first: int
    shares: tuple[float, ...]
    lengths: tuple[float, ...]
    start_inset: float
    end_inset: float
    size: TableSize
    is_continued: bool = False
    is_rtl: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether the table is wider than the page and therefore scrolls horizontally."""
        return self.size.is_wide


@dataclass(slots=True)
class Decorations:
    """The decorations of one section of a document, sorted by text position.

    A document has two sections: text that is final, and the end of the text that may still change.

    Attributes:
        panels: the backgrounds of code blocks, callouts, quotes and missing images.
        marks: the markers of list items and footnotes.
        spans: the backgrounds of inline code, and of chosen tabs.
        pills: the citations.
        rules: the horizontal rules.
        tables: the groups of table rows.
        targets: the addresses of the links.
    """

    panels: list[Panel] = field(default_factory=list)
    marks: list[ListMarker] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    pills: list[Pill] = field(default_factory=list)
    rules: list[RuleLine] = field(default_factory=list)
    tables: list[Rows] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def replace_part(self, part: "ReplacedPart", new: "Decorations") -> None:
        """Replace the decorations of a part of the text, and move those of the text below it.

        The addresses of the links in the part are kept, because links are known by their number.

        Args:
            part: the part of the text.
            new: the decorations of its new text, at their positions.
        """
        self.panels = _replace(self.panels, part, new.panels)
        self.marks = _replace(self.marks, part, new.marks)
        self.spans = _replace(self.spans, part, new.spans)
        self.pills = _replace(self.pills, part, new.pills)
        self.rules = _replace(self.rules, part, new.rules)
        self.tables = _replace(self.tables, part, new.tables)
        self.targets += new.targets


@dataclass(frozen=True, slots=True)
class ReplacedPart:
    """A part of a text that was written anew.

    Attributes:
        first: the text position where it begins.
        last: the text position where it ended before.
        by: how many characters longer it is than before, or shorter if negative.
    """

    first: int
    last: int
    by: int

    def move(self, position: int) -> int:
        """Return where a text position is now. One within the part may be anywhere in it."""
        return position + self.by if position > self.last else position

    def contains(self, position: int) -> bool:
        """Return whether a text position was in the part."""
        return self.first <= position <= self.last


_Placed = TypeVar("_Placed", Panel, ListMarker, Span, Pill, RuleLine, Rows)


def _replace(placed: list[_Placed], part: ReplacedPart, new: list[_Placed]) -> list[_Placed]:
    kept: list[_Placed] = [one for one in placed if _find_start(one) < part.first]
    kept += new
    kept += [_move(one, part) for one in placed if _find_start(one) > part.last]
    return kept


def _find_start(placed: Panel | ListMarker | Span | Pill | RuleLine | Rows) -> int:
    return placed.first if isinstance(placed, Panel | Rows) else placed.start


def _move(placed: _Placed, part: ReplacedPart) -> _Placed:
    if isinstance(placed, Panel):
        placed.first, placed.last = part.move(placed.first), part.move(placed.last)
        return placed
    if isinstance(placed, Rows):
        placed.first, placed.start = part.move(placed.first), part.move(placed.start)
        return placed
    if isinstance(placed, Span | Pill):
        return replace(placed, start=part.move(placed.start), end=part.move(placed.end))
    return replace(placed, start=part.move(placed.start))


class BoxDecorations:
    """Adds the decorations of boxes (quotes, callouts, list items) while a document is written."""

    def __init__(self) -> None:
        self._open: dict[int, Panel] = {}

    def forget(self) -> None:
        """Forget which boxes are still open. Their backgrounds are not extended any further."""
        self._open = {}

    def follow(
        self, decorations: Decorations, leaf: Leaf, previous: Leaf | None, first: int, last: int
    ) -> None:
        """Start the decorations of the boxes that open at a block, and extend those of open boxes.

        Args:
            decorations: the decorations to add to.
            leaf: the block of Markdown that was just written.
            previous: the block that was written before it, or None.
            first: a text position in the first text block of the leaf.
            last: a text position in the last text block of the leaf.
        """
        before = previous.boxes if previous else ()
        for depth, box in enumerate(leaf.boxes):
            if box in before:
                self._stretch(box, last)
            elif box.kind in {"callout", "quote", "embed"}:
                panel = _panel(box, leaf, depth, first, last)
                self._open[box.key] = panel
                decorations.panels.append(panel)
            else:
                decorations.marks.append(ListMarker(first, box.marker))

    def _stretch(self, box: Box, last: int) -> None:
        if panel := self._open.get(box.key):
            panel.last = last


def _panel(box: Box, leaf: Leaf, depth: int, first: int, last: int) -> Panel:
    inset = compute_inset(leaf.boxes[:depth])
    text = plain(leaf.runs) if isinstance(leaf, Paragraph | HeadingLeaf) else ""
    kind: Literal["callout", "embed", "quote"] = "quote"
    if box.kind in {"callout", "embed"}:
        kind = box.kind
    return Panel(
        kind,
        first,
        last,
        inset.start,
        inset.end,
        box.tone,
        box.icon,
        is_rtl=is_rtl(text),
    )


def list_tasks(decorations: Decorations) -> list[ListMarker]:
    """Return the markers that are checkboxes, in text order."""
    return [mark for mark in decorations.marks if mark.status]
