"""Split Markdown into sentences.

Headings, code, horizontal rules and similar blocks are skipped, because they mean nothing when
quoted alone. Each list item and table row counts as a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from vault.notes.text.lines import (
    COMMENT_CLOSES,
    COMMENT_OPENS,
    FRONT,
    HTML,
    ITEM,
    TABLE_ROW,
    TABLE_RULE,
    TEXT,
)
from vault.notes.text.markdown_text import MarkdownText, read_text
from vault.notes.text.markup import remove_markup
from vault.notes.text.sentences import find_sentences, join_lines
from vault.notes.text.sentences import split_sentences as split_block

__all__ = ["join_paragraph", "locate_sentences", "split_paragraph", "split_sentences"]

_QUOTE: Final = re.compile(r"[ \t]{0,20}(?:>[ \t]{0,8}){1,8}")
_ITEM: Final = re.compile(r"[ \t]{0,40}(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NO_PROSE: Final = re.compile(
    r"[ \t]*\[![\w-]+\]"  # the title of a callout
    r"|[ \t]*(?:[-=*_][ \t]*){3,}$"  # a line that looks like a rule
    r"|[ \t]*!\[[^\n]*\)$|[ \t]*!\[\[[^\n]*\]\]$"  # only an image
    r"|[ \t]*(?:#[^\s#]+[ \t]*)+$"  # only tags
    r"|[ \t]*</?[a-zA-Z!][^\n]*>$|[ \t]*\$\$"  # HTML, a formula
)
# The kinds of lines that may hold sentences.
_PROSE_KINDS: Final = frozenset((FRONT, TEXT, ITEM, HTML, TABLE_ROW, COMMENT_OPENS, COMMENT_CLOSES))
_FOOTNOTE: Final = re.compile(r"[ \t]*\[\^[\w-]{1,40}\]:[ \t]*")
_BLOCK_ID: Final = re.compile(r"[ \t]\^[\w-]{1,40}$")


def split_sentences(passage: MarkdownText) -> list[str]:
    """Return the sentences of a passage, without markup."""
    return [sentence for block in _split_blocks(passage) for sentence in split_block(block)]


def split_paragraph(lines: Sequence[str]) -> list[str]:
    """Return the sentences of a paragraph. Their markup is kept."""
    return split_block(join_paragraph(lines))


def join_paragraph(lines: Sequence[str]) -> str:
    """Return a paragraph on one line, without superfluous white space. Its markup is kept."""
    return " ".join(join_lines([line.strip() for line in lines]).split())


def locate_sentences(answer: str) -> list[tuple[int, int]]:
    """Return the start and end offset of each sentence in an answer, skipping tables and code."""
    return [
        (start + first, start + last)
        for start, end in _locate_blocks(answer)
        for first, last in find_sentences(answer[start:end])
    ]


def _locate_blocks(answer: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each paragraph and list item, without list markers."""
    at, block, was_quote, text = 0, (0, 0), False, read_text(answer)
    for line, kind in zip(text.lines, text.kinds, strict=True):
        bare = line.rstrip("\r")
        is_prose = _holds_prose(bare, kind) and not _is_row(bare)
        mark = _QUOTE.match(bare)
        begin = mark.end() if mark else 0
        item = _ITEM.match(bare, begin)
        is_other = item or not is_prose or bool(mark) != was_quote
        if block[1] and is_other:
            yield block
            block = (0, 0)
        was_quote = bool(mark)
        if is_prose:
            begin = at + (item.end() if item else begin)
            block = (block[0] if block[1] else begin, at + len(bare))
        at += len(line) + 1
    if block[1]:
        yield block


def _split_blocks(passage: MarkdownText) -> Iterator[str]:
    """Yield each paragraph, list item and table row on one line."""
    lines: list[str] = []
    for at, kind in enumerate(passage.kinds):
        if kind == TABLE_RULE:
            lines = []  # the line above is the header of a table
            continue
        line = _BLOCK_ID.sub("", passage.show_line(at))
        is_prose = _holds_prose(line, kind)
        if lines and (not is_prose or _ITEM.match(line) or kind == TABLE_ROW):
            yield _join_lines(lines)
            lines = []
        if is_prose:
            lines.append(_strip_mark(_FOOTNOTE, _strip_mark(_ITEM, line)).strip())
    if lines:
        yield _join_lines(lines)


def _holds_prose(line: str, kind: str) -> bool:
    return kind in _PROSE_KINDS and bool(line.strip()) and _NO_PROSE.match(line) is None


def _strip_mark(mark: re.Pattern[str], line: str) -> str:
    """Remove a marker, such as a bullet or `>`, from the start of a line."""
    found = mark.match(line)
    return line[found.end() :] if found else line


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _join_lines(lines: list[str]) -> str:
    if len(lines) == 1 and _is_row(lines[0]):
        cells = (remove_markup(cell).strip() for cell in lines[0].strip("| \t").split("|"))
        return " | ".join(cell for cell in cells if cell)
    return " ".join(remove_markup(join_lines(lines)).split())
