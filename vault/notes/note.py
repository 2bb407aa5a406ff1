"""One note as it lies on disk: its bytes, its text, and what that says about it."""

import hashlib
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vault.errors import NoteUnreadable, ReadingFailed
from vault.notes.encodings import decode_text, lines_joined
from vault.notes.inline import (
    Task,
    has_private_tag,
    inline_fields,
    inline_tags,
    plain_text,
    tasks,
    without_comments,
)
from vault.notes.kinds import CANVAS, MARKDOWN, FileKind, kind_of
from vault.notes.links import Link, find_links, heading_line, named_blocks
from vault.notes.markdown import Document, Heading, parse_document
from vault.notes.parser_client import ForeignReader
from vault.notes.properties import texts_of, words_of
from vault.notes.readers import read_extract
from vault.notes.readers.parts import Extract, document_of
from vault.paths import open_inside, printable

__all__ = ["Heading", "Link", "Note", "Task", "parse_note", "read_bytes", "read_note"]


@dataclass(frozen=True, slots=True)
class Note:
    r"""A note as it was read once.

    Attributes:
        path: relative to the vault, with `/`.
        text: the whole file with line ends as `\n`, front matter included; of a file that is not
            text itself, what was read out of it, as Markdown.
        body_line: the line on which the text after the front matter starts.
        version: SHA-256 of the file's bytes, in hex.
        properties: texts of the front matter and of inline fields, by name in lower case.
        blocks: first and last line of each block that has a `^name`.
    """

    path: str
    title: str
    text: str
    version: str
    kind: FileKind = MARKDOWN
    body_line: int = 1
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = field(default=(), repr=False)
    tasks: tuple[Task, ...] = field(default=(), repr=False)
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, hash=False)
    blocks: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False, hash=False)
    is_private: bool = False

    def place_of(self, anchor: str) -> tuple[int, int] | None:
        """Give the lines that a link's `#anchor` names: a heading, `^block` or `page=N`."""
        if anchor.startswith("^"):
            return self.blocks.get(anchor[1:].lower())
        line = heading_line(self.headings, anchor)
        return (line, line) if line else None


def read_note(root: Path, path: str) -> Note:
    """Read one note of the vault.

    Raises:
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, too large, not a file or not text.
    """
    note, _ = parse_note(printable(path), read_bytes(root, path))
    return note


def read_bytes(root: Path, path: str) -> bytes:
    """Read a file of the vault without ever waiting on a FIFO or a device.

    Raises:
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, may not be read, is too large or not a file.
    """
    kind = kind_of(path)
    try:
        descriptor = open_inside(root, path)
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise NoteUnreadable(printable(path), "it is not a file")
            if info.st_size > kind.max_bytes:
                raise NoteUnreadable(printable(path), kind.too_large(info.st_size))
            return file.read(kind.max_bytes + 1)
    except FileNotFoundError as error:
        raise NoteUnreadable(printable(path), "it is not there any more") from error
    except OSError as error:
        reason = f"it may not be read ({error.strerror or error})"
        raise NoteUnreadable(printable(path), reason) from error


def parse_note(
    path: str,
    data: bytes,
    foreign: ForeignReader | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> tuple[Note, Document]:
    """Make a note, and the structure of its text, from the bytes of its file.

    Args:
        path: tells by its suffix how the bytes are read.
        data: the whole file.
        foreign: reads what is not text itself; without one, a process is started for this file.
        on_wait: called now and then while that takes time; what it raises ends the reading.

    Raises:
        NoteUnreadable: no text comes of the bytes.
    """
    kind = kind_of(path)
    version = hashlib.sha256(data).hexdigest()
    try:
        if kind is MARKDOWN:
            document = parse_document(lines_joined(decode_text(data).text))
            return _marked_up(path, version, document, _title(path, document)), document
        extract = _extract(kind, data, foreign, on_wait)
    except ReadingFailed as error:
        raise NoteUnreadable(printable(path), error.reason) from error
    document = document_of(extract)
    title = extract.title or _stem(path)
    if kind is CANVAS:
        return _marked_up(path, version, document, title), document
    return _plain(path, version, document, title, extract.aliases), document


def _extract(
    kind: FileKind, data: bytes, foreign: ForeignReader | None, on_wait: Callable[[], None]
) -> Extract:
    if not kind.is_foreign:
        return read_extract(kind, data)
    if foreign is not None:
        return foreign.read(kind, data, on_wait)
    with ForeignReader() as reader:
        return reader.read(kind, data, on_wait)


def _marked_up(path: str, version: str, document: Document, title: str) -> Note:
    """Make a note of what is Markdown, with all that Obsidian's way of writing it says."""
    written = list(document.prose_lines())
    prose = without_comments(written)
    properties = texts_of(document.properties)
    named = words_of(_first(document.properties, "tags", "tag"), splits_blanks=True)
    fields = dict(inline_fields(prose, document.lines))
    return Note(
        path=path,
        title=title,
        text="\n".join(document.lines),
        version=version,
        kind=kind_of(path),
        body_line=document.body_line,
        aliases=tuple(map(plain_text, words_of(_first(document.properties, "aliases", "alias")))),
        tags=_unique([*named, *inline_tags(prose)]),
        headings=document.headings,
        links=tuple(find_links([*document.front_lines, *prose])),
        tasks=tuple(tasks(prose, document.lines)),
        properties={**{name: (value,) for name, value in fields.items()}, **properties},
        blocks=named_blocks(document, prose),
        is_private=(
            document.is_private
            or fields.get("private", "").lower() in ("true", "yes")
            or _says_private(named)
            or has_private_tag(written)
        ),
    )


def _plain(
    path: str, version: str, document: Document, title: str, aliases: tuple[str, ...]
) -> Note:
    """Make a note of text in which marks mean nothing, but for the one that keeps it private."""
    return Note(
        path=path,
        title=title,
        text="\n".join(document.lines),
        version=version,
        kind=kind_of(path),
        aliases=aliases,
        headings=document.headings,
        is_private=document.is_private or has_private_tag(enumerate(document.lines)),
    )


def _title(path: str, document: Document) -> str:
    """Give the front matter's title, else a heading that opens the text, else the file's name."""
    named = _first(document.properties, "title")
    if isinstance(named, str) and named.strip():
        return " ".join(named.split())
    first = document.blocks[0].heading if document.blocks else None
    if first is not None and first.level == 1 and first.text:
        return first.text
    return _stem(path)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _first(properties: Mapping[str, Any], *names: str) -> Any:
    """Give the first of some properties that holds something, whatever case they are written in."""
    lowered = {name.strip().lower(): value for name, value in properties.items()}
    return next((lowered[name] for name in names if lowered.get(name)), None)


def _unique(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in (tag.lstrip("#").strip("/") for tag in tags) if tag))


def _says_private(tags: Iterable[str]) -> bool:
    return any(tag.lstrip("#").lower().partition("/")[0] == "private" for tag in tags)
