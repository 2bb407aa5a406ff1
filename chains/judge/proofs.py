"""Find the words of a note that prove something: in one block, where a reader sees them.

Words across a heading and its paragraph, two list items or two cells of a table say nothing
together. Nor does the note say what is struck out or in a comment, or the name of a property.
"""

import re
from collections.abc import Iterator
from typing import Final

from chains.citations.quotes import VerbatimText, count_words
from vault.notes.text.inline import blank_inline_code, find_comments
from vault.notes.text.lines import (
    CODE_KINDS,
    COMMENT,
    FRONT,
    TABLE_KINDS,
    hide_comment,
    list_paragraphs,
)
from vault.notes.text.markdown_text import MarkdownText, read_text

__all__ = ["find_proof", "is_telling"]

_STRUCK: Final = re.compile(r"~~(?=\S).*?(?<=\S)~~", re.DOTALL)
_CELL: Final = re.compile(r"(?:\\.|\[\[[^\]\n]*\]\]|[^|])+")
_KEY: Final = re.compile(r"[ \t-]*[^\s:#\"'][^:\n]*:(?=\s|$)")
_NO_LINE_END: Final = re.compile(r"[^\n]")
_EDGES: Final = "*_`\"'“”„‘’()[]{}<>.,;:!?…-–—|#~ \t\n"


def find_proof(
    text: str, quote: str, lines: tuple[int, int] | None = None
) -> tuple[int, int] | None:
    """Return the span of a quotation in a note, or None if the note does not say it.

    Args:
        text: the text of the note.
        quote: words of the note, as `VerbatimText.find` takes them.
        lines: the first and last line of the part that may be quoted, or None for all.
    """
    for start, block in _list_blocks(text, lines, has_cells="|" not in quote):
        at = 0
        while (span := VerbatimText(block[at:]).find(quote)) is not None:
            first, end = span[0] + at, span[1] + at
            if not _cuts_number(block, first, end):
                return start + first, start + end
            at = end
    return None


def is_telling(text: str, span: tuple[int, int]) -> bool:
    """Return whether a quotation has enough words to prove something.

    A single word has to be a whole line, a number or a name.
    """
    quoted = text[slice(*span)].strip(_EDGES)
    if count_words(quoted) > 1 and any(char.isalpha() for char in quoted):
        return True
    first = text.rfind("\n", 0, span[0]) + 1
    line = text[first : (text.find("\n", span[1]) + 1 or len(text) + 1) - 1]
    if line.strip(_EDGES) == quoted:
        return bool(quoted)
    is_name = len(quoted) > 1 and not quoted.islower()
    return any(char.isdigit() for char in quoted) or is_name


def _cuts_number(text: str, first: int, end: int) -> bool:
    """Return whether a span begins or ends within a number, as the 6 of 24.6 does."""
    before, behind = text[max(0, first - 2) : first], text[end : end + 2]
    begins = text[first].isdigit() and re.fullmatch(r"\d[.,:/]", before) is not None
    return begins or (text[end - 1].isdigit() and re.fullmatch(r"[.,:/]\d", behind) is not None)


def _list_blocks(
    text: str, part: tuple[int, int] | None, *, has_cells: bool
) -> Iterator[tuple[int, str]]:
    """Yield each block of a note with its offset. What is hidden in it is replaced with spaces.

    Args:
        text: the text of the note.
        part: the first and last line of the part that is read, or None for all.
        has_cells: whether each cell of a table is a block, and not each row.
    """
    read = read_text(text, starts_note=True)
    lines = [line + "\n" for line in read.lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    above, last = part or (1, len(lines))
    for begin, end in _list_ranges(read):
        first, behind = max(begin, above - 1), min(end, last)
        if first >= behind:
            continue
        block = "".join(_hide_line(read, at) for at in range(first, behind))
        if read.kinds[first] in TABLE_KINDS and has_cells:
            for cell in _CELL.finditer(block):
                yield starts[first] + cell.start(), _hide_spans(cell[0])
        elif read.kinds[first] in CODE_KINDS or read.kinds[first] == FRONT:
            yield starts[first], block
        else:
            yield starts[first], _hide_spans(block)


def _list_ranges(read: MarkdownText) -> Iterator[tuple[int, int]]:
    yield from list_paragraphs(read.kinds)
    for found in re.finditer(rf"[{''.join(sorted(CODE_KINDS))}]+", read.kinds):
        yield found.span()


def _hide_line(read: MarkdownText, at: int) -> str:
    """Return a line with spaces in place of a comment, or of the name of a property."""
    line, kind = read.lines[at], read.kinds[at]
    if kind == COMMENT:
        return " " * len(line) + "\n"
    if kind == FRONT:
        key = _KEY.match(line)
        return (line if key is None else " " * key.end() + line[key.end() :]) + "\n"
    shown = hide_comment(line, kind)
    shown = shown.rjust(len(line)) if line.endswith(shown) else shown.ljust(len(line))
    return shown + "\n"


def _hide_spans(block: str) -> str:
    text = blank_inline_code(block)
    spans = [*find_comments(text), *(found.span() for found in _STRUCK.finditer(text))]
    for start, end in spans:
        block = block[:start] + _NO_LINE_END.sub(" ", block[start:end]) + block[end:]
    return block
