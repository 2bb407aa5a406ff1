"""Find the text of notes in tool results, and leave out that of notes that models may not read now.

The tools write such text in three forms: `<source path="…">` elements, whose content is escaped;
lines that begin with the path of a note, as in the results of `grep_notes` and `list_folder`; and
the links of a note, as in those of `get_links`. `list_tags` lists tags without the notes. The tools
of other programs write such text in any form.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

LIST_TAGS: Final = "list_tags"
TAGS_LINE: Final = "[Tags of notes that are now excluded were left out.]"
_TAG_LINE: Final = re.compile(r"#(\S+) \([\d,]+ notes?\)")
EXCLUDED_LINE: Final = "[This note is now excluded and is not read any more.]"
_SOURCE: Final = re.compile(
    r'<source(?P<attributes>(?: \w+="[^"]*")*)>\n.*?(?:\n</source>|\Z)', re.DOTALL
)
_ATTRIBUTE: Final = re.compile(r' (\w+)="([^"]*)"')
_KEPT_ATTRIBUTES: Final = ("n", "path")
_LINE: Final = re.compile(r"[^\n]+")
# The ends of the names of files that the tools list. Other lines, such as `At 9.30: dentist`, name
# no note.
NOTE_SUFFIXES: Final = (
    *(".md", ".markdown", ".txt", ".text", ".canvas", ".excalidraw", ".base"),
    *(".html", ".htm", ".docx", ".pdf"),
)
_PATH_END: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, NOTE_SUFFIXES))})(?P<mark>:(?:\d+:)? )(?=[^\n])", re.IGNORECASE
)
MOST_PATH_CHARS: Final = 4_096
MOST_PATH_ENDS: Final = 16
_LINKS: Final = re.compile(r"^Links in (?P<path>[^\n]+):\n", re.MULTILINE)
_LINKS_END: Final = "\nLinks to "


@dataclass(frozen=True, slots=True)
class NotePiece:
    """A piece of a tool result that comes from a note.

    Attributes:
        path: the path of the note, as the tool wrote it.
        head: the index of the first character of what names the note.
        start: the index of the first character of the piece.
        end: the index after its last character.
        notice: what is sent instead of the piece if models may not read the note.
    """

    path: str
    head: int
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


def find_sources(text: str) -> Iterator[NotePiece]:
    """Yield the `<source>` elements of a text that name a note, in order."""
    for source in _SOURCE.finditer(text) if "<source " in text else ():
        yield from _read_source(source)


def hide_note_text(
    text: str,
    excluded: Collection[str],
    start: int = 0,
    end: int | None = None,
    hide_rest: Callable[[str], str] = str,
) -> str:
    """Return a part of a tool result with a notice in place of each piece of an excluded note.

    Args:
        text: the whole result.
        excluded: the paths of the notes that models may not read now.
        start: the index of the first character of the part.
        end: the index after its last character, or None for the end of the result.
        hide_rest: returns what is shown of a text that is in no piece.
    """
    stop = len(text) if end is None else min(end, len(text))
    shown: list[str] = []
    at = reach = start  # what is before `at` is shown, and what is from there to `reach` is kept
    for piece in find_note_pieces(text):
        if min(piece.end, stop) <= at or piece.start >= stop:
            continue
        if piece.head > reach:
            shown += (text[at:reach], hide_rest(text[reach : piece.head]))
            at = piece.head
        reach = max(reach, min(piece.end, stop))
        if piece.path in excluded:
            shown += (text[at : piece.start], piece.notice)
            at = min(piece.end, stop)
    return "".join((*shown, text[at:reach], hide_rest(text[reach:stop])))


def strip_source(piece: str) -> str:
    """Return the title, heading and text of a `<source>` element, and any other piece as it is."""
    if (found := _SOURCE.match(piece)) is None:
        return piece
    values = dict(_ATTRIBUTE.findall(found["attributes"]))
    head = (values[name] for name in ("title", "heading") if name in values)
    start = found.end("attributes") + len(">\n")
    return "\n".join((*head, piece[start:].removesuffix("\n</source>")))


def find_numbers(text: str, excluded: Collection[str]) -> frozenset[str]:
    """Return the numbers by which answers cite the excluded notes of a tool result."""
    sources = (dict(_ATTRIBUTE.findall(found["attributes"])) for found in _SOURCE.finditer(text))
    return frozenset(
        values["n"]
        for values in sources
        if "n" in values and html.unescape(values.get("path", "")) in excluded
    )


def list_tags(text: str) -> frozenset[str]:
    """Return the tags in a result of the tool that lists them, without their leading `#`."""
    lines = map(_TAG_LINE.fullmatch, text.splitlines())
    return frozenset(line[1] for line in lines if line is not None)


def hide_tags(text: str, tags: Collection[str]) -> str:
    """Return a result of the tool that lists tags, with a notice in place of the given tags."""
    lines = text.splitlines()
    kept = [line for line in lines if list_tags(line).isdisjoint(tags)]
    return text if len(kept) == len(lines) else "\n".join((*kept, TAGS_LINE))


def _read_source(source: re.Match[str]) -> Iterator[NotePiece]:
    values = dict(_ATTRIBUTE.findall(source["attributes"]))
    if "path" not in values:
        return
    kept = "".join(f' {name}="{values[name]}"' for name in _KEPT_ATTRIBUTES if name in values)
    notice = f"<source{kept}>\n{EXCLUDED_LINE}\n</source>"
    yield NotePiece(
        html.unescape(values["path"]), source.start(), source.start(), source.end(), notice
    )


def _find_listed(text: str, start: int, end: int) -> Iterator[NotePiece]:
    """Yield the pieces in the part of a result that holds no `<source>` element, in order.

    A piece may lie within another one.
    """
    pieces = [*_find_links(text, start, end), *_find_lines(text, start, end)]
    yield from sorted(pieces, key=lambda piece: piece.start)


def _find_links(text: str, start: int, end: int) -> Iterator[NotePiece]:
    while (head := _LINKS.search(text, start, end)) is not None:
        start = text.find(_LINKS_END, head.end(), end)
        if start < 0:  # nor does a later list end
            return
        yield NotePiece(head["path"], head.start(), head.end(), start, EXCLUDED_LINE)


def _find_lines(text: str, start: int, end: int) -> Iterator[NotePiece]:
    """Yield a piece for each place in a line where the path of a note may end.

    The name of a note or folder may itself look like the end of a path, as in `Log v1.0: old/A.md`.
    """
    for line in _LINE.finditer(text, start, end):
        reach = min(line.end(), line.start() + MOST_PATH_CHARS)
        for found in islice(_PATH_END.finditer(text, line.start(), reach), MOST_PATH_ENDS):
            path = text[line.start() : found.start("mark")]
            if ".." not in path.split("/"):  # the tools write no such paths in lines
                yield NotePiece(path, line.start(), found.end(), line.end(), EXCLUDED_LINE)
