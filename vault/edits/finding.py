"""Find a text in a note as a model types it, which may differ from the note in invisible ways.

Models type straight quotation marks, plain hyphens and plain blanks where a note has others, and
composed letters where a note has decomposed ones. Such texts are equal for finding. Nothing but
what the model changes is replaced: the note keeps its own characters in all that stays.

```
note.text ─ fold ─┐
                  ├─ find ─ Match ─ narrow: what differs between old and new ─ Replacement
typed old ─ fold ─┘
```
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from vault.edits.texts import Replacement, count_common

__all__ = ["TypedText"]

_EQUAL: Final = {
    **dict.fromkeys("‘’‚‛′‹›ʼ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_BLANK: Final = r"[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_LAST_BLANKS: Final = re.compile(rf"{_BLANK}+\Z")
# Not shown, and seldom typed: soft hyphens, joiners, marks of direction, variation selectors.
_UNSEEN: Final = r"[\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]"
_MARKS: Final = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    r"\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    r"\u3099\u309a\ufe20-\ufe2f"
)


@cache
def _compile_piece() -> re.Pattern[str]:
    """Compile the pattern of a piece of a text.

    Most of a text is a run of characters that are compared as they are. The others are a trailing
    or any other run of blanks, an unseen character, a letter with its marks, and any other one.
    """
    special = re.compile(rf"{_BLANK}|{_UNSEEN}|[{_MARKS}]|[{''.join(_EQUAL)}\ud800-\udfff]")
    plain = (
        char
        for char in map(chr, range(0x10000))
        if not special.match(char) and unicodedata.is_normalized("NFD", char)
    )
    return re.compile(
        rf"(?P<plain>(?:[{_list_ranges(plain)}]|\ (?!{_BLANK}|\n|\Z))+(?![{_MARKS}]))"
        rf"|(?P<end>{_BLANK}+(?=\n|\Z))|(?P<blank>{_BLANK}+)|(?P<unseen>{_UNSEEN})"
        rf"|(?P<letter>[^\W\d_][{_MARKS}]*)|(?P<other>.)",
        re.DOTALL,
    )


def _list_ranges(chars: Iterable[str]) -> str:
    """Return the ranges of sorted characters, as in a set of a pattern."""
    ranges: list[list[int]] = []
    for code in map(ord, chars):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\u{first:04x}-\u{last:04x}" for first, last in ranges)


@dataclass(frozen=True)
class _Span:
    """A piece of a text.

    Attributes:
        start: where the piece begins in the text.
        end: where it ends.
        is_plain: whether each of its characters is compared as it is.
    """

    start: int
    end: int
    is_plain: bool


@dataclass(frozen=True)
class _Folded:
    """A text in the form in which texts are compared.

    Attributes:
        text: the folded text.
        places: where each piece begins in the folded text.
        spans: the pieces of the text.
    """

    text: str
    places: tuple[int, ...]
    spans: tuple[_Span, ...]

    def find_start(self, at: int) -> int:
        """Return where the piece of a folded character begins in the text."""
        place, span = self._find(at)
        return span.start + (at - place if span.is_plain else 0)

    def find_end(self, at: int) -> int:
        """Return where the piece of a folded character ends in the text."""
        place, span = self._find(at)
        return span.start + at - place + 1 if span.is_plain else span.end

    def is_border(self, at: int) -> bool:
        """Return whether no piece is cut in front of the folded character `at`."""
        if at in (0, len(self.text)):
            return True
        place, span = self._find(at)
        return span.is_plain or place == at

    def add(self, piece: str, start: int, end: int) -> "_Folded":
        """Return the folded text with one more character at its end."""
        places, spans = (*self.places, len(self.text)), (*self.spans, _Span(start, end, False))
        return _Folded(self.text + piece, places, spans)

    def _find(self, at: int) -> tuple[int, _Span]:
        number = bisect_right(self.places, at) - 1
        return self.places[number], self.spans[number]


@dataclass(frozen=True)
class _Match:
    """A place in a note that equals a typed text.

    Attributes:
        note: the folded text of the note.
        typed: the folded text that was typed.
        at: where the place begins in the folded text of the note.
    """

    note: _Folded
    typed: _Folded
    at: int

    @property
    def ends_line(self) -> bool:
        """Whether the place ends where a line of the note ends, trailing blanks not counted."""
        following = self.note.text[(end := self.at + len(self.typed.text)) : end + 1]
        return following in ("", "\n")

    @cached_property
    def borders(self) -> tuple[int, ...]:
        """The numbers of folded characters after which neither text has a piece that is cut."""
        numbers = range(len(self.typed.text) + 1)
        note, typed, at = self.note, self.typed, self.at
        return tuple(n for n in numbers if typed.is_border(n) and note.is_border(at + n))

    def find_start(self, number: int, head: int, old: str) -> int:
        """Return where the typed text goes on after a number of folded characters.

        Args:
            number: the number of folded characters.
            head: how many characters the typed text has in common with the new one.
            old: the typed text.
        """
        if number == len(self.typed.text):
            return len(old)
        start = self.typed.find_start(number)
        return start if number or start <= head else 0

    def find_end(self, number: int, tail: int, old: str) -> int:
        """Return where the typed text ends that has a number of folded characters.

        Args:
            number: the number of folded characters, at least 1.
            tail: how many last characters the typed text has in common with the new one.
            old: the typed text.
        """
        end = self.typed.find_end(number - 1)
        is_whole = number == len(self.typed.text) and end < len(old) - tail
        return len(old) if is_whole else end

    def find_source(self, first: int, last: int) -> tuple[int, int]:
        """Return where a range of the folded characters of this place is in the note."""
        note, at = self.note, self.at
        if last > first:
            return note.find_start(at + first), note.find_end(at + last - 1)
        place = note.find_end(at + first - 1) if first else note.find_start(at)
        return place, place


class TypedText:
    """The places at which a note has a text, exactly or else as a model types it.

    Attributes:
        starts: where each place begins in the note. Places may overlap.
    """

    def __init__(self, text: str, old: str) -> None:
        """Find the text.

        Args:
            text: the text of the note.
            old: the text to find.
        """
        self._old = old
        self.starts = _find_all(text, old)
        self._matches = [] if self.starts else _find(text, old)
        self.starts += [match.note.find_start(match.at) for match in self._matches]

    def replace(self, new: str) -> Replacement:
        """Build the replacement of the text, which the note has once.

        Args:
            new: the new text.
        """
        (start,) = self.starts
        if not self._matches:
            return Replacement(start, start + len(self._old), new)
        return _narrow(self._matches[0], self._old, new)


def _find_all(text: str, part: str) -> list[int]:
    """Return the position of each occurrence of a substring. Occurrences may overlap."""
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _find(text: str, old: str) -> list[_Match]:
    """Find a typed text in a note. A blank at its end is a blank or the end of a line there."""
    note, typed, last = _fold(text), _fold(old), _LAST_BLANKS.search(old)
    if not typed.text.strip():
        return []  # blanks alone are found only as they are
    found = [match for match in _match(note, typed) if not last or match.ends_line]
    if last:
        found += _match(note, typed.add(" ", last.start(), last.end()))
    return found


def _match(note: _Folded, typed: _Folded) -> list[_Match]:
    size = len(typed.text)
    return [
        _Match(note, typed, at)
        for at in _find_all(note.text, typed.text)
        if note.is_border(at) and note.is_border(at + size)
    ]


def _fold(text: str) -> _Folded:
    pieces, places, spans = list[str](), list[int](), list[_Span]()
    size = 0
    for found in _compile_piece().finditer(text):
        kind = found.lastgroup
        if kind in ("end", "unseen"):
            continue
        piece = _fold_piece(kind, found[0])
        pieces.append(piece)
        places.append(size)
        spans.append(_Span(found.start(), found.end(), kind == "plain"))
        size += len(piece)
    return _Folded("".join(pieces), tuple(places), tuple(spans))


def _fold_piece(kind: str | None, piece: str) -> str:
    """Return a piece of a text as it is compared."""
    if kind == "plain":
        return piece
    if kind == "blank":
        return " "
    if kind == "letter":
        return unicodedata.normalize("NFD", piece)
    return _EQUAL.get(piece, piece)


def _narrow(match: _Match, old: str, new: str) -> Replacement:
    """Build a replacement of what differs between the old and the new text as they were typed."""
    head = count_common(old, new)
    tail = count_common(old[head:][::-1], new[head:][::-1])
    first = max(at for at in match.borders if match.find_start(at, head, old) <= head)
    begin = match.find_start(first, head, old)
    ends = {at: match.find_end(at, tail, old) for at in match.borders if at > first}
    ends[first] = begin
    last = min(at for at, end in ends.items() if end >= len(old) - tail)
    start, end = match.find_source(first, last)
    return Replacement(start, end, new[begin : len(new) - (len(old) - ends[last])])
