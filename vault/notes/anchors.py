"""Places in a note that links name behind `#`: headings, pages and blocks."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from vault.notes.inline import Line, block_names
from vault.notes.markdown import Document, Heading
from vault.notes.pages import heading_of_page

_NOT_IN_ANCHORS = re.compile(r"[#|^:%\[\]\\\s]+")
_NOT_IN_SLUGS = re.compile(r"\W+")


def heading_line(headings: Sequence[Heading], anchor: str) -> int:
    """Give the line of the heading that an anchor names, or 0.

    Args:
        headings: those of the note.
        anchor: a heading, headings one below the other with `#` between them, the short form of
            one as other programs write it, or `page=N`.
    """
    if anchor.startswith("page="):
        anchor = heading_of_page(anchor.removeprefix("page="))
    names = [part for part in anchor.split("#") if part.strip()]
    for key in (_as_in_links, _slug):
        if line := _line_of(headings, [key(name) for name in names], key):
            return line
    return 0


def named_blocks(document: Document, prose: Sequence[Line]) -> dict[str, tuple[int, int]]:
    """Find what each `^name` names: the innermost block that it ends, or the block above it."""
    names = list(block_names(prose))
    if not names:
        return {}
    firsts = [block.first for block in document.blocks]
    innermost = _innermost(document, [line for _, line, _ in names])
    found: dict[str, tuple[int, int]] = {}
    for (name, line, is_alone), around in zip(names, innermost, strict=True):
        at = bisect_right(firsts, line) - 1
        names_above = is_alone and at > 0 and firsts[at] == line
        above = document.blocks[at - 1]
        found.setdefault(name.lower(), (above.first, above.last) if names_above else around)
    return found


def _innermost(document: Document, lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give for each line, in their order, the smallest block around it, in one sweep."""
    spans = [(block.first, block.last) for block in document.blocks]
    spans += chain.from_iterable(block.inner for block in document.blocks)
    spans.sort(key=lambda span: (-span[0], span[1]))  # taken from the end: outer before inner
    around: list[tuple[int, int]] = []
    for line in lines:
        while spans and spans[-1][0] <= line:
            around.append(spans.pop())
        while around and around[-1][1] < line:
            around.pop()
        yield around[-1] if around else (line, line)


def _line_of(headings: Sequence[Heading], names: list[str], key: Callable[[str], str]) -> int:
    for heading in headings:
        if names and key(heading.text) == names[0]:
            names = names[1:]
            if not names:
                return heading.line
    return 0


def _as_in_links(text: str) -> str:
    """Give a heading without what has a meaning in links, as Obsidian does."""
    return " ".join(_NOT_IN_ANCHORS.sub(" ", text).split()).casefold()


def _slug(text: str) -> str:
    return _NOT_IN_SLUGS.sub("-", text.casefold()).strip("-")
