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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vault.edits.texts import Replacement, count_common

__all__ = ["find_typed", "replace_typed"]

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
# A trailing or any other run of blanks, an unseen character, or a letter with its marks.
_PIECE: Final = re.compile(
    rf"(?P<end>{_BLANK}+(?=\n|\Z))|(?P<blank>{_BLANK}+)|(?P<unseen>{_UNSEEN})"
    r"|(?P<letter>[^\W\d_][\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    r"\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    r"\u3099\u309a\ufe20-\ufe2f]*)|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Folded:
    """A text in the form in which texts are compared.

    Attributes:
        text: the folded text.
        starts: for each folded character, where the piece begins that it comes from.
        ends: for each folded character, where that piece ends.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def is_border(self, at: int) -> bool:
        """Return whether no piece is cut in front of the folded character `at`."""
        return at in (0, len(self.text)) or self.starts[at - 1] != self.starts[at]

    def add(self, piece: str, start: int, end: int) -> "_Folded":
        """Return the folded text with one more character at its end."""
        return _Folded(self.text + piece, (*self.starts, start), (*self.ends, end))


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
        start = self.typed.starts[number]
        return start if number or start <= head else 0

    def find_end(self, number: int, tail: int, old: str) -> int:
        """Return where the typed text ends that has a number of folded characters.

        Args:
            number: the number of folded characters, at least 1.
            tail: how many last characters the typed text has in common with the new one.
            old: the typed text.
        """
        end = self.typed.ends[number - 1]
        is_whole = number == len(self.typed.text) and end < len(old) - tail
        return len(old) if is_whole else end

    def find_source(self, first: int, last: int) -> tuple[int, int]:
        """Return where a range of the folded characters of this place is in the note."""
        starts, ends, at = self.note.starts, self.note.ends, self.at
        if last > first:
            return starts[at + first], ends[at + last - 1]
        place = ends[at + first - 1] if first else starts[at]
        return place, place


def find_typed(text: str, old: str) -> list[int]:
    """Return where a note has a text, exactly or else as a model types it.

    Args:
        text: the text of the note.
        old: the text to find.
    """
    return _find_all(text, old) or [match.note.starts[match.at] for match in _find(text, old)]


def replace_typed(text: str, old: str, new: str) -> Replacement:
    """Build the replacement of a text that a note has once, exactly or as a model types it.

    Args:
        text: the text of the note.
        old: the text to replace. `find_typed` finds it once.
        new: the new text.
    """
    if at := _find_all(text, old):
        return Replacement(at[0], at[0] + len(old), new)
    (match,) = _find(text, old)
    return _narrow(match, old, new)


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
    pieces, starts, ends = [], list[int](), list[int]()
    for piece, start, end in _split(text):
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return _Folded("".join(pieces), tuple(starts), tuple(ends))


def _split(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each piece of a text as it is compared, with its place in the text."""
    for found in _PIECE.finditer(text):
        match found.lastgroup:
            case "end" | "unseen":
                continue
            case "blank":
                piece = " "
            case "letter":
                piece = unicodedata.normalize("NFD", found[0])
            case _:
                piece = _EQUAL.get(found[0], found[0])
        yield piece, *found.span()


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
