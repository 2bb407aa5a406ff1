"""Name the kind of each line of a Markdown text, from the blocks that the parser found.

This is the only place that decides what is code, a heading, a comment or text. A kind is a single
letter, so that the kinds of a passage are a short text that is stored with it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from vault.notes.text.inline import blank_inline_code, find_comments, may_have_comments

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = [
    "BLANK",
    "CODE",
    "CODE_KINDS",
    "COMMENT",
    "COMMENT_CLOSES",
    "COMMENT_OPENS",
    "FENCE_CLOSES",
    "FENCE_OPENS",
    "FRONT",
    "FRONT_MARK",
    "HEADINGS",
    "HTML",
    "INDENTED",
    "ITEM",
    "NESTED_HEADING",
    "RULE",
    "SECTION_KINDS",
    "TABLE_KINDS",
    "TABLE_ROW",
    "TABLE_RULE",
    "TEXT",
    "UNDERLINE",
    "UNDERLINED",
    "find_body_line",
    "hide_comment",
    "list_paragraphs",
    "mark_comments",
    "mark_lines",
]

FRONT_MARK: Final = "---"  # the first line of front matter, and mostly its last one
FRONT: Final = "f"  # front matter, with these lines
BLANK: Final = " "
TEXT: Final = "p"
ITEM: Final = "-"  # the first line of a list item
HEADINGS: Final = "123456"  # a heading with `#` marks, by its level
UNDERLINED: Final = "AB"  # a heading that is underlined, by its level
UNDERLINE: Final = "="
NESTED_HEADING: Final = "n"  # a heading in a list or quotation, which starts no section
FENCE_OPENS: Final = "o"
FENCE_CLOSES: Final = "e"
CODE: Final = "c"  # between fences
INDENTED: Final = "i"  # code without fences
TABLE_ROW: Final = "t"
TABLE_RULE: Final = "d"
RULE: Final = "r"
HTML: Final = "h"
COMMENT: Final = "%"  # entirely within a comment
COMMENT_OPENS: Final = "<"  # text, and then a comment that ends on a later line
COMMENT_CLOSES: Final = ">"  # the end of such a comment, and then text

_MOST_QUOTED: Final = 9
CODE_KINDS: Final = frozenset((FENCE_OPENS, FENCE_CLOSES, CODE, INDENTED))
_CUT_KINDS: Final = frozenset((COMMENT_OPENS, COMMENT_CLOSES))
_COMMENT_STARTS: Final = ("%%", "<!--")
_COMMENT_ENDS: Final = ("%%", "-->")
TABLE_KINDS: Final = frozenset((TABLE_ROW, TABLE_RULE))
# The kinds of lines that may go on with the paragraph of the line above.
_GO_ON: Final = frozenset(
    (TEXT, HTML, UNDERLINE, *UNDERLINED, COMMENT, COMMENT_OPENS, COMMENT_CLOSES)
)
SECTION_KINDS: Final = frozenset((*HEADINGS, *UNDERLINED))
_UNDERLINED_HEADING: Final = re.compile(rf"[{UNDERLINED}]+{UNDERLINE}")
_NO_COMMENTS: Final = CODE_KINDS | {FRONT, BLANK}


def find_body_line(lines: Sequence[str]) -> int:
    """Return the number of the first line behind the front matter, or 1 if a note has none."""
    if lines[0].rstrip() != FRONT_MARK:
        return 1
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in {FRONT_MARK, "..."}:
            return number + 1
    return 1


def mark_lines(tokens: "Sequence[Token]", lines: Sequence[str], body_line: int) -> tuple[str, str]:
    """Return the kind of each line, and how many quotations it is inside, as a letter and a digit.

    Args:
        tokens: the block tokens of the text behind the front matter.
        lines: all lines of the text.
        body_line: the number of the first line behind the front matter.
    """
    before = body_line - 1
    kinds = [FRONT] * before + [TEXT if line.strip() else BLANK for line in lines[before:]]
    quoted = [0] * len(lines)
    for token in tokens:
        if token.map is None:
            continue
        first, behind = token.map[0] + before, token.map[1] + before
        if token.type == "blockquote_open":
            for at in range(first, behind):
                quoted[at] = min(quoted[at] + 1, _MOST_QUOTED)
        elif marks := _mark_block(token, behind - first):
            kinds[first : first + len(marks)] = marks
    _mark_html(tokens, kinds, before)
    mark_comments(kinds, lines, _list_inline_ranges(tokens, before))
    depths = "".join(map(str, quoted)) if any(quoted) else ""
    return "".join(kinds), depths


def _mark_block(token: "Token", length: int) -> str:
    """Return the kinds of the first lines of a block, or an empty string if it has none."""
    if token.type == "heading_open":
        level = int(token.tag[1:])
        if token.markup.startswith("#"):
            return NESTED_HEADING if token.level else str(level)
        kind = NESTED_HEADING if token.level else UNDERLINED[level - 1]
        return kind * (length - 1) + UNDERLINE
    if token.type == "fence":
        inner = len(token.content.removesuffix("\n").split("\n")) if token.content else 0
        is_closed = length == inner + 2
        return FENCE_OPENS + CODE * (length - 1 - is_closed) + FENCE_CLOSES * is_closed
    if token.type == "code_block":
        return INDENTED * length
    if token.type == "table_open":
        return TABLE_ROW + TABLE_RULE + TABLE_ROW * (length - 2)
    return {"hr": RULE, "list_item_open": ITEM}.get(token.type, "")


def _mark_html(tokens: "Sequence[Token]", kinds: list[str], before: int) -> None:
    for token in tokens:
        if token.type == "html_block" and token.map is not None:
            for at in range(token.map[0] + before, token.map[1] + before):
                kinds[at] = HTML if kinds[at] == TEXT else kinds[at]


def _list_inline_ranges(tokens: "Iterable[Token]", before: int) -> Iterator[tuple[int, int]]:
    """Yield the indices of the lines of each paragraph, heading and table row."""
    last = -1
    for token in tokens:
        if token.type == "inline" and token.map is not None and token.map[0] > last:
            first, behind = token.map
            last = behind - 1
            yield first + before, behind + before


def list_paragraphs(kinds: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the indices of the lines of each paragraph, list item, heading and table row.

    Code and blank lines are left out. Inline code and links do not go on in the next paragraph.

    Args:
        kinds: the kinds of the lines.
        start: the index of the first line.
    """
    first = start
    for at in range(start, len(kinds) + 1):
        kind = kinds[at : at + 1] or BLANK
        if at > first and kind not in _GO_ON:
            yield first, at
            first = at
        if kind == BLANK or kind in CODE_KINDS:
            first = at + 1


