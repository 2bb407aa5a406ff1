"""Cut a note into parts that are parsed and drawn one by one.

Drawing a note of two megabytes at once would block the window for minutes. Because each part can be
parsed on its own, only the visible parts have to be parsed and drawn. Cuts are made before headings
if possible, otherwise between blocks. If a very long code block is cut, the next part repeats
its first line. A long table is cut often, because each of its cells is a block of its own, and goes
on in the next part without its header.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from ui.markdown.blocks import GROUP_ROWS, ColumnLayout, Leaf, TableRows
from ui.markdown.embeds import explain_code, make_view_embed
from ui.markdown.properties import draw_properties
from ui.markdown.reader import Resume, read_units
from vault.notes.text.data import DRAWING_PROPERTY, hide_drawing
from vault.notes.text.lines import (
    CODE,
    CODE_KINDS,
    FENCE_CLOSES,
    FENCE_OPENS,
    FRONT,
    SECTION_KINDS,
    TABLE_KINDS,
)
from vault.notes.text.markdown_text import MarkdownText
from vault.notes.text.scan import scan_kinds

__all__ = [
    "NotePart",
    "count_common",
    "cut_parts",
    "find_part",
    "find_references",
    "keep_cuts",
    "read_part",
]

PART_CHARS = 3_000
LONGEST_LINE = 20_000
# In characters of prose, which take as long to draw: a block of its own, half of a formula,
# and a cell of a table.
_LINE_WEIGHT, _FORMULA_WEIGHT, _CELL_WEIGHT = 60, 50, 40
# The header of a table and the rows that decide how wide its columns are, which stay together.
_FIRST_LINES = 2 + GROUP_ROWS
_NONE: Sequence[str] = ()
_REFERENCE = re.compile(r" {0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*\S.{,2000}")
_MOST_REFERENCES = 2_000
_IN_FENCES = frozenset((CODE, FENCE_CLOSES))
# Begins an item of a list that is in nothing else. A number begins one only below another.
_BULLET, _NUMBER = re.compile(r"[-*+][ \t]"), re.compile(r"\d{1,9}[.)][ \t]")
_INNER = re.compile(r"[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]|\|")


@dataclass(frozen=True, slots=True)
class NotePart:
    """A section of a note that can be parsed on its own.

    Attributes:
        line: the number of the section's first line in the note, counted from 1.
        text: the Markdown of the section. If the section starts within a table or code block, the
            text begins with a copy of the table's header or the block's first line.
        repeated: the number of copied lines at the beginning of `text`.
        front: the front matter at the beginning of `text`, without the `---` lines.
        table: the first lines of the table that goes on in this section, which decide how wide its
            columns are, or an empty string.
        references: the lines of the note that define addresses, such as `[name]: address`.
    """

    line: int
    text: str
    repeated: int = 0
    front: str = ""
    table: str = ""
    references: str = ""

    def find_note_line(self, line: int) -> int:
        """Convert a line number in this part's text to a line number in the whole note."""
        return max(self.line, self.line + line - 1 - self.repeated)

    def find_own_line(self, line: int) -> int:
        """Convert a line number in the whole note to a line number in this part's text."""
        return line - self.line + 1 + self.repeated


@lru_cache(maxsize=4)
def cut_parts(text: str, kinds: str = "") -> tuple[NotePart, ...]:
    """Cut a note into parts. A short note has one part, and an empty note has no parts.

    Args:
        text: the text of the note.
        kinds: the kind of each line, as in `Note.kinds`. If it is empty, the text is scanned.
    """
    if not text.strip():
        return ()
    lines = tuple(text.removesuffix("\n").split("\n"))
    known = kinds[: len(lines)] or scan_kinds(lines)
    front = "\n".join(lines[1 : max(1, _count_front(known) - 1)])
    is_drawing = f"\n{DRAWING_PROPERTY}:" in f"\n{front}"
    written = tuple(hide_drawing(lines)) if is_drawing else lines
    shown = MarkdownText(written, known).hide_comments()
    parts = tuple(_Cutter(*_show_properties(shown, known)).cut())
    if references := find_references(lines, known):
        parts = tuple(replace(part, references=references) for part in parts)
    if front and front + "\n```" in parts[0].text:  # else it is so long that it is cut
        parts = (replace(parts[0], front=front), *parts[1:])
    return parts


