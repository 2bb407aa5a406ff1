"""Notes that a model takes in the map step of map-reduce, checked against the text.

A note names its lines. A quotation that is not in the text loses its marks, and one that is there
sets the lines of the note.
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
# Returns the lines that contain some words, preferring the named lines; None where there are none.
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
    """One note of a model.

    Attributes:
        lines: the first and last line that it is about.
        text: one line; what is in quotation marks is in the text word for word.
    """

    lines: Lines
    text: str

    @property
    def quotes(self) -> list[str]:
        """The quoted words of the note."""
        return _QUOTE.findall(self.text)

    def render(self) -> str:
        """Return the text of the note behind its lines."""
        return f"{span(self.lines)}: {self.text}"


def read_notes(answer: str, lines: Lines, find: Matcher) -> list[MapNote]:
    """Parse the notes in the answer of a model.

    Args:
        answer: each note on a line, behind the lines it rests on.
        lines: the lines that the model read; they replace any others that a note names.
        find: finds quotations in the text that the model read.
    """
    if normalize_text(answer).casefold() in _NOTHING:
        return []
    return [_check_quotes(named, text, lines, find) for named, text in _split_notes(answer)]


def render_notes(notes: Iterable[MapNote]) -> str:
    """Render notes, one on a line."""
    return "\n".join(note.render() for note in notes)


def build_matcher(text: str, first_line: int) -> Matcher:
    """Build a matcher that finds the lines of quoted words in a text."""
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
    """Notes whose quotations can be searched."""

    def __init__(self, notes: Iterable[MapNote]) -> None:
        self._quoted = [(VerbatimText(quote), note) for note in notes for quote in note.quotes]

    @classmethod
    def parse(cls, content: str) -> "QuotedNotes":
        """Parse notes from the content of the segment that they were sent in."""
        return cls(
            MapNote(named, text) for named, text in _split_notes(content) if named is not None
        )

    def find(self, quote: str, near: Lines | None = None) -> Lines | None:
        """Return the lines of a note that quotes some words, preferring the lines in `near`."""
        found = [note.lines for text, note in self._quoted if text.find(quote)]
        return near if near in found else next(iter(found), None)


def span(lines: Lines) -> str:
    """Return the name of lines, such as `12` or `12-14`."""
    first, last = lines
    return str(first) if first == last else f"{first}-{last}"


def name_spans(*found: Lines) -> str:
    """Return the name of lines in a sentence, such as `line 12` or `lines 12-14, 20`."""
    named = ", ".join(map(span, found[:_MOST_NAMED]))
    more = len(found) - _MOST_NAMED
    word = "lines" if len(found) > 1 or found[0][0] < found[0][1] else "line"
    return f"{word} {named} and {more} more" if more > 0 else f"{word} {named}"


def _split_notes(answer: str) -> Iterator[tuple[Lines | None, str]]:
    """Yield the notes of an answer with the lines they name; other lines continue a note."""
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
