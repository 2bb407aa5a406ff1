"""Write what an answer quotes as Markdown.

A section is quoted as it stands in its note. Its lit lines end with the citation number of the
source, and "…" takes the place of lines that are folded. The items of a list are written without
markup, and escaped where they would be parsed as Markdown or as a citation.
"""

import re
from collections.abc import Iterator
from typing import Final

from chains.citations.pieces import cut_pieces
from chains.citations.quotes import remove_markup
from chains.citations.sections import ShownSection
from vault.notes.text.inline import remove_block_name, remove_comments, remove_embeds
from vault.notes.text.lines import CODE_KINDS, FENCE_CLOSES, TABLE_KINDS

__all__ = ["escape_markdown", "write_item", "write_section", "write_text"]

_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)(?:[^`]|(?!\1(?!`))`)+?\1(?!`)")
_LEAD: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<mark>(?:[-*+•]|\d{1,3}[.)])[ \t]+)(?P<box>\[[ xX]\][ \t]+)?"
)
_BLOCK_LEAD: Final = re.compile(r"(?:#+|(?:>[ \t]*)+)[ \t]+")
_STRUCK: Final = re.compile(r"~~(?=[^\s~])([^~\n]{1,300})(?<=[^\s~])~~")
# What would be read as a citation of the answer.
_CITED: Final = re.compile(r"(?<!\\)\[(?=\s{0,2}\d{1,3}[\s,;\d–-]{0,20}\](?!\())")
_GAP: Final = "…"
_SPECIAL: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\[(?=\s*\d)|\](?=[(\[])|<(?=[A-Za-z/!])"
    r"|\*(?=\S)|(?<=\S)\*|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|~~"
    r"|^[ \t]*(?:[#+-](?=[ \t])|>|\d{1,3}(?=[.)][ \t]))"
)


def write_section(section: ShownSection) -> str:
    """Write a section as a block quotation, without its first heading and without folded lines."""
    lines: list[str] = []
    for piece in cut_pieces(section):
        if piece.is_folded:
            lines.append(_GAP)
            continue
        ends = {end for _, end in piece.lit}
        for at, line in enumerate(piece.lines, start=1):
            lines += _write_line(line, piece.kinds[at - 1], section.n if at in ends else None)
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _write_line(line: str, kind: str, number: int | None) -> list[str]:
    """Write a line as it is. The number of the source, if any, follows it.

    There is no number in code, where it would be code.
    """
    if kind in CODE_KINDS:
        return [line, f"[{number}]"] if number is not None and kind == FENCE_CLOSES else [line]
    line = _escape_cited(line.rstrip())
    if number is None:
        return [line]
    if kind in TABLE_KINDS and line.endswith("|"):
        return [f"{line[:-1].rstrip()} [{number}] |"]
    return [f"{line} [{number}]"]


def _escape_cited(line: str) -> str:
    """Escape what would be read as a citation, but not in inline code."""
    pieces = _split_at_code(line)
    return "".join(text if is_code else _CITED.sub(r"\\[", text) for text, is_code in pieces)


def write_text(text: str) -> str:
    """Format a line of text, without markup except for inline code and text that is struck out."""
    return "".join(
        piece if is_code else _write_struck(piece)
        for piece, is_code in _split_at_code(remove_embeds(text))
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


def _split_at_code(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at inline code, and yield each piece with a flag that is True for code."""
    at = 0
    for match in _CODE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield match.group(), True
        at = match.end()
    if at < len(text):
        yield text[at:], False
