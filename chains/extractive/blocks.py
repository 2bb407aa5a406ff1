"""Split a passage into blocks that can be quoted.

Front matter, comments, horizontal rules, images, tags and embeds are skipped. Each code block,
table and list item is a separate block.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vault.notes.text.lines import (
    CODE,
    CODE_KINDS,
    COMMENT_CLOSES,
    COMMENT_OPENS,
    FENCE_CLOSES,
    FENCE_OPENS,
    HTML,
    INDENTED,
    ITEM,
    TABLE_KINDS,
    TEXT,
)
from vault.notes.text.markdown_text import MarkdownText

__all__ = ["PassageBlock", "list_blocks", "list_properties"]

BlockKind = Literal["text", "item", "code", "table"]

_CODE_TEXT: Final = frozenset((CODE, INDENTED))
_PROSE: Final = frozenset((TEXT, HTML, COMMENT_OPENS, COMMENT_CLOSES))
_BULLET: Final = re.compile(r"[ \t]*•[ \t]+\S")  # a list item in text from a PDF file
_LEFT_OUT: Final = re.compile(
    r"[ \t]*\[![\w-]+\]"  # the title of a callout
    r"|[ \t]*(?:[-=*_][ \t]*){3,}$"  # a line that looks like a rule
    r"|[ \t]*!\[[^\n]*\)$|[ \t]*!\[\[[^\n]*\]\]$"  # only an image or an embed
    r"|[ \t]*(?:#[^\s#]+[ \t]*)+$"  # only tags
    r"|[ \t]*\^[\w-]{1,40}[ \t]*$"  # only the ID of the block before
    r"|[ \t]*</?[a-zA-Z!][^\n]*>$|[ \t]*\$\$"  # HTML, a formula
)
_PROPERTY: Final = re.compile(r"([^\W_][\w -]{0,60}):[ \t]+[^\s|>].*")
_BACKTICKS: Final = re.compile(r"`+")


@dataclass(frozen=True)
class PassageBlock:
    """A block of a passage, such as a paragraph, a list item or a code block.

    Attributes:
        first: the index of the first line in the passage.
        lines: the lines of the passage, without quote markers. A code block has its fences, also if
            the passage begins or ends within it.
        end: the index behind the last line in the passage.
        indent: the indentation of a list item in columns, 0 for other blocks.
        heading: the headings above the block, outermost first.
    """

    kind: BlockKind
    first: int
    lines: tuple[str, ...]
    end: int
    indent: int = 0
    heading: tuple[str, ...] = ()

    @property
    def is_code_line(self) -> bool:
        """Whether the block consists of inline code only."""
        text = self.lines[0].strip()
        is_single = self.kind == "text" and len(self.lines) == 1
        return is_single and len(text) > 2 and text.startswith("`") and text.endswith("`")


def list_blocks(text: MarkdownText) -> Iterator[PassageBlock]:
    """Yield the blocks of a passage, in order."""
    lines = [text.show_line(at) for at in range(len(text.lines))]
    at = 0
    while at < len(lines):
        start, kind = at, text.kinds[at]
        at = max(at + 1, text.find_solid_end(at))
        heading = text.find_headings(start)
        if kind in CODE_KINDS:
            if any(kind in _CODE_TEXT for kind in text.kinds[start:at]):
                code = _fence_code(lines[start:at], text.kinds[start:at])
                yield PassageBlock("code", start, code, at, 0, heading)
        elif kind in TABLE_KINDS:
            yield PassageBlock("table", start, tuple(lines[start:at]), at, 0, heading)
        elif (kind == ITEM or kind in _PROSE) and not _is_left_out(lines[start]):
            while at < len(lines) and _goes_on(text.kinds[at], lines[at]):
                at += 1
            is_item = kind == ITEM or _BULLET.match(lines[start]) is not None
            indent = _measure_indent(lines[start]) if is_item else 0
            found = tuple(lines[start:at])
            yield PassageBlock("item" if is_item else "text", start, found, at, indent, heading)


def list_properties(text: MarkdownText) -> Iterator[tuple[int, str, str]]:
    """Yield the index, the line and the name of each property in the front matter of a passage.

    Only properties with a value on the same line are listed.
    """
    for at, line in enumerate(text.lines):
        if text.is_front(at) and (found := _PROPERTY.match(line)) is not None:
            yield at, line.rstrip(), found[1]


def _is_left_out(line: str) -> bool:
    return not line.strip() or _LEFT_OUT.match(line) is not None


def _goes_on(kind: str, line: str) -> bool:
    """Return whether a line continues the paragraph or list item before it."""
    return kind in _PROSE and not _is_left_out(line) and _BULLET.match(line) is None


def _measure_indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(4))


def _fence_code(lines: Sequence[str], kinds: str) -> tuple[str, ...]:
    """Return the lines of a code block, with the fences that the passage does not have.

    A passage may begin or end within a code block, and indented code has no fences.
    """
    is_opened, is_closed = kinds[0] == FENCE_OPENS, kinds[-1] == FENCE_CLOSES
    if is_opened and is_closed:
        return tuple(lines)
    if kinds[0] == INDENTED:
        shown = [line.expandtabs(4) for line in lines]
        least = min(_measure_indent(line) for line in shown if line.strip())
        lines = [line[least:] for line in shown]
    longest = max(map(len, _BACKTICKS.findall("\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    if is_opened or is_closed:
        mark = lines[0 if is_opened else -1].strip()
        fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
    return (*(() if is_opened else (fence,)), *lines, *(() if is_closed else (fence,)))
