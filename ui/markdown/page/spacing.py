"""The space between blocks of Markdown, and the indentation in lists, quotes and callouts.

A block without inner blocks is called a leaf. Space is always added above a leaf, so that the text
already on the page does not move when more is appended.
"""

from dataclasses import dataclass

from ui.markdown.blocks import (
    Box,
    CodeLines,
    HeadingLeaf,
    Leaf,
    Missing,
    Paragraph,
    QuietRow,
    Rule,
    TableRows,
)
from ui.theme import Theme

__all__ = [
    "CALLOUT_INSET",
    "CODE_PADDING",
    "EMBED_HANG",
    "EMBED_INSET",
    "Inset",
    "compute_distance",
    "compute_inset",
    "compute_padding_below",
    "measure_gap_above",
]

CODE_PADDING = 12
_HANG = 22
_QUOTE_INSET = 16
EMBED_INSET = 18
EMBED_HANG = 22
CALLOUT_INSET = 36
_CALLOUT_END = 16
# However deeply a text is nested, it has to be readable in the column.
_MOST_INSET = 400
_MOST_END = 96
_PADDING = {"callout": 10, "quote": 2, "item": 0, "footnote": 0, "embed": 2}
_CODE_HEAD = 24


@dataclass(frozen=True, slots=True)
class Inset:
    """The indentation of a leaf (block of Markdown), in pixels.

    Attributes:
        start: the indentation on the side where the lines start.
        end: the indentation on the opposite side.
    """

    start: float
    end: float


def compute_inset(boxes: tuple[Box, ...]) -> Inset:
    """Return the indentation of a leaf (block of Markdown) inside boxes such as list items."""
    theme = Theme.current()
    start = end = 0.0
    for box in boxes:
        if box.kind == "callout":
            start += theme.px(CALLOUT_INSET)
            end += _CALLOUT_END
        elif box.kind == "embed":
            start += EMBED_INSET
        else:
            start += _QUOTE_INSET if box.kind == "quote" else theme.px(_HANG)
    return Inset(min(start, theme.px(_MOST_INSET)), min(end, _MOST_END))


def measure_gap_above(leaf: Leaf, previous: Leaf | None) -> float:
    """Return the space in pixels above a leaf (block of Markdown).

    The space includes the padding of boxes (such as callouts) that end or begin before the leaf.

    Args:
        leaf: the leaf below the space.
        previous: the leaf above the space, or None at the start of the document.
    """
    opened = compute_padding_above(leaf, previous)
    if previous is None:
        return opened
    return compute_distance(leaf, previous) + compute_padding_below(previous, leaf) + opened


def compute_padding_above(leaf: Leaf, previous: Leaf | None) -> float:
    """Return the padding in pixels above a leaf (block of Markdown).

    This includes the padding of all boxes that begin with the leaf.

    Args:
        previous: the leaf before it, or None at the start of the document.
    """
    before = previous.boxes if previous else ()
    inner = sum(_PADDING[box.kind] for box in leaf.boxes if box not in before)
    if isinstance(leaf, CodeLines):
        return inner + CODE_PADDING + Theme.current().px(_CODE_HEAD)
    return inner + (CODE_PADDING if isinstance(leaf, Missing | QuietRow) else 0)


def compute_padding_below(leaf: Leaf, following: Leaf | None = None) -> float:
    """Return the padding in pixels below a leaf (block of Markdown).

    This includes the padding of all boxes that end with the leaf.

    Args:
        following: the leaf after it, or None at the end of the document.
    """
    after = following.boxes if following else ()
    outer = sum(_PADDING[box.kind] for box in leaf.boxes if box not in after)
    return outer + (CODE_PADDING if isinstance(leaf, CodeLines | Missing | QuietRow) else 0)


def compute_distance(leaf: Leaf, previous: Leaf) -> float:
    """Return the space in pixels between two leaves, without the padding of boxes around them."""
    if isinstance(previous, Paragraph) and previous.is_title:
        box = previous.boxes[-1]
        if box in leaf.boxes:
            return 6 if box.kind == "embed" or not isinstance(leaf, Paragraph) else 2
    if isinstance(leaf, HeadingLeaf):
        return _get_heading_space(leaf, "space_before")
    if isinstance(previous, HeadingLeaf):
        return _get_heading_space(previous, "space_after")
    if isinstance(leaf, Rule) or isinstance(previous, Rule):
        return 20
    if isinstance(leaf, Paragraph) and isinstance(previous, Paragraph):
        return _between_paragraphs(leaf, previous)
    return 12 if isinstance(leaf, TableRows | Paragraph) else 14


def _between_paragraphs(leaf: Paragraph, previous: Paragraph) -> float:
    in_item, was_in_item = _is_in_list(leaf), _is_in_list(previous)
    if in_item and was_in_item:
        if _is_other_list(leaf.boxes, previous.boxes):
            return 12
        return 8 if leaf.boxes == previous.boxes else 4
    return 8 if in_item else 12


def _is_other_list(boxes: tuple[Box, ...], before: tuple[Box, ...]) -> bool:
    """Return whether a bullet list follows a numbered list at the same depth, or vice versa.

    Args:
        boxes: the boxes (containers such as lists) around the current block.
        before: the boxes around the previous block.
    """
    parted = ((box, other) for box, other in zip(boxes, before, strict=False) if box != other)
    box, other = next(parted, (None, None))
    if box is None or other is None:
        return False
    return box.marker[:1].isdigit() != other.marker[:1].isdigit()


def _is_in_list(leaf: Leaf) -> bool:
    return any(box.kind in {"item", "footnote"} for box in leaf.boxes)


def _get_heading_space(heading: HeadingLeaf, which: str) -> float:
    return float(Theme.current().value(f"type.h{min(heading.level, 3)}.{which}"))
