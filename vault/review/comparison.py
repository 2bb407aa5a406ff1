"""Compare the texts of two notes line by line and word by word, for reading them side by side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

__all__ = ["ComparedLine", "ComparedRow", "compare_texts"]

_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)+|\w+|\s+|[^\w\s]")  # a figure is one word
_MOST_LINES: Final = 3_000  # in longer notes, lines that occur often are not aligned
_MOST_WORDS: Final = 1_000
_CONTEXT: Final = 3
_LEAST_FOLDED: Final = 3


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of one of two notes.

    Attributes:
        number: the number of the line, counted from 1.
        parts: its text in parts, each with whether the other note has another text in its place.
    """

    number: int
    parts: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(text for text, _ in self.parts)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A line of the first note beside that of the second, or lines that are folded.

    Attributes:
        first: the line of the first note, or None if there is none beside the other.
        second: the line of the second note, or None.
        is_different: whether the lines differ.
        folded: the number of equal lines that this row is in the place of, or 0.
    """

    first: ComparedLine | None
    second: ComparedLine | None
    is_different: bool = False
    folded: int = 0


def compare_texts(
    first: str, second: str, lines: tuple[int, int] | None = None
) -> tuple[ComparedRow, ...]:
    """Compare two texts, and return their lines in rows. Long runs of equal lines are folded.

    Args:
        first: the text of the first note.
        second: the text of the second note.
        lines: the number of a line in each note. Then only these two lines are compared, and the
            others are shown around them.
    """
    ours, theirs = first.removesuffix("\n").split("\n"), second.removesuffix("\n").split("\n")
    if lines is not None and lines[0] <= len(ours) and lines[1] <= len(theirs):
        return tuple(_align_at(ours, theirs, lines[0] - 1, lines[1] - 1))
    return tuple(_fold(list(_align(ours, theirs))))


def _align(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[ComparedRow]:
    is_long = max(len(ours), len(theirs)) > _MOST_LINES
    matcher = SequenceMatcher(None, ours, theirs, autojunk=is_long)
    for tag, first, last, other_first, other_last in matcher.get_opcodes():
        pairs = zip_longest(range(first, last), range(other_first, other_last))
        for one, other in pairs:
            if tag == "equal" or one is None or other is None:
                is_different = tag != "equal"
                yield ComparedRow(
                    None if one is None else _build(one, ours[one], is_different),
                    None if other is None else _build(other, theirs[other], is_different),
                    is_different,
                )
            else:
                yield _compare_lines(one, ours[one], other, theirs[other])


def _align_at(
    ours: Sequence[str], theirs: Sequence[str], one: int, other: int
) -> Iterator[ComparedRow]:
    """Yield all lines of two notes so that two of them are beside each other."""
    shift = other - one
    for at in range(min(0, -shift), max(len(ours), len(theirs) - shift)):
        if at == one:
            yield _compare_lines(one, ours[one], other, theirs[other])
            continue
        beside = at + shift
        yield ComparedRow(
            _build(at, ours[at]) if 0 <= at < len(ours) else None,
            _build(beside, theirs[beside]) if 0 <= beside < len(theirs) else None,
        )


def _compare_lines(one: int, ours: str, other: int, theirs: str) -> ComparedRow:
    words, others = _WORD.findall(ours), _WORD.findall(theirs)
    if max(len(words), len(others)) > _MOST_WORDS:
        return ComparedRow(_build(one, ours, True), _build(other, theirs, True), True)
    opcodes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    left = [("".join(words[a:b]), tag != "equal") for tag, a, b, _, _ in opcodes if b > a]
    right = [("".join(others[a:b]), tag != "equal") for tag, _, _, a, b in opcodes if b > a]
    first, second = ComparedLine(one + 1, tuple(left)), ComparedLine(other + 1, tuple(right))
    return ComparedRow(first, second, ours != theirs)


def _build(at: int, text: str, is_changed: bool = False) -> ComparedLine:
    return ComparedLine(at + 1, ((text, is_changed),))


def _fold(rows: Sequence[ComparedRow]) -> Iterator[ComparedRow]:
    """Yield rows, and one row for each run of equal ones that are far from a difference."""
    different = [at for at, row in enumerate(rows) if row.is_different]
    near = {at + step for at in different for step in range(-_CONTEXT, _CONTEXT + 1)}
    if not different:
        yield from rows
        return
    run: list[ComparedRow] = []
    for at, row in enumerate(rows):
        if at not in near:
            run.append(row)
            continue
        yield from _close_run(run)
        run = []
        yield row
    yield from _close_run(run)


def _close_run(run: Sequence[ComparedRow]) -> Iterator[ComparedRow]:
    if len(run) < _LEAST_FOLDED:
        yield from run
    else:
        yield ComparedRow(None, None, folded=len(run))
