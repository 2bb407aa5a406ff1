"""Find the headings above a position in a passage of a note.

A passage comes with a list of the headings above it, without their levels. If the passage starts
before the first heading, for example with the properties of the note, the list also has that first
heading, although it is inside the passage.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chains.citations.quotes import normalize_text, remove_markup

__all__ = ["HeadingPath", "find_heading"]

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S[^\n]*)")
_FENCE: Final = re.compile(r" {0,3}(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class HeadingPath:
    """The headings above a position, outermost first, each with its level and title."""

    headings: tuple[tuple[int, str], ...] = ()

    @classmethod
    def find_above_start(cls, passage: str, named: tuple[str, ...]) -> "HeadingPath":
        """Return the headings above the start of a passage.

        Their levels are assumed to be consecutive, such as `#`, `##`, `###`.

        Args:
            passage: Markdown text.
            named: the headings that are listed for the passage. Those that are inside the passage
                are not returned.
        """
        inner = list(_read_headings(passage))
        titles = [normalize_text(title) for _, title in inner]
        known = [normalize_text(title) for title in named]
        counts = range(min(len(known), len(titles)), 0, -1)
        count = next((n for n in counts if known[-n:] == titles[:n]), 0)
        above = named[: len(named) - count]
        least = inner[0][0] - len(above) if count else 1
        return cls(tuple(enumerate(above, least)))

    def add(self, level: int, title: str) -> "HeadingPath":
        """Return the path with a new heading. It replaces those of its level and deeper levels."""
        kept = (heading for heading in self.headings if heading[0] < level)
        return HeadingPath((*kept, (level, remove_markup(title.rstrip("#").rstrip()))))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the headings, outermost first."""
        return tuple(title for _, title in self.headings)


def find_heading(passage: str, place: int, named: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings above a position in a passage.

    Args:
        passage: Markdown text.
        place: the position as a character offset.
        named: the headings that are listed for the passage.
    """
    end = passage.find("\n", place)
    path = HeadingPath.find_above_start(passage, named)
    for level, title in _read_headings(passage[: end if end >= 0 else None]):
        path = path.add(level, title)
    return path.titles


def _read_headings(passage: str) -> Iterator[tuple[int, str]]:
    """Yield the level and the title of each heading in a passage, except in code."""
    in_fence = False
    for line in passage.split("\n"):
        in_fence = in_fence != (_FENCE.match(line) is not None)
        found = None if in_fence else _HEADING.match(line.rstrip())
        if found is not None:
            yield len(found[1]), found[2].rstrip("#").rstrip()
