"""Name the kinds of lines without parsing, for texts that are very long or still grow.

The parser takes a minute for the longest notes. The scanner takes a moment, and agrees with it on
fences, headings, tables, front matter and comments, also in lists and quotations that are written
in the usual way. It sees no indented code and no underlined headings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vault.notes.text.inline import HEADING_MARKS
from vault.notes.text.lines import (
    BLANK,
    CODE,
    FENCE_CLOSES,
    FENCE_OPENS,
    FRONT,
    ITEM,
    NESTED_HEADING,
    TABLE_KINDS,
    TABLE_ROW,
    TABLE_RULE,
    TEXT,
    find_body_line,
    list_paragraphs,
    mark_comments,
)

__all__ = ["has_open_fence", "may_become_fence", "scan_kinds"]

_MOST_INDENTED: Final = 3
_MARKS: Final = r"(?P<marks>[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*){0,50})"
_FENCE: Final = re.compile(rf"{_MARKS}(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_CLOSING: Final = re.compile(r"(?P<marks>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*$")
_HEADING_LINE: Final = re.compile(rf"{_MARKS}(?P<hashes>{HEADING_MARKS})")
_ITEM_LINE: Final = re.compile(r"(?P<marks>[ \t>]*(?:[-*+]|\d{1,9}[.)]))(?P<blank>[ \t]+|$)")
_INDENT: Final = re.compile(r"[ \t]*")
_TABLE_RULE_LINE: Final = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$")
_HALF_FENCE: Final = re.compile(r" {0,3}[`~]{1,3}$")


def scan_kinds(lines: Sequence[str], *, starts_note: bool = True) -> str:
    """Return the kind of each line, a letter as in `vault.notes.text.lines`.

    Args:
        lines: the lines of the text.
        starts_note: whether the text is the start of a note, which may have front matter.
    """
    before = find_body_line(lines) - 1 if starts_note else 0
    scanner = _Scanner()
    kinds = [FRONT] * before + [scanner.read(line) for line in lines[before:]]
    _mark_tables(kinds, lines)
    mark_comments(kinds, lines, list_paragraphs("".join(kinds), before))
    return "".join(kinds)


def has_open_fence(text: str) -> bool:
    """Return whether a text ends inside of a code block."""
    return scan_kinds(text.split("\n"), starts_note=False)[-1] in {FENCE_OPENS, CODE}


def may_become_fence(line: str) -> bool:
    """Return whether a line that is not complete may become a fence."""
    return _HALF_FENCE.match(line) is not None


@dataclass
class _Scanner:
    """Reads the lines of a text in order, and knows which code block and list item are open.

    Attributes:
        fence: the opening fence of the code block, or an empty string.
        column: the column of the fence.
        is_quoted: whether the code block is in a quotation.
        item_column: the column at which the text of the list item begins, or 0 outside of a list.
    """

    fence: str = ""
    column: int = 0
    is_quoted: bool = False
    item_column: int = 0

    def read(self, line: str) -> str:
        """Return the kind of the next line."""
        if self.fence:
            if self._goes_on(line):
                return self._read_code(line)
            self.fence = ""
        if not line.strip():
            return BLANK
        if line[0].isalpha() and not self.item_column:
            return TEXT  # most lines, which need no pattern
        indent, item = _measure_indent(line), _ITEM_LINE.match(line)
        if indent < self.item_column:
            self.item_column = 0
        if indent - self.item_column > _MOST_INDENTED:
            return TEXT
        if item:
            self.item_column = len(item["marks"]) + max(1, len(item["blank"]))
        if ("```" in line or "~~~" in line) and (found := _FENCE.match(line)):
            marks = found["marks"]
            self.fence, self.column, self.is_quoted = found["fence"], len(marks), ">" in marks
            return FENCE_OPENS
        if "#" in line and (found := _HEADING_LINE.match(line)):
            is_nested = bool(found["marks"].strip() or self.item_column)
            return NESTED_HEADING if is_nested else str(len(found["hashes"]))
        return ITEM if item else TEXT

    def _goes_on(self, line: str) -> bool:
        """Return whether the list item or quotation of the code block goes on in a line."""
        if self.is_quoted:
            return line.lstrip(" \t").startswith(">")
        column = self.item_column
        return not column or not line.strip() or _measure_indent(line) >= column

    def _read_code(self, line: str) -> str:
        if self.fence not in line:
            return CODE
        found = _CLOSING.match(line)
        is_deep = found is not None and len(found["marks"]) > self.column + _MOST_INDENTED
        if found is None or is_deep or not found["fence"].startswith(self.fence):
            return CODE
        self.fence = ""
        return FENCE_CLOSES


def _measure_indent(line: str) -> int:
    found = _INDENT.match(line)
    return len(found[0].expandtabs(4)) if found else 0


def _mark_tables(kinds: list[str], lines: Sequence[str]) -> None:
    for at in range(1, len(lines)):
        if "|" not in lines[at] or kinds[at] not in {TEXT, ITEM}:
            continue
        if kinds[at - 1] in TABLE_KINDS:
            kinds[at] = TABLE_ROW
        elif _begins_table(kinds[at - 1], lines[at - 1], lines[at]):
            kinds[at - 1 : at + 1] = [TABLE_ROW, TABLE_RULE]


def _begins_table(kind: str, head: str, rule: str) -> bool:
    """Return whether a line of a kind, and the line below it, are the first two of a table."""
    is_head = kind == TEXT or (kind == ITEM and rule.startswith(" "))
    return is_head and "|" in head and _TABLE_RULE_LINE.match(rule) is not None
