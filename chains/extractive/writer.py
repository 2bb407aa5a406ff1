"""Write what an answer quotes as Markdown.

A section is quoted as it stands in its note. Its lit lines end with the citation number of the
source, and "…" takes the place of lines that are folded. The items of a list are written without
markup, and escaped where they would be parsed as Markdown or as a citation.
"""

import re
from typing import Final

from chains.citations.pieces import cut_pieces, split_at_code, write_piece
from chains.citations.sections import ShownSection
from vault.notes.text.inline import remove_block_name, remove_comments, remove_embeds
from vault.notes.text.markup import remove_markup

__all__ = ["escape_markdown", "write_item", "write_place", "write_section", "write_text"]

_LEAD: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<mark>(?:[-*+•]|\d{1,3}[.)])[ \t]+)(?P<box>\[[ xX]\][ \t]+)?"
)
_BELOW: Final = re.compile(r"^[-*+][ \t]+")
_BLOCK_LEAD: Final = re.compile(r"(?:#+|(?:>[ \t]*)+)[ \t]+")
_STRUCK: Final = re.compile(r"~~(?=[^\s~])([^~\n]{1,300})(?<=[^\s~])~~")
_GAP: Final = "…"
_SPECIAL: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\[(?=\s*\d)|\](?=[(\[])|<(?=[A-Za-z/!])"
    r"|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|~~"
    r"|^[ \t]*(?:[#+-](?=[ \t])|>|\d{1,3}(?=[.)][ \t]))"
)


def write_place(section: ShownSection) -> str:
    """Format the title of a note, the headings above a section, and the day of the note."""
    place = " › ".join(map(write_text, section.names))
    if not place:
        return ""
    return f"*{place}* · {section.day}" if section.day else f"*{place}*"


def write_section(section: ShownSection) -> str:
    """Write a section as a block quotation, without its first heading and without folded lines."""
    lines: list[str] = []
    for piece in cut_pieces(section):
        if piece.is_folded:
            lines.append(_GAP)
            continue
        lines += write_piece(piece, section.n)[0]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def write_text(text: str) -> str:
    """Format a line of text, without markup except for inline code and text that is struck out."""
    return "".join(
        piece if is_code else _write_struck(piece)
        for piece, is_code in split_at_code(remove_embeds(text))
    ).strip()


def _write_struck(text: str) -> str:
    """Format a text without inline code. Struck-out text stays struck out: it is no longer true."""
    pieces = _STRUCK.split(text)  # every second piece is struck out
    shown = [escape_markdown(remove_markup(piece)) for piece in pieces]
    return "".join(f"~~{each}~~" if at % 2 else each for at, each in enumerate(shown))


def write_item(line: str) -> str:
    """Format a line of a note for use in a list item, without the line's list or table markers.

    What stands in the lines below follows it: the dates of a task, or the values of a property.
    """
    first, *below = map(str.strip, line.strip().split("\n"))
    values = [_BELOW.sub("", each, count=1) for each in below]
    line = " ".join((first, (", " if values != below else " ").join(values))).strip()
    if line.startswith("|"):
        cells = (cell.strip() for cell in line.strip("|").split("|"))
        line = " · ".join(cell for cell in cells if cell)
    lead = _LEAD.match(line) or _BLOCK_LEAD.match(line)
    return write_text(remove_comments(remove_block_name(line[lead.end() if lead else 0 :])))


def escape_markdown(text: str) -> str:
    """Escape a text so that it is not parsed as Markdown or as a citation."""
    return _SPECIAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    blank = len(found) - len(found.lstrip())
    mark = found[blank:]
    # If a number is followed by a dot or bracket, that character is escaped, as in `1\.`
    return f"{found[:blank]}{mark}\\" if mark.isdigit() else f"{found[:blank]}\\{mark}"
