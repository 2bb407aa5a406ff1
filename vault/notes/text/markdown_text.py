"""The text of a note or of a passage, with the kind of each line.

A passage keeps what its note says of its lines, because without the lines above it nobody can tell
whether it begins in a code block, a comment or a list. `MarkdownText.structure` is that as a short
text, which is stored with the passage.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from vault.notes.text.document import Document, parse_document
from vault.notes.text.inline import Line, may_have_comments, plain_text, remove_comments
from vault.notes.text.lines import (
    BLANK,
    CODE,
    CODE_KINDS,
    COMMENT,
    FENCE_CLOSES,
    FRONT,
    HEADINGS,
    INDENTED,
    TABLE_KINDS,
    UNDERLINE,
    UNDERLINED,
    hide_comment,
)

__all__ = ["MarkdownText", "SectionHeading", "list_inner_headings", "read_text"]

_MOST_CACHED: Final = 256
_WITHOUT_COMMENTS: Final = CODE_KINDS | {FRONT}
_NOT_SHOWN: Final = CODE_KINDS | {COMMENT}
# Matches a structure with the kind of a heading, which spares most passages from being read.
_HAS_HEADING: Final = re.compile(rf'\["[^"]*[{HEADINGS}{UNDERLINED}]')


class SectionHeading(NamedTuple):
    """A heading that starts a section of a note."""

    level: int
    title: str


_Path = tuple[SectionHeading, ...]


@dataclass(frozen=True)
class MarkdownText:
    """The text of a note, or a part of it, with the kind of each line.

    Attributes:
        lines: the lines as they are in the note.
        kinds: a letter for each line, as in `vault.notes.text.lines`.
        quoted: a digit for each line, which says how many quotations the line is inside. Empty if
            there are no quotations.
        above: the headings above the first line, outermost first.
    """

    lines: tuple[str, ...]
    kinds: str
    quoted: str = ""
    above: _Path = ()

    def __post_init__(self) -> None:
        if not self.quoted.strip("0"):
            object.__setattr__(self, "quoted", "")

    @classmethod
    def from_document(cls, document: Document) -> "MarkdownText":
        """Return the whole text of a note."""
        return cls(document.lines, document.kinds, document.quoted)

    @property
    def structure(self) -> str:
        """All but the lines, as a text that `read_text` reads. It is ASCII."""
        above = [(level, _replace_surrogates(title)) for level, title in self.above]
        return json.dumps([self.kinds, self.quoted, above], separators=(",", ":"))

    def is_code(self, at: int) -> bool:
        """Return whether the line with an index is in a code block, or one of its fences."""
        return self.kinds[at] in CODE_KINDS

    def is_front(self, at: int) -> bool:
        """Return whether the line with an index belongs to the front matter."""
        return self.kinds[at] == FRONT

    def list_shown_lines(self) -> Iterator[Line]:
        """Yield the lines outside of code and comments, numbered from 1."""
        for at, kind in enumerate(self.kinds):
            if kind not in _NOT_SHOWN:
                yield at + 1, hide_comment(self.lines[at], kind)

    def show_line(self, at: int) -> str:
        """Return the line with an index without quotation marks and what a comment hides."""
        return hide_comment(self.strip_quotes(at), self.kinds[at])

    def hide_comments(self) -> list[str]:
        """Return the lines without what is in comments. Code and front matter stay as they are."""
        if not may_have_comments(self.lines):
            return list(self.lines)
        return [
            line if kind in _WITHOUT_COMMENTS else "" if kind == COMMENT else _hide(line, kind)
            for line, kind in zip(self.lines, self.kinds, strict=True)
        ]

    def strip_quotes(self, at: int) -> str:
        """Return the line with an index without the marks of the quotations it is inside."""
        line = self.lines[at]
        for _ in range(int(self.quoted[at]) if self.quoted else 0):
            bare = line.lstrip(" \t")
            if not bare.startswith(">"):
                break  # a paragraph may go on without its marks
            line = bare[1:].removeprefix(" ")
        return line

    def list_headings(self) -> Iterator[tuple[int, SectionHeading]]:
        """Yield the index of the first line of each heading that starts a section, and it."""
        at = 0
        while at < len(self.kinds):
            kind, first = self.kinds[at], at
            at += 1
            if kind in HEADINGS:
                yield first, SectionHeading(int(kind), _read_title(self.lines[first]))
            elif kind in UNDERLINED:
                while self.kinds[at : at + 1] == kind:
                    at += 1
                title = plain_text("\n".join(self.lines[first:at]))
                yield first, SectionHeading(UNDERLINED.index(kind) + 1, title)
                at += self.kinds[at : at + 1] == UNDERLINE

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the headings that start a section."""
        return tuple(heading.title for _, heading in self.list_headings())

    def find_headings(self, at: int) -> tuple[str, ...]:
        """Return the titles of the headings above the line with an index, or on it."""
        return tuple(heading.title for heading in self._find_path(at))

    def find_solid_end(self, at: int) -> int:
        """Return the index behind the code block or table that begins at an index.

        It is the index itself if none begins there.
        """
        kinds, kind = self.kinds, self.kinds[at]
        if kind in TABLE_KINDS:
            return _find_end(kinds, at, TABLE_KINDS)
        if kind == INDENTED:
            return _find_end(kinds, at, {INDENTED})
        if kind not in CODE_KINDS:
            return at
        end = at if kind == FENCE_CLOSES else _find_end(kinds, at + 1, {CODE})
        return end + (kinds[end : end + 1] == FENCE_CLOSES)

    def join(self, below: "MarkdownText", at: int, lines: Sequence[str]) -> "MarkdownText":
        """Return this text and one that begins at its index `at`, maybe behind blank lines.

        Args:
            below: the other text of the same note, whose kinds are preferred where both have one.
            at: the index of its first line.
            lines: the lines of both.
        """
        is_one_block = self.kinds[-1] in CODE_KINDS and below.kinds[0] == CODE
        gap = CODE if is_one_block else BLANK
        kinds = self.kinds[:at].ljust(at, gap) + below.kinds + self.kinds[at + len(below.kinds) :]
        quoted = "".join(
            max(pair) for pair in zip_longest(self.quoted, "0" * at + below.quoted, fillvalue="0")
        )
        return MarkdownText(tuple(lines), kinds, quoted.ljust(len(kinds), "0"), self.above)

    def cut(self, start: int, end: int) -> "MarkdownText":
        """Return the lines from the index `start` to the index `end`, which keep their place."""
        path = self._find_path(start - 1)
        return MarkdownText(
            self.lines[start:end], self.kinds[start:end], self.quoted[start:end], path
        )

    @cached_property
    def _sections(self) -> tuple[Sequence[int], Sequence[_Path]]:
        """The index of the first line of each section, and the headings above its text."""
        starts, paths = [0], [self.above]
        for at, heading in self.list_headings():
            starts.append(at)
            paths.append(_add_heading(paths[-1], heading))
        return starts, paths

    def _find_path(self, at: int) -> _Path:
        starts, paths = self._sections
        return paths[max(0, bisect_right(starts, at) - 1)]


