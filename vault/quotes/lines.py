"""Choose the lines of a passage that show best why it matches a query.

Front matter, headings and lines without words are chosen only if there is no better line.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from vault.notes.keywords import FUNCTION_WORDS, index_text

__all__ = ["build_stems", "choose_best_line", "choose_lines", "find_stems"]

_STEM_SHARE: Final = 0.7
_MAX_LINE_CHARS: Final = 240
_MOST_OTHER: Final = 2
_MOST_STEMS: Final = 32
_HEADING: Final = re.compile(r"#{1,6}\s")
_FENCE: Final = re.compile(r"```|~~~")
_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.?!;])[\"'”’)\]]*\s+")
_PROSE, _OTHER, _EMPTY = 2, 1, 0


def build_stems(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, without function words such as "the".

    If the text contains only function words, their stems are returned.
    """
    every = list(dict.fromkeys(_WORD.findall(index_text(text))))[:_MOST_STEMS]
    telling = [word for word in every if word not in FUNCTION_WORDS] or every
    return tuple(word[: max(3, math.ceil(len(word) * _STEM_SHARE))] for word in telling)


def find_stems(line: str, stems: Sequence[str]) -> frozenset[str]:
    """Return the stems with which any word of a line begins."""
    words = _WORD.findall(index_text(line))
    return frozenset(stem for stem in stems if any(word.startswith(stem) for word in words))


def choose_best_line(lines: Sequence[str], stems: Sequence[str], *, is_first: bool) -> int:
    """Return the index of the line that contains the most stems.

    Args:
        lines: the lines of a passage.
        stems: the stems of the query.
        is_first: whether the passage is the first one of its note, which may have front matter.
    """
    rated = _rate_lines(lines, is_first=is_first)
    found = [len(find_stems(line, stems)) for line in lines]
    return max(range(len(lines)), key=lambda at: (found[at], rated[at]))


def choose_lines(text: str, query: str, most: int, *, is_first: bool) -> list[str]:
    """Return the consecutive lines of a passage that contain the most words of a query.

    If no line of text contains a word of the query, up to two matching lines of the front matter
    come first. Long lines are shortened.

    Args:
        text: the text of a passage.
        query: the words that were searched for.
        most: the maximum number of lines.
        is_first: whether the passage is the first one of its note, which may have front matter.
    """
    lines, stems = text.splitlines(), build_stems(query)
    rated = _rate_lines(lines, is_first=is_first)
    held = [find_stems(line, stems) for line in lines]
    prose = [at for at, rate in enumerate(rated) if rate == _PROSE]
    other = [at for at, rate in enumerate(rated) if rate == _OTHER]
    if not any(held[at] for at in prose):
        named = [at for at in other if held[at] and not _HEADING.match(lines[at])]
        prose = [*named[:_MOST_OTHER], *prose] or other
    starts = range(max(1, len(prose) - most + 1))
    start = max(starts, key=lambda at: len(_join(held, prose[at : at + most])), default=0)
    return [_shorten(lines[at], stems) for at in prose[start : start + most]]


def _join(held: Sequence[frozenset[str]], chosen: Iterable[int]) -> frozenset[str]:
    return frozenset().union(*(held[at] for at in chosen))


def _rate_lines(lines: Sequence[str], *, is_first: bool) -> list[int]:
    """Rate each line: 2 for prose, 1 for headings and properties, 0 for a line without words.

    Front matter is only expected if `is_first` is True, for the first passage of a note.
    """
    body = _find_body(lines) if is_first else 0
    return [_rate_line(line, is_property=at < body) for at, line in enumerate(lines)]


def _rate_line(line: str, *, is_property: bool) -> int:
    text = line.strip("-=*|>:. \t")
    if not text.strip("#") or _FENCE.match(text):
        return _EMPTY
    return _OTHER if is_property or _HEADING.match(text) else _PROSE


def _find_body(lines: Sequence[str]) -> int:
    """Return the index of the first line after the front matter, or 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (at + 1 for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
    return next(ends, len(lines))


def _shorten(line: str, stems: Sequence[str]) -> str:
    """Shorten a long line to an excerpt that starts with a sentence.

    The excerpt that contains the most stems is chosen.
    """
    line = line.rstrip()
    if len(line) <= _MAX_LINE_CHARS:
        return line
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(line))]
    spans = {at: line[at : at + _MAX_LINE_CHARS] for at in starts}
    found = {at: len(find_stems(span, stems)) for at, span in spans.items()}
    start = max(starts, key=lambda at: (found[at], at if found[at] else -at))
    shown = spans[start]
    if start + len(shown) < len(line):
        blank = shown.rfind(" ")
        shown = f"{shown[:blank] if blank > _MAX_LINE_CHARS // 2 else shown} …"
    return f"… {shown}" if start else shown
