"""Format quotations as Markdown, without markup that is meaningless in an answer.

Inline code is kept. All other text is escaped where necessary, so that it is not parsed as Markdown
or as a citation.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from chains.citations.quotes import remove_markup
from vault.notes.text.inline import remove_comments

__all__ = ["escape_markdown", "write_code", "write_item", "write_lines", "write_row", "write_text"]

_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)(?:[^`]|(?!\1(?!`))`)+?\1(?!`)")
_LEAD: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<mark>(?:[-*+•]|\d{1,3}[.)])[ \t]+)(?P<box>\[[ xX]\][ \t]+)?"
)
_BLOCK_LEAD: Final = re.compile(r"(?:#+|(?:>[ \t]*)+)[ \t]+")
# Repetitions are limited, so that a line of a hostile note is formatted in little time.
_BLOCK_ID: Final = re.compile(r"[ \t]\^[\w-]{1,40}[ \t]{0,20}$")
_EMBED: Final = re.compile(
    r"[ \t]{0,20}!\[\[[^\[\]\n]{0,300}\]\]"
    r"|[ \t]{0,20}!\[[^\[\]\n]{0,300}\]\((?:[^()\n]|\([^()\n]{0,300}\)){0,1000}\)"
)
_STRUCK: Final = re.compile(r"~~(?=[^\s~])([^~\n]{1,300})(?<=[^\s~])~~")
_SPECIAL: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\[(?=\s*\d)|\](?=[(\[])|<(?=[A-Za-z/!])"
    r"|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|~~"
    r"|^[ \t]*(?:[#+-](?=[ \t])|>|\d{1,3}(?=[.)][ \t]))"
)


def write_lines(lines: Sequence[str]) -> list[str]:
    """Format the lines of paragraphs and list items for quoting."""
    shown = [line.expandtabs(4) for line in lines]
    least = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    return [_write_line(line[least:]) for line in shown if line.strip()]


def write_code(lines: Sequence[str]) -> list[str]:
    """Format the lines of a code block for quoting, including its fences."""
    return [line.rstrip() for line in lines]


def write_text(text: str) -> str:
    """Format a line of text, without markup except for inline code and text that is struck out."""
    return "".join(
        piece if is_code else _write_struck(piece) for piece, is_code in _split_at_code(text)
    ).strip()


def _write_struck(text: str) -> str:
    """Format a text without inline code. Struck-out text stays struck out: it is no longer true."""
    pieces = _STRUCK.split(text)  # every second piece is struck out
    shown = [escape_markdown(remove_markup(piece)) for piece in pieces]
    return "".join(f"~~{each}~~" if at % 2 else each for at, each in enumerate(shown))


def write_item(line: str) -> str:
    """Format a line of a note for use in a list item, without the line's list or table markers."""
    line = line.strip()
    if line.startswith("|"):
        cells = (cell.strip() for cell in line.strip("|").split("|"))
        line = " · ".join(cell for cell in cells if cell)
    lead = _LEAD.match(line) or _BLOCK_LEAD.match(line)
    return write_text(remove_comments(_BLOCK_ID.sub("", line[lead.end() if lead else 0 :])))


def write_row(line: str) -> str:
    """Return a row of a Markdown table without the markup in its cells."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    shown = [write_text(cell) if cell.strip("-: ") else cell for cell in cells]
    return line.strip() if shown == cells else f"| {' | '.join(shown)} |"


def escape_markdown(text: str) -> str:
    """Escape a text so that it is not parsed as Markdown or as a citation."""
    return _SPECIAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    blank = len(found) - len(found.lstrip())
    mark = found[blank:]
    # If a number is followed by a dot or bracket, that character is escaped, as in `1\.`
    return f"{found[:blank]}{mark}\\" if mark.isdigit() else f"{found[:blank]}\\{mark}"


def _write_line(line: str) -> str:
    lead = _LEAD.match(line)
    mark = ""
    if lead is not None:
        mark = (
            f"{lead['indent']}{lead['mark'].strip()} {(lead['box'] or '').strip()}".rstrip() + " "
        )
        line = line[lead.end() :]
    elif line[:1] == " ":
        mark = line[: len(line) - len(line.lstrip())]
    return mark + write_text(remove_comments(_BLOCK_ID.sub("", line)))


def _split_at_code(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at inline code, and yield each piece with a flag that is True for code."""
    text = "".join(
        piece if is_code else _EMBED.sub("", piece) for piece, is_code in _split_code(text)
    )
    yield from _split_code(text)


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in _CODE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False
