"""The text parts that readers return, and the document built from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
    written = _DocumentBuilder()
    for part in extract.parts:
        written.add(part)
    return replace(written.document(), is_paged=extract.is_paged)


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


@dataclass(slots=True)
class _DocumentBuilder:
    """Builds a document from the parts of an extracted text."""

    lines: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    is_private: bool = False
    kinds: str = ""
    quoted: str = ""

    def add(self, part: ExtractPart) -> None:
        if self.lines and part.text:
            self._add_lines([""], BLANK)
        before = len(self.lines)
        if part.kind == "markdown":
            self._add_markdown(part.text, before)
        elif part.kind == "text":
            self._add_text(part.text, before)
        elif part.text:
            self._add_block(part, before)

    def document(self) -> Document:
        return Document(
            lines=tuple(self.lines or [""]),
            blocks=tuple(self.blocks),
            is_private=self.is_private,
            kinds=self.kinds or BLANK,
            quoted=self.quoted if self.quoted.strip("0") else "",
        )

    def _add_markdown(self, text: str, before: int) -> None:
        inside = parse_document(text)
        self._add_lines(inside.lines, inside.kinds, inside.quoted)
        self.blocks += (_move(block, before) for block in inside.blocks)
        self.is_private |= inside.is_private

    def _add_text(self, text: str, before: int) -> None:
        lines = text.split("\n")
        self._add_lines(lines, "".join(TEXT if line.strip() else BLANK for line in lines))
        self.is_private |= read_front_matter(lines).is_private
        self.blocks += (
            Block("paragraph", first + before, last + before) for first, last in _find_runs(lines)
        )

    def _add_lines(self, lines: Sequence[str], kinds: str, quoted: str = "") -> None:
        self.lines += lines
        self.kinds += kinds
        self.quoted += quoted or "0" * len(lines)

    def _add_block(self, part: ExtractPart, before: int) -> None:
        heading = None
        text = part.text
        if part.kind == "heading":
            heading = Heading(min(max(part.level, 1), 6), " ".join(text.split()), before + 1)
            text = f"{'#' * heading.level} {heading.text}"
        lines = text.split("\n")
        self._add_lines(lines, _list_kinds(part.kind, heading, len(lines)))
        last = before + len(lines)
        inner = tuple((line, line) for line in range(before + 1, last + 1))
        is_made_of_lines = part.kind in ("list", "table")
        block_kind = "paragraph" if part.kind == "list" and len(lines) == 1 else part.kind
        self.blocks.append(
            Block(block_kind, before + 1, last, inner if is_made_of_lines else (), heading)
        )


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
