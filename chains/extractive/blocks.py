"""Parse a passage into blocks that can be quoted.

Front matter, comments, horizontal rules, images, tags and embeds are skipped. Each code block,
table and list item is a separate block.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from chains.citations.headings import HeadingPath

__all__ = ["PassageBlock", "list_properties", "parse_blocks", "strip_quote"]

BlockKind = Literal["text", "item", "code", "table"]

_FENCE: Final = re.compile(r"[ \t]{0,20}(`{3,}|~{3,})")
_QUOTE: Final = re.compile(r"[ \t]{0,20}(?:>[ \t]?){1,8}")
_ITEM: Final = re.compile(r"([ \t]{0,40})(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_HEADING: Final = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE: Final = re.compile(r"[ \t]{0,3}(?:={3,}|-{3,})[ \t]*$")
_RULE_ROW: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*\|?[ \t]*$")
_LEFT_OUT: Final = re.compile(
    r"[ \t]*\[![\w-]+\]"  # the title of a callout
    r"|[ \t]*(?:[-=*_][ \t]*){3,}$"  # a rule
    r"|[ \t]*!\[[^\n]*\)$|[ \t]*!\[\[[^\n]*\]\]$"  # only an image or an embed
    r"|[ \t]*(?:#[^\s#]+[ \t]*)+$"  # only tags
    r"|[ \t]*\^[\w-]{1,40}[ \t]*$"  # only the ID of the block before
    r"|[ \t]*</?[a-zA-Z!][^\n]*>$|[ \t]*%%|[ \t]*\$\$"  # HTML, a comment, a formula
)
_PROPERTY: Final = re.compile(r"([^\W_][\w -]{0,60}):[ \t]+[^\s|>].*")
_COMMENT_START: Final = re.compile(r"[ \t]*(<!--|%%)")
_COMMENT_END: Final = {"<!--": "-->", "%%": "%%"}


@dataclass(frozen=True)
class PassageBlock:
    """A block of a passage, such as a paragraph, a list item or a code block.

    Attributes:
        first: the index of the first line in the passage.
        lines: the lines of the passage, without quote markers.
        indent: the indentation of a list item in columns, 0 for other blocks.
        heading: the headings above the block, outermost first.
    """

    kind: BlockKind
    first: int
    lines: tuple[str, ...]
    indent: int = 0
    heading: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """The index after the last line of the block."""
        return self.first + len(self.lines)

    @property
    def is_code_line(self) -> bool:
        """Whether the block consists of inline code only."""
        text = self.lines[0].strip()
        is_single = self.kind == "text" and len(self.lines) == 1
        return is_single and len(text) > 2 and text.startswith("`") and text.endswith("`")


def parse_blocks(
    passage: str, *, starts_note: bool = False, named: tuple[str, ...] = ()
) -> list[PassageBlock]:
    """Parse the blocks of a passage.

    Args:
        passage: Markdown text.
        starts_note: whether the passage is the start of a note, which may have front matter.
        named: the headings that are listed for the passage.
    """
    lines = [strip_quote(line) for line in passage.split("\n")]
    parser = _Parser(lines, HeadingPath.find_above_start(passage, named))
    return list(parser.parse(_find_front_matter_end(lines) if starts_note else 0))


def list_properties(passage: str) -> Iterator[tuple[int, str, str]]:
    """Yield the index, the line and the name of each property in the front matter of a passage.

    Only properties with a value on the same line are listed.

    Args:
        passage: the start of a note.
    """
    lines = passage.split("\n")
    for at, line in enumerate(lines[: _find_front_matter_end(lines)]):
        if (found := _PROPERTY.match(line)) is not None:
            yield at, line.rstrip(), found[1]


def strip_quote(line: str) -> str:
    """Remove the quote markers from a line."""
    found = _QUOTE.match(line)
    return line[found.end() :] if found else line


def _find_front_matter_end(lines: Sequence[str]) -> int:
    if lines[0].strip() != "---":
        return 0
    ends = (at for at, line in enumerate(lines[1:], 1) if line.strip() in {"---", "..."})
    return next(ends, 0) + 1


class _Parser:
    """Parses the lines of one passage."""

    def __init__(self, lines: Sequence[str], above: HeadingPath) -> None:
        self._lines = lines
        self._above = above

    def parse(self, start: int) -> Iterator[PassageBlock]:
        at = start
        while at < len(self._lines):
            line = self._lines[at]
            if fence := _FENCE.match(line):
                end = self._find_fence_end(at, fence[1])
                yield self._build("code", at, end)
            elif (comment := _COMMENT_START.match(line)) is not None:
                end = self._find_comment_end(at, comment)
            elif self._is_table(at):
                end = self._find_end(at, lambda line: "|" in line)
                yield self._build("table", at, end)
            elif not line.strip() or _LEFT_OUT.match(line):
                end = at + 1
            elif heading := _HEADING.match(line):
                self._above = self._above.add(len(heading[1]), heading[2])
                end = at + 1
            elif item := _ITEM.match(line):
                end = self._find_end(at + 1, self._continues)
                yield self._build("item", at, end, len(item[1].expandtabs(4)))
            else:
                end = self._find_end(at + 1, self._continues)
                if end < len(self._lines) and _UNDERLINE.match(self._lines[end]):
                    level = 1 if "=" in self._lines[end] else 2
                    self._above = self._above.add(level, self._lines[end - 1].strip())
                    end += 1
                else:
                    yield self._build("text", at, end)
            at = end

    def _build(self, kind: BlockKind, start: int, end: int, indent: int = 0) -> PassageBlock:
        lines = tuple(self._lines[start:end])
        return PassageBlock(kind, start, lines, indent, self._above.titles)

    def _find_end(self, start: int, belongs: Callable[[str], bool]) -> int:
        return next(
            (at for at in range(start, len(self._lines)) if not belongs(self._lines[at])),
            len(self._lines),
        )

    def _continues(self, line: str) -> bool:
        """Return whether a line continues the paragraph or list item before it."""
        starts_block = _ITEM.match(line) or _HEADING.match(line) or _FENCE.match(line)
        is_left_out = _LEFT_OUT.match(line) or _COMMENT_START.match(line)
        is_row = line.lstrip().startswith("|")
        return bool(line.strip()) and not starts_block and not is_left_out and not is_row

    def _is_table(self, at: int) -> bool:
        line = self._lines[at]
        behind = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        has_rule = "|" in line and "|" in behind and _RULE_ROW.match(behind) is not None
        return line.lstrip().startswith("|") or has_rule

    def _find_fence_end(self, start: int, fence: str) -> int:
        for at in range(start + 1, len(self._lines)):
            found = _FENCE.match(self._lines[at])
            if found and found[1].startswith(fence):
                return at + 1
        return len(self._lines)

    def _find_comment_end(self, start: int, comment: re.Match[str]) -> int:
        mark = _COMMENT_END[comment[1]]
        if mark in self._lines[start][comment.end() :]:
            return start + 1
        found = (at for at in range(start + 1, len(self._lines)) if mark in self._lines[at])
        return next(found, start) + 1
