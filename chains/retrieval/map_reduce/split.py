"""A long text cut into parts that each fit a call: whole lines, from a heading where one is near.

A part begins with the uppermost heading in the second half of what would fit, else with a block of
the text, else with any line. Only a line that fits no call by itself is cut, between sentences.
"""

import html
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from context.tokens import TokenCounter
from vault.notes.markdown import parse_document

__all__ = ["Part", "parts_of"]

_HEADING, _BLOCK, _INNER, _LINE = 10, 3, 2, 1


@dataclass(frozen=True)
class Part:
    """Some lines of a text.

    Attributes:
        lines: first and last, from 1, inclusive.
        text: the lines as they stand; a piece of one where that is too long for a part.
        tokens: what they count as a model is shown them.
    """

    lines: tuple[int, int]
    text: str
    tokens: int

    @property
    def numbered(self) -> str:
        """The lines as a model is shown them, each behind its number."""
        numbers = range(self.lines[0], self.lines[1] + 1)
        return "\n".join(_shown(n, s) for n, s in zip(numbers, self.text.split("\n"), strict=True))


def parts_of(text: str, first_line: int, most_tokens: int, counter: TokenCounter) -> list[Part]:
    """Return the parts of a text, every line in exactly one of them.

    Args:
        first_line: the number of its first line.
        most_tokens: what a part may count, numbers of its lines included; 1 at the least.
        counter: counts them.
    """
    return list(_Cutting(text, first_line, most_tokens, counter).parts())


class _Cutting:
    """A text on its way to being parts."""

    def __init__(self, text: str, first_line: int, most_tokens: int, counter: TokenCounter) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._first = first_line
        self._most = max(1, most_tokens)
        self._counter = counter
        self._up_to = [0, *accumulate(self._size(n, s) for n, s in enumerate(self._lines))]

    def parts(self) -> Iterator[Part]:
        start = 0
        while start < len(self._lines):
            fitting = bisect_right(self._up_to, self._up_to[start] + self._most) - 1
            if fitting == start:
                yield from self._pieces(start)
                start += 1
                continue
            end = fitting if fitting == len(self._lines) else self._cut(start, fitting)
            yield self._part(start, end)
            start = end

    def _cut(self, start: int, fitting: int) -> int:
        """Return where the next part begins best, `fitting` at the latest."""
        half = bisect_right(self._up_to, self._up_to[start] + self._most // 2)
        ends = range(max(start + 1, half), fitting + 1)
        return max(ends or (fitting,), key=lambda line: (self._worth.get(line, _LINE), line))

    @cached_property
    def _worth(self) -> dict[int, int]:
        """How good a place to begin each line is, by its index."""
        found: dict[int, int] = {}
        for block in parse_document(self._text).blocks:
            for first, _ in block.inner:
                found.setdefault(first - 1, _INNER)
            found[block.first - 1] = (
                _BLOCK if block.heading is None else _HEADING - block.heading.level
            )
        return found

    def _part(self, start: int, end: int) -> Part:
        lines = (self._first + start, self._first + end - 1)
        tokens = self._up_to[end] - self._up_to[start]
        return Part(lines, "\n".join(self._lines[start:end]), tokens)

    def _pieces(self, at: int) -> Iterator[Part]:
        """Cut a line that is too long."""
        number = self._first + at
        for piece in _sentences(self._lines[at], self._most, lambda text: self._size(at, text)):
            yield Part((number, number), piece, self._size(at, piece))

    def _size(self, at: int, line: str) -> int:
        shown = _shown(self._first + at, line)
        return self._counter.count(html.escape(shown, quote=False) + "\n")


def _shown(number: int, line: str) -> str:
    return f"{number}: {line}"


def _sentences(line: str, most: int, size: Callable[[str], int]) -> Sequence[str]:
    from semantic_text_splitter import TextSplitter

    return TextSplitter.from_callback(size, most, trim=False).chunks(line)
