"""Decorations of a document: backgrounds, markers, pills and lines, by text position."""

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtGui import QTextTable

from ui.markdown.blocks import Box, HeadingLeaf, Leaf, Paragraph, plain
from ui.markdown.page.spacing import inset_of
from ui.widgets.texts import is_rtl

__all__ = [
    "BoxDecorations",
    "Decorations",
    "ListMarker",
    "Panel",
    "Pill",
    "Rows",
    "RuleLine",
    "Span",
]


@dataclass(slots=True)
class Panel:
    """A background that runs under several blocks; `last` moves while code arrives.

    Attributes:
        first: a position in its first block, as `last` is in its last one.
        start: how far it is set in, as `end` on the other side.
    """

    kind: Literal["code", "callout", "quote", "missing"]
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
    """The marker before a list item or a footnote."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """Code within a line."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pill:
    """A citation, of one source or several."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line across the page."""

    start: int


@dataclass(slots=True, eq=False)
class Rows:
    """Some rows of a table.

    Attributes:
        first: a position before the first row.
        shares: of the page's width that the columns have, as percentages.
        lengths: what the columns need to be read well.
        start_inset: how far the boxes around it set it in.
        is_wide: whether it has the width of its columns, for want of room.
        is_rtl: whether it is read from its right end.
    """

    start: int
    table: QTextTable
    first: int
    shares: tuple[float, ...]
    lengths: tuple[float, ...]
    start_inset: float
    is_continued: bool = False
    is_wide: bool = False
    is_rtl: bool = False


@dataclass(slots=True)
class Decorations:
    """Everything that is painted for one stretch of a document, each list in the text's order."""

    panels: list[Panel] = field(default_factory=list)
    marks: list[ListMarker] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    pills: list[Pill] = field(default_factory=list)
    rules: list[RuleLine] = field(default_factory=list)
    tables: list[Rows] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


class BoxDecorations:
    """Collects the decorations of quotes, callouts and lists while leaves are written."""

    def __init__(self) -> None:
        self._open: dict[int, Panel] = {}

    def forget(self) -> None:
        """Close all boxes; none goes on from what is final into a tail."""
        self._open = {}

    def follow(
        self, ink: Decorations, leaf: Leaf, previous: Leaf | None, first: int, last: int
    ) -> None:
        """Note the boxes that begin with a leaf, and stretch those that go on.

        Args:
            ink: what they are painted with.
            leaf: what was just written, from `first` to `last`.
            previous: what was written before it.
            first: a position in its first block.
            last: a position in its last block.
        """
        before = previous.boxes if previous else ()
        for depth, box in enumerate(leaf.boxes):
            if box in before:
                self._stretch(box, last)
            elif box.kind in {"callout", "quote"}:
                panel = _panel(box, leaf, depth, first, last)
                self._open[box.key] = panel
                ink.panels.append(panel)
            else:
                ink.marks.append(ListMarker(first, box.marker))

    def _stretch(self, box: Box, last: int) -> None:
        if panel := self._open.get(box.key):
            panel.last = last


def _panel(box: Box, leaf: Leaf, depth: int, first: int, last: int) -> Panel:
    inset = inset_of(leaf.boxes[:depth])
    text = plain(leaf.runs) if isinstance(leaf, Paragraph | HeadingLeaf) else ""
    return Panel(
        "callout" if box.kind == "callout" else "quote",
        first,
        last,
        inset.start,
        inset.end,
        box.tone,
        box.icon,
        is_rtl=is_rtl(text),
    )