def hide_comment(line: str, kind: str) -> str:
    """Return a line without the part of a comment that goes on in the lines around it.

    Args:
        kind: the kind of the line.
    """
    if kind not in _CUT_KINDS:
        return line
    text, at = blank_inline_code(line), 0
    if kind == COMMENT_CLOSES:
        ends = (text.find(mark) + len(mark) for mark in _COMMENT_ENDS if mark in text)
        return line[min(ends, default=0) :]
    for _, end in find_comments(text):
        at = end
    starts = (found for mark in _COMMENT_STARTS if (found := text.find(mark, at)) >= 0)
    return line[: min(starts, default=len(line))]


def mark_comments(
    kinds: list[str], lines: Sequence[str], inline: Iterable[tuple[int, int]]
) -> None:
    """Mark the lines inside of `%%comments%%` and `<!-- comments -->`.

    A comment that is not closed is text, and a mark in code opens none. A heading in a comment is
    none.

    Args:
        kinds: the kinds of the lines, which are changed.
        inline: the indices of the lines of each paragraph, whose inline code may span lines.
    """
    if not may_have_comments(lines):
        return
    shown = {at: line for at, line in enumerate(lines) if kinds[at] not in _NO_COMMENTS}
    for first, behind in inline:
        text = blank_inline_code("\n".join(lines[first:behind]))
        shown.update(zip(range(first, behind), text.split("\n"), strict=True))
    before, numbers = "".join(kinds), list(shown)
    starts = [0, *accumulate(len(shown[at]) + 1 for at in numbers)]
    text = "\n".join(shown.values())
    for start, end in find_comments(text):
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        has_before = bool(text[starts[first] : start].strip())
        has_behind = bool(text[end : starts[last + 1] - 1].strip())
        for at in range(first, last + 1):
            opens, closes = has_before and at == first, has_behind and at == last
            kind = COMMENT_OPENS if opens else COMMENT_CLOSES if closes else COMMENT
            is_section = kinds[numbers[at]] in SECTION_KINDS
            if kind == COMMENT or (first < last and not is_section):
                kinds[numbers[at]] = kind
    for heading in _UNDERLINED_HEADING.finditer(before):
        start, end = heading.span()
        if any(kind != COMMENT for kind in kinds[start:end]):
            kinds[start:end] = heading.group()  # the comment is only a part of it
