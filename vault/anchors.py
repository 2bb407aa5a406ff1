"""Places in a note that links name behind `#`: headings, pages and blocks."""

import re
from collections.abc import Callable, Sequence

from vault.inline import Line, block_names
from vault.markdown import Document, Heading

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
        anchor = f"Page {anchor.removeprefix('page=')}"
    names = [part for part in anchor.split("#") if part.strip()]
    for key in (_as_in_links, _slug):
        if line := _line_of(headings, [key(name) for name in names], key):
            return line
    return 0


def named_blocks(document: Document, prose: Sequence[Line]) -> dict[str, tuple[int, int]]:
    """Find what each `^name` names: the innermost block that it ends, or the block above it."""
    found: dict[str, tuple[int, int]] = {}
    for name, line, is_alone in block_names(prose):
        at = next((i for i, b in enumerate(document.blocks) if b.first <= line <= b.last), None)
        if at is None:
            continue
        block = document.blocks[at]
        if is_alone and block.first == line and at > 0:
            block = document.blocks[at - 1]
            found.setdefault(name.lower(), (block.first, block.last))
            continue
        inside = [(first, last) for first, last in block.inner if first <= line <= last]
        smallest = min(
            inside, key=lambda span: span[1] - span[0], default=(block.first, block.last)
        )
        found.setdefault(name.lower(), smallest)
    return found


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
