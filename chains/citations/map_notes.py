"""Parse the reading notes of a map-reduce, and verify their quotations.

A model writes reading notes while it reads a long attachment part by part. Each note starts with a
line range, which is extended to include the lines that the note quotes. Quotation marks are removed
from words that do not occur in the attachment.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from chains.citations.quotes import VerbatimText, normalize_text

__all__ = [
    "Lines",
    "MapNote",
    "Matcher",
    "QuotedNotes",
    "build_matcher",
    "read_notes",
    "render_notes",
]

Lines = tuple[int, int]
# Returns the lines that contain a quotation, preferably the named lines, or None if it is not
# found.
Matcher = Callable[[str, Lines | None], Lines | None]

_MOST_NAMED: Final = 12
_NOTE: Final = re.compile(
    r"\s*(?:[-*•]\s+)?\[?(?:lines?\s+|L)?(\d{1,9})(?:\s*[-–—]\s*L?(\d{1,9}))?\]?\s*:\s*(.*)",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"\s*(?:[-*•]\s+)?")
_QUOTE: Final = re.compile(r'["“„«»]([^"“”„«»\n]+)["“”«»]')
_NOTHING: Final = frozenset({"nothing", "none"})


@dataclass(frozen=True)
class MapNote:
    """A reading note: what a model noted about some lines of a long text.

    Attributes:
        lines: the first and last line that the note covers.
        text: the note on one line. Words in quotation marks occur verbatim in the long text.
    """

    lines: Lines
    text: str

    @property
    def quotes(self) -> list[str]:
        """The texts in quotation marks within the reading note."""
        return _QUOTE.findall(self.text)

    def render(self) -> str:
        """Format the reading note on one line: line numbers, colon, text."""
        return f"{span(self.lines)}: {self.text}"


def read_notes(answer: str, lines: Lines, find: Matcher) -> list[MapNote]:
    """Parse the reading notes in a model's answer.

    Args:
        answer: one note per line, each starting with line numbers.
        lines: the lines that the model read. Notes without valid line numbers apply to all of them.
        find: finds a quotation in the text that the model read.
    """
    if normalize_text(answer).casefold() in _NOTHING:
        return []
    return [_check_quotes(named, text, lines, find) for named, text in _split_notes(answer)]


def render_notes(notes: Iterable[MapNote]) -> str:
    """Format the notes that a model took while reading as text, one per line."""
    return "\n".join(note.render() for note in notes)


def build_matcher(text: str, first_line: int) -> Matcher:
    """Build a function that returns the line range of a quotation in a text.

    Args:
        text: the text to search.
        first_line: the line number of the first line of `text` in its note.
    """
    whole, lines = VerbatimText(text), text.split("\n")

    def find(quote: str, near: Lines | None) -> Lines | None:
        if near is not None:
            named = VerbatimText("\n".join(lines[near[0] - first_line : near[1] - first_line + 1]))
            if (place := named.find(quote)) is not None:
                return named.find_lines(place, near[0])
        place = whole.find(quote)
        return None if place is None else whole.find_lines(place, first_line)

    return find


class QuotedNotes:
    """The reading notes on a long attachment. The words that they quote can be searched."""

    def __init__(self, notes: Iterable[MapNote]) -> None:
        self._quoted = [(VerbatimText(quote), note) for note in notes for quote in note.quotes]

    @classmethod
    def parse(cls, content: str) -> "QuotedNotes":
        """Parse the reading notes in the text of a segment."""
        return cls(
            MapNote(named, text) for named, text in _split_notes(content) if named is not None
        )

    def find(self, quote: str, near: Lines | None = None) -> Lines | None:
        """Return the line range of a reading note that quotes the given words, or None.

        If several notes quote the words, a note about the lines `near` is preferred.
        """
        found = [note.lines for text, note in self._quoted if text.find(quote)]
        return near if near in found else next(iter(found), None)


def span(lines: Lines) -> str:
    """Format a line range, such as `12` or `12-14`."""
    first, last = lines
    return str(first) if first == last else f"{first}-{last}"


def name_spans(*found: Lines) -> str:
    """Format line ranges for use in a sentence, such as `line 12` or `lines 12-14, 20`."""
    named = ", ".join(map(span, found[:_MOST_NAMED]))
    more = len(found) - _MOST_NAMED
    word = "lines" if len(found) > 1 or found[0][0] < found[0][1] else "line"
    return f"{word} {named} and {more} more" if more > 0 else f"{word} {named}"


def _split_notes(answer: str) -> Iterator[tuple[Lines | None, str]]:
    """Yield each reading note with its line range. A line without a range continues the note."""
    named: Lines | None = None
    words: list[str] = []
    for line in answer.splitlines():
        match = _NOTE.fullmatch(line)
        if match is not None:
            if words:
                yield named, " ".join(words)
            named = int(match[1]), int(match[2] or match[1])
            words = [match[3].strip()] if match[3].strip() else []
        elif line.strip():
            words.append(_MARK.sub("", line, count=1).strip() if not words else line.strip())
    if words:
        yield named, " ".join(words)


def _check_quotes(named: Lines | None, text: str, lines: Lines, find: Matcher) -> MapNote:
    stated = named if named and lines[0] <= named[0] <= named[1] <= lines[1] else None
    found: list[Lines] = []

    def shown(match: re.Match[str]) -> str:
        place = find(match[1], stated)
        if place is None:
            return match[1]
        found.append(place)
        return f'"{match[1]}"'

    checked = _QUOTE.sub(shown, text)
    if not found:
        return MapNote(stated or lines, checked)
    every = [*found, stated] if stated else found
    return MapNote((min(first for first, _ in every), max(last for _, last in every)), checked)