@lru_cache(maxsize=_MOST_CACHED)
def read_text(
    text: str, structure: str = "", heading: tuple[str, ...] = (), *, starts_note: bool = False
) -> MarkdownText:
    """Return a passage with the kind of each line.

    If the structure is unknown, the text is parsed as if it began outside of all blocks.

    Args:
        text: the text of the passage.
        structure: what `MarkdownText.structure` was where the passage was cut out of its note.
        heading: the headings that are listed for the passage, some of which may be inside it.
        starts_note: whether the passage is the start of a note, which may have front matter.
    """
    lines = tuple(text.split("\n"))
    known = _read_structure(lines, structure) if structure else None
    if known is not None:
        return known
    document = parse_document(text if starts_note else f"\n{text}")
    start = 0 if starts_note else 1
    quoted = document.quoted[start:]
    alone = MarkdownText(lines, document.kinds[start:], quoted)
    inner = [found for _, found in alone.list_headings()]
    return MarkdownText(lines, alone.kinds, quoted, _place_above(heading, inner))


def list_inner_headings(text: str, structure: str = "") -> tuple[str, ...]:
    """Return the titles of the headings within a passage."""
    if structure and not _HAS_HEADING.match(structure):
        return ()
    return read_text(text, structure, starts_note=True).titles


def _read_structure(lines: tuple[str, ...], structure: str) -> MarkdownText | None:
    """Return the text with its stored structure, or None if they do not belong together."""
    try:
        kinds, quoted, above = json.loads(structure)
        path = tuple(SectionHeading(int(level), str(title)) for level, title in above)
    except (TypeError, ValueError, RecursionError):
        return None
    is_fit = isinstance(kinds, str) and isinstance(quoted, str) and len(kinds) == len(lines)
    is_fit = is_fit and len(quoted) in (0, len(lines)) and (not quoted or quoted.isdecimal())
    return MarkdownText(lines, kinds, quoted, path) if is_fit else None


def _place_above(listed: tuple[str, ...], inner: Sequence[SectionHeading]) -> _Path:
    """Return the headings above the start of a passage whose structure is unknown.

    Their levels are assumed to be consecutive. If the passage starts before the first heading, the
    list also has that heading, although it is inside the passage.
    """
    titles = [heading.title for heading in inner]
    counts = range(min(len(listed), len(titles)), 0, -1)
    count = next((n for n in counts if list(listed[-n:]) == titles[:n]), 0)
    above = listed[: len(listed) - count]
    least = inner[0].level - len(above) if count else 1
    return tuple(SectionHeading(level, title) for level, title in enumerate(above, least))


def _hide(line: str, kind: str) -> str:
    return remove_comments(hide_comment(line, kind))


def _find_end(kinds: str, start: int, wanted: Container[str]) -> int:
    return next((at for at in range(start, len(kinds)) if kinds[at] not in wanted), len(kinds))


def _add_heading(path: _Path, heading: SectionHeading) -> _Path:
    """Return a path with a new heading. It replaces those of its level and deeper levels."""
    return (*(above for above in path if above.level < heading.level), heading)


def _read_title(line: str) -> str:
    """Return the title in a heading line, without the `#` marks at its start and its end."""
    text = line.strip().lstrip("#")
    bare = text.rstrip("#")
    if not bare or bare[-1] in " \t":
        text = bare
    return plain_text(text)


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
