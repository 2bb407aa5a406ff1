"""Find the text of notes in tool results, and leave out that of notes that models may not read now.

The tools write such text in three forms: `<source path="…">` elements, whose content is escaped;
lines that begin with the path of a note, as in the results of `grep_notes` and `list_folder`; and
the links of a note, as in those of `get_links`.
"""

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

EXCLUDED_LINE: Final = "[This note is now excluded and is not read any more.]"
_SOURCE: Final = re.compile(
    r'<source(?P<attributes>(?: \w+="[^"]*")*)>\n.*?(?:\n</source>|\Z)', re.DOTALL
)
_ATTRIBUTE: Final = re.compile(r' (\w+)="([^"]*)"')
_KEPT_ATTRIBUTES: Final = ("n", "path")
_LINE: Final = re.compile(r"^(?P<path>[^\n]*?\.\w{1,9}):(?:\d+:)? (?P<text>[^\n]+)$", re.MULTILINE)
_LINKS: Final = re.compile(
    r"^Links in (?P<path>[^\n]+):\n(?P<text>.*?)\n(?=Links to )", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class NotePiece:
    """A piece of a tool result that comes from a note.

    Attributes:
        path: the path of the note, as the tool wrote it.
        start: the index of the first character of the piece.
        end: the index after its last character.
        notice: what is sent instead of the piece if models may not read the note.
    """

    path: str
    start: int
    end: int
    notice: str


def find_note_pieces(text: str) -> tuple[NotePiece, ...]:
    """Return the pieces of a tool result that come from notes, in order."""
    pieces: list[NotePiece] = []
    end = 0
    for source in _SOURCE.finditer(text) if "<source " in text else ():
        pieces += _find_listed(text, end, source.start())
        pieces += _read_source(source)
        end = source.end()
    pieces += _find_listed(text, end, len(text))
    return tuple(pieces)


def hide_note_text(
    text: str, excluded: Collection[str], start: int = 0, end: int | None = None
) -> str:
    """Return a part of a tool result with a notice in place of each piece of an excluded note.

    Args:
        text: the whole result.
        excluded: the paths of the notes that models may not read now.
        start: the index of the first character of the part.
        end: the index after its last character, or None for the end of the result.
    """
    stop = len(text) if end is None else end
    shown: list[str] = []
    for piece in find_note_pieces(text):
        if piece.path in excluded and piece.end > start and piece.start < stop:
            shown += (text[start : piece.start], piece.notice)
            start = max(start, min(piece.end, stop))
    return "".join((*shown, text[start:stop]))


def _read_source(source: re.Match[str]) -> Iterator[NotePiece]:
    values = dict(_ATTRIBUTE.findall(source["attributes"]))
    if "path" not in values:
        return
    kept = "".join(f' {name}="{values[name]}"' for name in _KEPT_ATTRIBUTES if name in values)
    notice = f"<source{kept}>\n{EXCLUDED_LINE}\n</source>"
    yield NotePiece(html.unescape(values["path"]), source.start(), source.end(), notice)


def _find_listed(text: str, start: int, end: int) -> Iterator[NotePiece]:
    """Yield the pieces in the part of a result that holds no `<source>` element."""
    if links := _LINKS.search(text, start, end):
        yield NotePiece(links["path"], *links.span("text"), EXCLUDED_LINE)
        start = links.end()
    for line in _LINE.finditer(text, start, end):
        yield NotePiece(line["path"], *line.span("text"), EXCLUDED_LINE)
