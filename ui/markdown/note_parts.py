"""Cut a note into parts that are parsed and drawn one by one.

Drawing a note of two megabytes at once would block the window for minutes. Because each part can be
parsed on its own, only the visible parts have to be parsed and drawn. Cuts are made before headings
if possible, otherwise between blocks. If a very long table or code block is cut, the next part
repeats its first lines.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ui.markdown.blocks import Leaf
from ui.markdown.reader import Resume, read_units

__all__ = ["NotePart", "cut_parts", "find_part", "read_part"]

PART_CHARS = 4_000
LONGEST_LINE = 5 * PART_CHARS
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT_MARK = re.compile(r"(`+)(?:(?!\1).)*\1|%%|<!--|-->")
_COMMENT_ENDS = {"%%": "%%", "<!--": "-->"}
_HEADING = re.compile(r"#{1,6}[ \t]")
_INNER = re.compile(r"[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]|\|")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$")


@dataclass(frozen=True, slots=True)
class NotePart:
    """A section of a note that can be parsed on its own.

    Attributes:
        line: the number of the section's first line in the note, counted from 1.
        text: the Markdown of the section. If the section starts within a table or code block, the
            text begins with a copy of the table's header or the block's first line.
        repeated: the number of copied lines at the beginning of `text`.
    """

    line: int
    text: str
    repeated: int = 0

    def find_note_line(self, line: int) -> int:
        """Convert a line number in this part's text to a line number in the whole note."""
        return max(self.line, self.line + line - 1 - self.repeated)

    def find_own_line(self, line: int) -> int:
        """Convert a line number in the whole note to a line number in this part's text."""
        return line - self.line + 1 + self.repeated


@lru_cache(maxsize=4)
def cut_parts(text: str) -> tuple[NotePart, ...]:
    """Cut a note into parts. A short note has one part, and an empty note has no parts."""
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        return ()
    return tuple(_Cutter(_hide_comments(_show_properties(lines))).cut())


def find_part(parts: Sequence[NotePart], line: int) -> int:
    """Return the index of the part that contains a line of the note."""
    return max(0, bisect_right(parts, line, key=lambda part: part.line) - 1)


def read_part(part: NotePart) -> tuple[Leaf, ...]:
    """Parse a part of a note into blocks, which are called leaves.

    In notes, text such as `[1]` is not a citation.
    """
    units = read_units(part.text, Resume(), is_final=True, has_citations=False)
    return tuple(leaf for unit in units for leaf in unit.leaves)


class _Cutter:
    """Cuts a note's lines into parts.

    While reading the lines, it keeps track of the code block or table that is still open.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._fence = ""
        self._opening = 0
        self._table: tuple[int, int] | None = None

    def cut(self) -> Iterator[NotePart]:
        """Yield the parts of the note in order."""
        start, size, head = 0, 0, list[str]()
        for at, line in enumerate(self._lines):
            is_long = len(line) > LONGEST_LINE
            if at > start and (is_long or self._can_cut(at, size)):
                yield self._make(start, at, head)
                start, size, head = at, 0, self._list_repeated()
            if is_long:
                yield from _split_line(at + 1, line)
                start, size, head = at + 1, 0, []
                continue
            self._follow(at, line)
            size += len(line) + 1
        if start < len(self._lines):
            yield self._make(start, len(self._lines), head)

    def _make(self, start: int, end: int, head: list[str]) -> NotePart:
        return NotePart(start + 1, "\n".join([*head, *self._lines[start:end]]), len(head))

    def _can_cut(self, at: int, size: int) -> bool:
        """Return whether the current part may end just before the given line.

        Args:
            at: the index of the line.
            size: the number of characters in the current part so far.
        """
        line, before = self._lines[at], self._lines[at - 1]
        if self._fence or self._table:
            return size >= 3 * PART_CHARS
        if _HEADING.match(line):
            return size >= PART_CHARS
        if not before.strip() and line.strip() and not _INNER.match(line):
            return size >= PART_CHARS
        if not before.strip() and line.strip():
            return size >= 2 * PART_CHARS
        return size >= 3 * PART_CHARS and not line.startswith(("  ", "\t"))

    def _list_repeated(self) -> list[str]:
        if self._fence:
            return [self._lines[self._opening]]
        if self._table:
            return [self._lines[at] for at in self._table]
        return []

    def _follow(self, at: int, line: str) -> None:
        """Keep track of whether a code block or table is still open after a line.

        Args:
            at: the index of the line in the note.
            line: the text of the line.
        """
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
                self._fence = ""
        elif fence:
            self._fence, self._opening, self._table = fence[1], at, None
        elif self._table:
            self._table = self._table if "|" in line else None
        elif at and "|" in line and _DELIMITERS.match(line) and "|" in self._lines[at - 1]:
            self._table = (at - 1, at)


def _split_line(number: int, line: str) -> Iterator[NotePart]:
    at = 0
    while at < len(line):
        end = at + PART_CHARS
        blank = line.rfind(" ", at, end) + 1
        end = blank if end < len(line) and blank > at else end
        yield NotePart(number, line[at:end])
        at = end


def _show_properties(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a note, with its front matter shown as a YAML code block."""
    if lines[0].rstrip() != "---":
        return lines
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() in {"---", "..."}:
            return ["```yaml", *lines[1:at], "```", *lines[at + 1 :]]
    return lines


def _hide_comments(lines: Sequence[str]) -> Sequence[str]:
    """Remove `%%comments%%` and `<!-- comments -->` outside of code. Unclosed ones are kept."""
    if not any("%%" in line or "<!--" in line for line in lines):
        return lines
    kept, fence, opened, end = list(lines), "", None, ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line) if opened is None else None
        if len(line) > LONGEST_LINE:
            continue
        if fence:
            is_end = mark and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if is_end else fence
        elif mark:
            fence = mark[1]
        else:
            for found in _COMMENT_MARK.finditer(line):
                if opened is None and found[0] in _COMMENT_ENDS:
                    opened, end = (at, found.start()), _COMMENT_ENDS[found[0]]
                elif opened is not None and found[0] == end:
                    _blank(kept, lines, opened, (at, found.end()))
                    opened = None
    return kept


def _blank(
    kept: list[str], lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]
) -> None:
    """Delete the characters in a range of text, but no lines, so that line numbers stay correct.

    Args:
        kept: the lines to change. Earlier calls may have deleted text before the range, but not
            after it.
        lines: the original lines.
        start: the index of the first line, and the index of the first deleted character in it.
        end: the index of the last line, and the index of the first character in it that is kept.
    """
    (first, left), (last, right) = start, end
    before = kept[first][: len(kept[first]) - len(lines[first]) + left]
    after = lines[last][right:]
    if first == last:
        kept[first] = before + after
        return
    kept[first], kept[last] = before, after
    for at in range(first + 1, last):
        kept[at] = ""