def keep_cuts(
    before: Sequence[NotePart], now: Sequence[NotePart], kinds: tuple[str, str]
) -> tuple[NotePart, ...]:
    """Return the parts of a changed note, cut where it was cut before the change where possible.

    Below a change the note would else be cut at other lines, and all of it would be drawn again.

    Args:
        before: the parts before the change.
        now: the parts after the change.
        kinds: the kinds of all lines before and after the change.
    """
    old, new = ([line for part in parts for line in _list_lines(part)] for parts in (before, now))
    first = len(old) - count_common(old[::-1], new[::-1]) + 1
    kept = [part for part in before if part.line >= first and not part.repeated]
    if not kept or kept[0].line == 1 or any(map(_has_split_line, (before, now))):
        return tuple(now)
    start, moved = kept[0].line, len(new) - len(old)
    if kinds[0][start - 1 :] != kinds[1][start - 1 + moved :]:
        return tuple(now)
    kept = [part for part in before if part.line >= start]
    return (*_cut_off(now, start + moved), *(replace(p, line=p.line + moved) for p in kept))


def find_references(lines: Sequence[str], kinds: str) -> str:
    """Return the lines of a note that define addresses, such as `[name]: address`.

    A blank line is between them, so that one that is only text does not take the others with it.
    """
    found = (
        line
        for line, kind in zip(lines, kinds, strict=False)
        if kind not in CODE_KINDS and _REFERENCE.fullmatch(line)
    )
    return "\n\n".join(islice(found, _MOST_REFERENCES))


def _has_split_line(parts: Sequence[NotePart]) -> bool:
    return len({part.line for part in parts}) < len(parts)


def _list_lines(part: NotePart) -> list[str]:
    return part.text.split("\n")[part.repeated :]


def _cut_off(parts: Sequence[NotePart], line: int) -> Iterator[NotePart]:
    """Yield the parts of a note above a line."""
    for part in parts:
        count = line - part.line + part.repeated
        if part.line < line:
            yield replace(part, text="\n".join(part.text.split("\n")[:count]))


