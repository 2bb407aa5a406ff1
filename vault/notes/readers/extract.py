"""The text parts that readers return, and the document built from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from vault.errors import ReadingFailed
from vault.notes.text.document import Block, Document, Heading, parse_document, read_front_matter
from vault.notes.text.inline import HEADING_MARKS
from vault.notes.text.lines import (
    BLANK,
    CODE,
    FENCE_CLOSES,
    FENCE_OPENS,
    ITEM,
    TABLE_ROW,
    TABLE_RULE,
    TEXT,
)

MAX_CHARS: Final = 10_000_000
_PART_CHARS: Final = 20  # the overhead of a part

PartKind = Literal["heading", "paragraph", "list", "table", "fence", "markdown", "text"]

# These kinds are lines also when they are empty.
_UNCHANGED: Final = frozenset({"markdown", "text"})
_LOOKS_LIKE_HEADING = re.compile(rf"^( {{0,3}})(?={HEADING_MARKS})", re.M)
_NOT_SHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff\ufffe\uffff\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


@dataclass(frozen=True, slots=True)
class ExtractPart:
    """A part of an extracted text, such as a paragraph, heading or table.

    Attributes:
        kind: the type of the part. `markdown` is parsed, and `text` is kept unchanged.
        level: the level of a heading, starting at 1, or 0 for other parts.
    """

    kind: PartKind
    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Extract:
    """The extracted text and names of a file.

    Attributes:
        title: the title in the file, or an empty string to use the file name.
        aliases: other names by which links can refer to the file.
        is_paged: whether each top-level heading starts a page.
    """

    parts: Sequence[ExtractPart]
    title: str = ""
    aliases: tuple[str, ...] = ()
    is_paged: bool = False


def build_document(extract: Extract) -> Document:
    """Join the parts of an extracted text into a document, separated by blank lines."""
    lines: list[str] = []
    blocks: list[Block] = []
    kinds, quoted = "", ""
    parts = [_read_part(part) for part in extract.parts if part.text or part.kind in _UNCHANGED]
    for part in parts:
        if lines and part.lines != ("",):
            lines.append("")
            kinds, quoted = kinds + BLANK, quoted + "0"
        blocks += (_move(block, len(lines)) for block in part.blocks)
        lines += part.lines
        kinds += part.kinds
        quoted += part.quoted or "0" * len(part.lines)
    return Document(
        lines=tuple(lines or [""]),
        blocks=tuple(blocks),
        is_private=any(part.is_private for part in parts),
        is_paged=extract.is_paged,
        kinds=kinds or BLANK,
        quoted=quoted if quoted.strip("0") else "",
    )


def clean_prose(text: str) -> str:
    """Convert a text to a single Markdown paragraph.

    Control characters and blank lines are removed, and heading markers are escaped.
    """
    shown = _NOT_SHOWN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " "))
    return _LOOKS_LIKE_HEADING.sub(r"\1\\", _BLANK_LINES.sub("\n", shown)).strip("\n ")


def build_table(rows: Sequence[Sequence[str]]) -> Iterator[ExtractPart]:
    """Yield a Markdown table, or nothing if all rows are empty.

    Args:
        rows: the cells of each row. The first row is the header.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if filled:
        width = max(map(len, filled))
        lines = [_format_row([*row, *[""] * (width - len(row))]) for row in filled]
        yield ExtractPart("table", "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]))


def limit_parts(parts: Iterable[ExtractPart]) -> tuple[ExtractPart, ...]:
    """Return the parts of an extracted text if the text is not too long.

    Raises:
        ReadingFailed: the parts have more than `MAX_CHARS` characters in total.
    """
    taken, chars = [], 0
    for part in parts:
        chars += len(part.text) + _PART_CHARS
        if chars > MAX_CHARS:
            raise ReadingFailed(
                f"it holds more than {MAX_CHARS // 1_000_000} million characters of text"
            )
        taken.append(part)
    return tuple(taken)


def _format_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _read_part(part: ExtractPart) -> Document:
    """Return a part as a document of its own."""
    if part.kind == "markdown":
        return parse_document(part.text)
    if part.kind == "text":
        lines = tuple(part.text.split("\n"))
        return Document(
            lines=lines,
            blocks=tuple(Block("paragraph", first, last) for first, last in _find_runs(lines)),
            is_private=read_front_matter(lines).is_private,
            kinds="".join(TEXT if line.strip() else BLANK for line in lines),
        )
    return _build_block(part)


def _build_block(part: ExtractPart) -> Document:
    heading = None
    text = part.text
    if part.kind == "heading":
        heading = Heading(min(max(part.level, 1), 6), " ".join(text.split()), 1)
        text = f"{'#' * heading.level} {heading.text}"
    lines = tuple(text.split("\n"))
    count = len(lines)
    inner = tuple((line, line) for line in range(1, count + 1))
    is_made_of_lines = part.kind in ("list", "table")
    kind = "paragraph" if part.kind == "list" and count == 1 else part.kind
    block = Block(kind, 1, count, inner if is_made_of_lines else (), heading)
    return Document(lines, (block,), kinds=_list_kinds(part.kind, heading, count))


def _list_kinds(kind: PartKind, heading: Heading | None, count: int) -> str:
    """Return the kinds of the lines of a part."""
    if heading is not None:
        return str(heading.level)
    if kind == "fence":
        return FENCE_OPENS + CODE * (count - 2) + FENCE_CLOSES
    if kind == "table":
        return TABLE_ROW + TABLE_RULE + TABLE_ROW * (count - 2)
    return (ITEM if kind == "list" else TEXT) * count


def _find_runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the line range of each group of consecutive non-blank lines."""
    first = 0
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip():
            first = first or number
        elif first:
            yield first, number - 1
            first = 0


def _move(block: Block, by: int) -> Block:
    heading = block.heading and replace(block.heading, line=block.heading.line + by)
    inner = tuple((first + by, last + by) for first, last in block.inner)
    return Block(block.kind, block.first + by, block.last + by, inner, heading)
