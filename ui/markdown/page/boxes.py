"""Which boxes of the leaves are open while a document is written, and what is painted for them."""

from ui.markdown.blocks import Box, Heading, Leaf, Paragraph, plain
from ui.markdown.page.ink import Ink, Mark, Panel
from ui.markdown.page.spacing import inset_of
from ui.widgets.direction import is_rtl

__all__ = ["BoxInk"]


class BoxInk:
    """Follows boxes from leaf to leaf."""

    def __init__(self) -> None:
        self._open: dict[int, Panel] = {}

    def forget(self) -> None:
        """Close all boxes; none goes on from what is final into a tail."""
        self._open = {}

    def follow(self, ink: Ink, leaf: Leaf, previous: Leaf | None, first: int, last: int) -> None:
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
                ink.marks.append(Mark(first, box.marker))

    def _stretch(self, box: Box, last: int) -> None:
        if panel := self._open.get(box.key):
            panel.last = last


def _panel(box: Box, leaf: Leaf, depth: int, first: int, last: int) -> Panel:
    inset = inset_of(leaf.boxes[:depth])
    text = plain(leaf.runs) if isinstance(leaf, Paragraph | Heading) else ""
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
