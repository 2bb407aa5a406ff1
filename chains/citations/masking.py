"""Hiding what is no prose in an answer: code, the addresses of links, footnotes.

What is hidden keeps its length, so that places in the text stay what they are.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

__all__ = ["HIDDEN", "masked"]

HIDDEN: Final = "\x00"

_FENCE: Final = re.compile(r" {0,3}(?:>[ \t]{0,3}){0,4}[ \t]{0,12}(`{3,}|~{3,})")
_BACKTICKS: Final = re.compile(r"`+")
_LINK_END: Final = re.compile(r"\]\([^()\n]{0,2000}\)")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*(?=\n)")


def masked(text: str) -> str:
    """Return the text with code, addresses and footnotes hidden."""
    text = _without_fences(text)
    text = _hide(text, _inline_code(text))
    return _LINK_END.sub(lambda match: HIDDEN * len(match.group()), text)


def _without_fences(text: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            lines.append(_blank(line))
            if found and found[1].startswith(fence) and not line[found.end() :].strip("`~ \t\r\n"):
                fence = ""
        elif found and "`" not in line[found.end() :].strip("`"):
            fence = found[1]
            lines.append(_blank(line))
        else:
            lines.append(line)
    return "".join(lines)


def _blank(line: str) -> str:
    ending = line[len(line.rstrip("\r\n")) :]
    return " " * (len(line) - len(ending)) + ending


def _inline_code(text: str) -> Iterator[tuple[int, int]]:
    """The spans of inline code: between runs of as many backticks, within a paragraph."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    paragraphs = deque(match.start() for match in _BLANK_LINE.finditer(text))
    by_length: dict[int, deque[int]] = {}
    for start, end in runs:
        by_length.setdefault(end - start, deque()).append(start)
    place = 0
    for start, end in runs:
        if start < place:
            continue
        while paragraphs and paragraphs[0] < start:
            paragraphs.popleft()
        limit = paragraphs[0] if paragraphs else len(text)
        same = by_length[end - start]
        while same and same[0] <= start:
            same.popleft()
        if same and same[0] < limit:
            place = same[0] + end - start
            yield start, place


def _hide(text: str, spans: Iterator[tuple[int, int]]) -> str:
    pieces, place = [], 0
    for start, end in spans:
        pieces += [text[place:start], re.sub(r"[^\n]", HIDDEN, text[start:end])]
        place = end
    return "".join((*pieces, text[place:]))