def count_common(before: Sequence[object], now: Sequence[object]) -> int:
    """Return how many items at the beginning of two sequences are equal."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))


def _count_front(kinds: str) -> int:
    """Return the number of lines of front matter, with the `---` lines."""
    return len(kinds) - len(kinds.lstrip(FRONT))


def find_part(parts: Sequence[NotePart], line: int) -> int:
    """Return the index of the part that contains a line of the note."""
    return max(0, bisect_right(parts, line, key=lambda part: part.line) - 1)


@lru_cache(maxsize=2)
def read_part(part: NotePart) -> tuple[Leaf, ...]:
    """Parse a part of a note into blocks, which are called leaves.

    In notes, text such as `[1]` is not a citation, and a base or query is an `Embed`. The last
    blocks are kept, because a part may be parsed some time before it is drawn.
    """
    text, resume = _resume(part)
    units = read_units(text, resume, is_final=True, has_citations=False, references=part.references)
    leaves = tuple(
        shown
        for unit in units
        for leaf in unit.leaves
        for shown in (make_view_embed(leaf) or leaf, explain_code(leaf))
        if shown is not None
    )
    if part.front and (properties := draw_properties(part.front, line=2)):
        return (*properties, *leaves[1:])
    return leaves


def _resume(part: NotePart) -> tuple[str, Resume]:
    """Return the text of a part and where it is continued: a table goes on without its header."""
    columns = _read_columns(part.table) if part.table else None
    if columns is None:
        return part.text, Resume()
    lines = part.text.split("\n")
    prefix = "".join(f"{line}\n" for line in lines[: part.repeated])
    return "\n".join(lines[part.repeated :]), Resume(prefix, columns=columns)


@lru_cache(maxsize=8)
def _read_columns(table: str) -> ColumnLayout | None:
    """Return the layout of a table by its first lines, or None for a table in a list or quote."""
    units = read_units(table, Resume(), is_final=True, has_citations=False)
    first = next((leaf for unit in units for leaf in unit.leaves), None)
    return first.columns if isinstance(first, TableRows) and not first.boxes else None


class _Cutter:
    """Cuts a note's lines into parts.

    While reading the lines, it keeps the start of the code block or table that is still open.
    """

    def __init__(self, lines: Sequence[str], kinds: str) -> None:
        self._lines = lines
        self._kinds = kinds
        self._opening = 0

    def cut(self) -> Iterator[NotePart]:
        """Yield the parts of the note in order."""
        start, size, opening = 0, 0, 0
        for at, line in enumerate(self._lines):
            is_long = len(line) > LONGEST_LINE
            if at > start and (is_long or self._can_cut(at, size)):
                yield self._make(start, at, opening)
                start, size, opening = at, 0, self._opening
            if not self._goes_on(at):
                self._opening = at
            if is_long:
                yield from _split_line(at + 1, line)
                start, size, opening = at + 1, 0, self._opening
                continue
            size += _weigh(line, is_row=self._kinds[at] in TABLE_KINDS)
        if start < len(self._lines):
            yield self._make(start, len(self._lines), opening)

    def _make(self, start: int, end: int, opening: int) -> NotePart:
        """Return a part.

        Args:
            start, end: the indexes of its first line and of the line below its last one.
            opening: where the code block or table begins that was open above the part.
        """
        head, table = _NONE, _NONE
        if self._goes_on(start):
            is_table = self._kinds[start] in TABLE_KINDS
            head = self._lines[opening : opening + 1 + is_table]
            table = self._lines[opening : opening + _FIRST_LINES] if is_table else _NONE
        text = "\n".join([*head, *self._lines[start:end]])
        return NotePart(start + 1, text, len(head), table="\n".join(table))

    def _can_cut(self, at: int, size: int) -> bool:
        """Return whether the current part may end just before the given line.

        Args:
            at: the index of the line.
            size: how long drawing the current part takes, as for that many characters of prose.
        """
        line, before = self._lines[at], self._lines[at - 1]
        if self._goes_on(at) and self._kinds[at] in TABLE_KINDS:
            return size >= PART_CHARS and at >= self._opening + _FIRST_LINES
        if self._goes_on(at):
            return size >= 4 * PART_CHARS
        if self._kinds[at] in SECTION_KINDS:
            return size >= PART_CHARS
        if _is_item(line, before) or (not before.strip() and line and not _INNER.match(line)):
            return size >= PART_CHARS
        if not before.strip() and line.strip():
            return size >= 2 * PART_CHARS
        return size >= 2 * PART_CHARS and not line.startswith(("  ", "\t"))

    def _goes_on(self, at: int) -> bool:
        """Return whether a code block with fences, or a table, goes on in the given line."""
        kind, before = self._kinds[at], self._kinds[at - 1 : at]
        return kind in _IN_FENCES or (kind in TABLE_KINDS and before in TABLE_KINDS)


def _is_item(line: str, before: str) -> bool:
    """Return whether an outer item of a list begins in a line, given the line before it."""
    is_numbered = _NUMBER.match(line) is not None and _NUMBER.match(before) is not None
    return is_numbered or _BULLET.match(line) is not None


def _weigh(line: str, *, is_row: bool) -> int:
    """Return how long drawing a line takes, as the time for that many characters of prose."""
    blocks = _CELL_WEIGHT * line.count("|") if is_row else _LINE_WEIGHT * bool(line)
    return len(line) + 1 + blocks + _FORMULA_WEIGHT * line.count("$")


def _split_line(number: int, line: str) -> Iterator[NotePart]:
    at = 0
    while at < len(line):
        end = at + PART_CHARS
        blank = line.rfind(" ", at, end) + 1
        end = blank if end < len(line) and blank > at else end
        yield NotePart(number, line[at:end])
        at = end


def _show_properties(lines: Sequence[str], kinds: str) -> tuple[Sequence[str], str]:
    """Return the lines of a note and their kinds, with the front matter as a YAML code block."""
    count = _count_front(kinds)
    if not count:
        return lines, kinds
    shown = ["```yaml", *lines[1 : count - 1], "```", *lines[count:]]
    return shown, FENCE_OPENS + CODE * (count - 2) + FENCE_CLOSES + kinds[count:]
