"""Cut a shown section into pieces that are Markdown of their own.

A piece below a fold may begin inside a table or a code block, so it gets the header of the table or
the fence of the code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chains.citations.sections import Lines, ShownSection
from vault.notes.text.inline import remove_block_name, remove_comments, remove_embeds
from vault.notes.text.lines import (
    BLANK,
    CODE_KINDS,
    COMMENT,
    FENCE_CLOSES,
    FENCE_OPENS,
    SECTION_KINDS,
    TABLE_KINDS,
    TABLE_ROW,
    TABLE_RULE,
    UNDERLINE,
)
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["SectionPiece", "cut_pieces", "split_at_code", "write_piece"]

_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)(?:[^`]|(?!\1(?!`))`)+?\1(?!`)")
# What would be read as a citation of the answer.
_CITED: Final = re.compile(r"(?<!\\)\[(?=\s{0,2}\d{1,3}[\s,;\d–-]{0,20}\](?!\())")


@dataclass(frozen=True)
class SectionPiece:
    """Adjacent lines of a section that are all shown, or all folded, as Markdown of their own.

    Attributes:
        lines: the lines. A table has its header and code its fences, also if they are in another
            piece. Comments, embedded notes and images, and names of blocks are left out.
        kinds: the kind of each line.
        lit: the ranges of the lines that answer, counted from 1 within the piece.
        is_folded: whether the piece is hidden until the user unfolds it.
    """

    lines: tuple[str, ...]
    kinds: str
    lit: tuple[Lines, ...]
    is_folded: bool

    @property
    def count(self) -> int:
        """The number of lines that are drawn, without blank lines and the headers of tables."""
        headers = self.kinds.count(TABLE_RULE)
        return sum(bool(line.strip()) for line in self.lines) - 2 * headers


def cut_pieces(section: ShownSection) -> Iterator[SectionPiece]:
    """Yield the pieces of a section, without the heading at its start."""
    text, above = section.source_text, section.first_of_source
    first, end = section.lines[0] - above, section.lines[1] - above + 1
    while first < end - 1 and text.kinds[first] in {*SECTION_KINDS, UNDERLINE, BLANK}:
        first += 1
    at, highlights = first, [(a - above, b - above) for a, b in section.lit]
    for start, last in ((a - above, b - above) for a, b in section.folded):
        if start > at:
            yield _cut_piece(text, (at, start), highlights, is_folded=False)
        if last >= first:
            yield _cut_piece(text, (max(first, start), last + 1), highlights, is_folded=True)
        at = max(at, last + 1)
    if at < end:
        yield _cut_piece(text, (at, end), highlights, is_folded=False)


def _cut_piece(
    text: MarkdownText, span: Lines, highlights: Sequence[Lines], *, is_folded: bool
) -> SectionPiece:
    start, end = span
    lines = [_draw_line(text, at) for at in range(start, end)]
    kinds = text.kinds[start:end]
    head, head_kinds = _find_missing_start(text, start)
    lines, kinds = [*head, *lines], head_kinds + kinds
    is_open = text.kinds[end - 1] in CODE_KINDS and text.kinds[end : end + 1] in tuple(CODE_KINDS)
    if is_open and text.kinds[end - 1] != FENCE_CLOSES and (fence := _find_fence(text, end - 1)):
        lines, kinds = [*lines, fence], kinds + FENCE_CLOSES
    shift = len(head) - start + 1
    inside = [(max(a, start) + shift, min(b, end - 1) + shift) for a, b in highlights]
    return SectionPiece(tuple(lines), kinds, tuple((a, b) for a, b in inside if a <= b), is_folded)


def _draw_line(text: MarkdownText, at: int) -> str:
    """Return a line without comments, embedded notes and images, and the name of its block."""
    line, kind = text.lines[at], text.kinds[at]
    if kind in CODE_KINDS:
        return line
    return "" if kind == COMMENT else remove_block_name(remove_embeds(remove_comments(line)))


def _find_missing_start(text: MarkdownText, start: int) -> tuple[list[str], str]:
    """Return the header of a table, or the fence of code, that begins above a line."""
    kind = text.kinds[start]
    if kind in CODE_KINDS and kind != FENCE_OPENS:
        fence = _find_fence(text, start)
        return ([fence], FENCE_OPENS) if fence else ([], "")
    at = start
    while kind in TABLE_KINDS and at and text.kinds[at - 1] in TABLE_KINDS:
        at -= 1
    if at + 1 < start and text.kinds[at + 1] == TABLE_RULE:
        return [text.lines[at], text.lines[at + 1]], TABLE_ROW + TABLE_RULE
    return [], ""


def _find_fence(text: MarkdownText, at: int) -> str:
    """Return the marks of the fence of a line of code, or "" if it has none."""
    while at >= 0 and text.kinds[at] in CODE_KINDS:
        if text.kinds[at] == FENCE_OPENS:
            line = text.strip_quotes(at).strip()
            return line[: len(line) - len(line.lstrip(line[0]))]
        at -= 1
    return ""


def write_piece(piece: SectionPiece, number: int) -> tuple[list[str], list[Lines]]:
    """Write the lines of a piece as part of an answer, and return which of them are lit.

    Of blank lines that follow each other, the first is written.

    Each lit range ends with the citation number of its source, which is below it if it is code.
    """
    starts, ends = {start for start, _ in piece.lit}, {end for _, end in piece.lit}
    lines: list[str] = []
    highlights: list[Lines] = []
    first = 1
    for at, line in enumerate(piece.lines, start=1):
        is_blank = not line and piece.kinds[at - 1] not in CODE_KINDS
        if is_blank and at not in starts | ends and lines[-1:] == [""]:
            continue  # where comments, data and pictures are left out, one is enough
        first = len(lines) + 1 if at in starts else first
        lines += _write_line(line, piece.kinds[at - 1], number if at in ends else None)
        is_code = piece.kinds[at - 1] == FENCE_CLOSES  # whose number is on the line below
        highlights += [(first, len(lines) - is_code)] if at in ends else []
    return lines, highlights


def _write_line(line: str, kind: str, number: int | None) -> list[str]:
    """Write a line as it is. The number of the source, if any, follows it.

    There is no number in code, where it would be code.
    """
    if kind in CODE_KINDS:
        return [line, f"[{number}]"] if number is not None and kind == FENCE_CLOSES else [line]
    line = _escape_cited(line.rstrip())
    if number is None:
        return [line]
    if kind in TABLE_KINDS and line.endswith("|"):
        return [f"{line[:-1].rstrip()} [{number}] |"]
    return [f"{line} [{number}]"]


def _escape_cited(line: str) -> str:
    """Escape what would be read as a citation, but not in inline code."""
    pieces = split_at_code(line)
    return "".join(text if is_code else _CITED.sub(r"\\[", text) for text, is_code in pieces)


def split_at_code(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at inline code, and yield each piece with a flag that is True for code."""
    at = 0
    for match in _CODE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False
