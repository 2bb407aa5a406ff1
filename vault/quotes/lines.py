"""Choose the lines of a passage that show best why it matches a query.

Front matter, comments, headings and lines without words are chosen only if there is no better line.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from vault.notes.text.lines import (
    BLANK,
    COMMENT,
    FENCE_CLOSES,
    FENCE_OPENS,
    FRONT,
    HEADINGS,
    NESTED_HEADING,
    TABLE_RULE,
    UNDERLINE,
    UNDERLINED,
)
from vault.notes.text.markdown_text import MarkdownText
from vault.notes.text.sentences import find_sentence_ends
from vault.notes.text.stems import WordStems

__all__ = ["choose_best_line", "choose_lines"]

_MAX_LINE_CHARS: Final = 240
_MOST_OTHER: Final = 2
# The kinds of lines that are chosen only if there is no better line, and those that never are.
_HIDDEN_KINDS: Final = frozenset((FRONT, COMMENT))
_OTHER_KINDS: Final = _HIDDEN_KINDS | {*HEADINGS, *UNDERLINED, NESTED_HEADING}
_EMPTY_KINDS: Final = frozenset((BLANK, FENCE_OPENS, FENCE_CLOSES, TABLE_RULE, UNDERLINE))
_PROSE, _OTHER, _EMPTY = 2, 1, 0


def choose_best_line(text: MarkdownText, stems: WordStems) -> int | None:
    """Return the index of the line of a passage that contains the most stems.

    Return None if the passage has no line outside of the front matter.
    """
    rated = _rate_lines(text)
    found = [len(stems.find(line)) for line in text.lines]
    shown = (at for at in range(len(rated)) if not text.is_front(at))
    return max(shown, key=lambda at: (found[at], rated[at]), default=None)


def choose_lines(text: MarkdownText, query: str, most: int) -> list[str]:
    """Return the consecutive lines of a passage that contain the most words of a query.

    If no line of text contains a word of the query, up to two matching lines of the front matter
    or of a comment come first. Long lines are shortened.

    Args:
        text: the text of a passage.
        query: the words that were searched for.
        most: the maximum number of lines.
    """
    lines, stems = text.lines, WordStems(query)
    rated = _rate_lines(text)
    matched_stems = [stems.find(line) for line in lines]
    prose = [at for at, rate in enumerate(rated) if rate == _PROSE]
    other = [at for at, rate in enumerate(rated) if rate == _OTHER]
    if not any(matched_stems[at] for at in prose):
        named = [at for at in other if matched_stems[at] and text.kinds[at] in _HIDDEN_KINDS]
        prose = [*named[:_MOST_OTHER], *prose] or other
    starts = range(max(1, len(prose) - most + 1))
    start = max(starts, key=lambda at: len(_join(matched_stems, prose[at : at + most])), default=0)
    return [_shorten(lines[at], stems) for at in prose[start : start + most]]


def _join(matched_stems: Sequence[frozenset[str]], chosen: Iterable[int]) -> frozenset[str]:
    return frozenset().union(*(matched_stems[at] for at in chosen))


def _rate_lines(text: MarkdownText) -> list[int]:
    """Rate each line: 2 for prose, 1 for headings and properties, 0 for a line without words."""
    return [_rate_line(line, kind) for line, kind in zip(text.lines, text.kinds, strict=True)]


def _rate_line(line: str, kind: str) -> int:
    if kind in _EMPTY_KINDS or not line.strip("-=*|>:#. \t"):
        return _EMPTY
    return _OTHER if kind in _OTHER_KINDS else _PROSE


def _shorten(line: str, stems: WordStems) -> str:
    """Shorten a long line to an excerpt that starts with a sentence.

    The excerpt that contains the most stems is chosen.
    """
    line = line.rstrip()
    if len(line) <= _MAX_LINE_CHARS:
        return line
    starts = [0, *(after for _, after in find_sentence_ends(line))]
    spans = {at: line[at : at + _MAX_LINE_CHARS] for at in starts}
    found = {at: len(stems.find(span)) for at, span in spans.items()}
    start = max(starts, key=lambda at: (found[at], at if found[at] else -at))
    shown = spans[start]
    if start + len(shown) < len(line):
        blank = shown.rfind(" ")
        shown = f"{shown[:blank] if blank > _MAX_LINE_CHARS // 2 else shown} …"
    return f"… {shown}" if start else shown
