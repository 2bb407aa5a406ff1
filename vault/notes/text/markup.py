"""Remove Markdown markup from a text, for all that shows, compares or counts what a note says.

The markup of links, emphasis, list items, quotations and headings is found by its form, since the
text may be a part of a line. Code must be left out before.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from vault.notes.text.inline import HEADING_MARKS

__all__ = ["list_shown_pieces", "remove_markup"]

_MARKUP: Final = re.compile(
    r"(?P<entity>&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});)"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    rf"|(?P<line>^[ \t]{{0,20}}(?:(?:>|[-*+•][ \t]|\d{{1,3}}[.)][ \t]|{HEADING_MARKS}[ \t])"
    r"[ \t]{0,8}){1,6}"
    r"(?:\[[ xX]\][ \t])?)"
    r"|(?P<embed>!\[\[[^\[\]\n]{0,300}\]\])"
    r"|(?P<block>[ \t]\^[\w-]{1,40}$)"
    r"|(?P<alias>!?\[\[[^\[\]\n|]{0,300}\|)"
    r"|(?P<target>\]\((?:<[^<>\n]{0,1000}>|(?:[^()\s]|\([^()\s]{0,300}\)){0,1000})"
    r"(?:[ \t]{1,8}\"[^\"\n]{0,300}\")?\))"
    r"|(?P<reference>\]\[[^\[\]\n\d][^\[\]\n]{0,100}\])"
    r"|(?P<note>\[\^[\w-]{1,40}\])"
    r"|(?P<letter>\[(?P<kept>\w)\](?=\w))"
    r"|(?P<tag></?(?:b|br|i|u|s|em|strong|sub|sup|mark|kbd|small|span|p|div)\b[^<>\n]{0,200}>)"
    r"|(?P<mark>!?\[\[|\]\]|!?\[(?=[^\[\]\n]{0,300}\](?:\(|\[[^\[\]\n\d]))|==|~~|[*_`~|])",
    re.MULTILINE,
)

# Where markup begins within a line, or behind a blank, and at the beginning of a line. No markup
# goes on in the next line.
_SIGN: Final = re.compile(r"[&\\!\[\]<=~_`|*^]")
_LINE_SIGN: Final = re.compile(r"[ \t]{0,20}[>\-*+•\d#]")


def remove_markup(text: str) -> str:
    """Remove Markdown markup from a text.

    Marks that are no markup where they stand, such as `*` between blanks, are kept.
    """

    def shown(match: re.Match[str]) -> str:
        around = (
            text[max(0, match.start() - 1) : match.start()],
            text[match.end() : match.end() + 1],
        )
        mark = match.group()
        # Markdown marks are at the edge of words. Inside or between words they are plain text.
        is_text = mark in {"|", "~"} or (mark in {"_", "*"} and _is_inside(*around))
        return mark if is_text else _show(match)[0]

    pieces, end = list[str](), 0
    for match in _find_markup(text):
        pieces += text[end : match.start()], shown(match)
        end = match.end()
    return "".join((*pieces, text[end:]))


def _find_markup(text: str) -> Iterator[re.Match[str]]:
    """Yield the markup of a text, looked for only where a sign is, which few letters are."""
    start = end = 0
    for line in text.split("\n"):
        after = start + len(line)
        begins = [start] if _LINE_SIGN.match(line) else []
        begins += [sign.start() - (sign[0] == "^") for sign in _SIGN.finditer(text, start, after)]
        for begin in begins:
            if begin >= end and (match := _MARKUP.match(text, begin, after)):
                yield match
                end = match.end()
        start = after + 1


def list_shown_pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the pieces of a text that are no markup.

    Yields:
        Each piece, its offset in the text, and how far each of its characters is from the next one
        there, which is 0 for a character that is written as an entity.
    """
    end = 0
    for match in _find_markup(text):
        yield text[end : match.start()], end, 1
        end = match.end()
        piece, at = _show(match)
        yield piece, at, 0 if match.lastgroup == "entity" else 1
    yield text[end:], end, 1


def _show(match: re.Match[str]) -> tuple[str, int]:
    """Return what is shown in place of markup, and its offset in the text."""
    if match["kept"]:
        return match["kept"], match.start("kept")
    if match.lastgroup == "entity":
        return html.unescape(match.group()), match.start()
    if match.lastgroup == "escape":
        return match.group()[1], match.start() + 1
    return "", match.start()


def _is_inside(before: str, behind: str) -> bool:
    between_words = before.isalnum() and behind.isalnum()
    return between_words or (before.isspace() and behind.isspace())
