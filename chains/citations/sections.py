"""The sections of notes that an answer without a model shows, and the citations of their lit lines.

The log stores the sections with the answer, so that a chat that is opened again shows them as they
were. `strata ask --json`, RPC and `strata sessions show` have them in the same form:

`sections: [{n, path, title, heading: […], lines: [a, b], lit: [[a, b], …], folded: [[a, b], …],
open, day?, text}]`, lines being those of the note, counted from 1. `lit` are the lines that answer,
`folded` those that are hidden at first. `text` is the whole text of a section that is open, and of
the others only the lines that are lit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from chains.citations.check import Citation
from chains.citations.quotes import read_source_text
from context.json_codec import Record
from context.layers import Segment
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["SECTIONS", "Lines", "ShownSection", "cite_sections", "read_sections"]

# The key of the sections in the log entry of an answer.
SECTIONS: Final = "sections"
# The first and the last line of a range, counted from 1.
Lines = tuple[int, int]


@dataclass(frozen=True)
class ShownSection(Record):
    """A section of a note that an answer shows.

    Attributes:
        source: the passage that was sent, which contains the section.
        lines: the first and last line of the section in the note.
        lit: the ranges of lines that answer the question, in their order.
        folded: the ranges of lines that are hidden until the user unfolds them.
        is_open: whether the section is shown, and not only its heading and the lit lines.
        day: the day of the note as ISO 8601, unless its title or a heading contains it.
    """

    source: Segment
    lines: Lines
    lit: tuple[Lines, ...] = ()
    folded: tuple[Lines, ...] = ()
    is_open: bool = False
    day: str = ""

    json_shape = (
        "n",
        "path",
        "title = source.title",
        "heading",
        "lines",
        "lit",
        "folded",
        "open = is_open",
        "day if day",
        "text",
    )

    @property
    def n(self) -> int:
        """The citation number of the section's source."""
        return self.source.number or 0

    @property
    def path(self) -> str:
        """The path of the note."""
        return self.source.source

    @property
    def first_of_source(self) -> int:
        """The line of the note with which the source begins."""
        return self.source.lines[0] if self.source.lines else 1

    @cached_property
    def source_text(self) -> MarkdownText:
        """The text of the source with the kind of each line."""
        return read_source_text(self.source)

    @cached_property
    def heading(self) -> tuple[str, ...]:
        """The headings above the first line that is lit or else shown, outermost first."""
        return self.find_headings(self.lit[0][0] if self.lit else self.lines[0])

    def find_headings(self, line: int) -> tuple[str, ...]:
        """Return the headings above a line of the note, or on it, outermost first."""
        return self.source_text.find_headings(line - self.first_of_source)

    @property
    def names(self) -> tuple[str, ...]:
        """The title of the note and the headings, each once."""
        return tuple(dict.fromkeys(filter(None, (self.source.title, *self.heading))))

    @property
    def shown(self) -> tuple[Lines, ...]:
        """The ranges of lines that are shown before anything is unfolded."""
        found, first = [], self.lines[0]
        for start, end in (*self.folded, (self.lines[1] + 1, self.lines[1])):
            if start > first:
                found.append((first, start - 1))
            first = end + 1
        return tuple(found)

    @property
    def text(self) -> str:
        """The section as it stands in the note, or only its lit lines if it is not open."""
        ranges = (self.lines,) if self.is_open else self.lit
        return "\n".join(filter(None, map(self.cut_lines, ranges)))

    def cut_lines(self, lines: Lines) -> str | None:
        """Return lines by their numbers in the note, or None if the source does not have them."""
        text = self.source.raw_content.split("\n")
        start, end = lines[0] - self.first_of_source, lines[1] - self.first_of_source + 1
        return "\n".join(text[start:end]) if 0 <= start < end <= len(text) else None


def read_sections(
    fields: Mapping[str, object], sources: Sequence[Segment]
) -> tuple[ShownSection, ...]:
    """Read the sections of an answer from its log entry.

    There are none if the entry has them in another form, or if a source lacks the lines.

    Args:
        fields: the further fields of the log entry.
        sources: the sources that were sent, each with its number.
    """
    stored, by_number = fields.get(SECTIONS), {source.number: source for source in sources}
    if not isinstance(stored, list | tuple):
        return ()
    try:
        found = tuple(_read_section(each, by_number) for each in stored)
    except (KeyError, TypeError, ValueError):
        return ()
    is_whole = all(each.cut_lines(lines) for each in found for lines in (each.lines, *each.lit))
    return found if is_whole else ()


def _read_section(data: Any, by_number: Mapping[int | None, Segment]) -> ShownSection:
    lit, folded = (tuple(map(_read_lines, data[key])) for key in ("lit", "folded"))
    source, lines = by_number[data["n"]], _read_lines(data["lines"])
    return ShownSection(source, lines, lit, folded, data["open"] is True, str(data.get("day", "")))


def _read_lines(data: Iterable[int]) -> Lines:
    first, last = map(int, data)
    return first, last


def cite_sections(sections: Iterable[ShownSection]) -> tuple[Citation, ...]:
    """Return a citation for each range of lit lines, or for a section without any.

    A citation is verified if the source that was sent has the lines.
    """
    return tuple(
        _cite(section, lines)
        for section in sections
        for lines in section.lit or section.shown[:1] or (section.lines,)
    )


def _cite(section: ShownSection, lines: Lines) -> Citation:
    quote, heading = section.cut_lines(lines), section.find_headings(lines[0])
    place = section.n, section.path, heading, lines
    return Citation(*place, quote, verified=quote is not None, found_by="strata")
