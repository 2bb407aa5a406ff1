"""One note as it lies on disk: its bytes, its text, and what its Markdown says about it."""

import hashlib
import os
import posixpath
import stat
from dataclasses import dataclass, field
from pathlib import Path

from vault.errors import NoteUnreadable
from vault.links import Link, find_links
from vault.markdown import (
    Document,
    Heading,
    inline_tags,
    parse_document,
    plain_text,
    words_of,
)
from vault.paths import printable, safe_path
from vault.scan import MAX_NOTE_BYTES

__all__ = ["Heading", "Link", "Note", "parse_note", "read_bytes", "read_note"]


@dataclass(frozen=True, slots=True)
class Note:
    r"""A note as it was read once.

    Attributes:
        path: relative to the vault, with `/`.
        text: the whole file with line ends as `\n`, front matter included.
        body_line: the line on which the text after the front matter starts.
        version: SHA-256 of the file's bytes, in hex.
    """

    path: str
    title: str
    text: str
    version: str
    body_line: int = 1
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = field(default=(), repr=False)
    is_private: bool = False


def read_note(root: Path, path: str) -> Note:
    """Read one note of the vault.

    Raises:
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, too large, not a file or not text.
    """
    note, _ = parse_note(path, read_bytes(root, path))
    return note


def read_bytes(root: Path, path: str) -> bytes:
    """Read a file of the vault without ever waiting on a FIFO or a device.

    Raises:
        UnsafePath: the path would leave the vault.
        NoteUnreadable: it is gone, may not be read, is too large or not a file.
    """
    target = safe_path(root, path)
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise NoteUnreadable(printable(path), "it is not a file")
            if info.st_size > MAX_NOTE_BYTES:
                raise NoteUnreadable(printable(path), "it is too large to be a note")
            return file.read(MAX_NOTE_BYTES + 1)
    except FileNotFoundError as error:
        raise NoteUnreadable(printable(path), "it is not there any more") from error
    except OSError as error:
        reason = f"it may not be read ({error.strerror or error})"
        raise NoteUnreadable(printable(path), reason) from error


def parse_note(path: str, data: bytes) -> tuple[Note, Document]:
    """Make a note, and the structure of its text, from the bytes of its file.

    Raises:
        NoteUnreadable: the bytes are not UTF-8 text.
    """
    text = _decode(path, data)
    document = parse_document(text)
    prose = list(document.prose_lines())
    tags = _tags(document, prose)
    note = Note(
        path=path,
        title=_title(path, document),
        text=text,
        version=hashlib.sha256(data).hexdigest(),
        body_line=document.body_line,
        aliases=_property_words(document, ("aliases", "alias"), splits_blanks=False),
        tags=tags,
        headings=document.headings,
        links=tuple(find_links(prose)),
        is_private=_is_private(document, tags),
    )
    return note, document


def _decode(path: str, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NoteUnreadable(path, "it looks like UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = (
            f"it is not UTF-8 (byte 0x{data[error.start]:02x} on line {line}); save it as UTF-8"
        )
        raise NoteUnreadable(path, reason) from error
    if "\0" in text:
        raise NoteUnreadable(path, "it holds NUL bytes, so it is not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _title(path: str, document: Document) -> str:
    """Give the front matter's title, else a heading that opens the text, else the file's name."""
    named = document.properties.get("title")
    if isinstance(named, str | int | float) and str(named).strip():
        return " ".join(str(named).split())
    first = document.blocks[0].heading if document.blocks else None
    if first is not None and first.level == 1 and first.text:
        return first.text
    return posixpath.splitext(posixpath.basename(path))[0]


def _tags(document: Document, prose: list[tuple[int, str]]) -> tuple[str, ...]:
    named = _property_words(document, ("tags", "tag"), splits_blanks=True)
    tags = [tag.lstrip("#") for tag in named] + list(inline_tags(prose))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _property_words(
    document: Document, names: tuple[str, ...], *, splits_blanks: bool
) -> tuple[str, ...]:
    lowered = {key.lower(): value for key, value in document.properties.items()}
    for name in names:
        if words := words_of(lowered.get(name), splits_blanks=splits_blanks):
            return tuple(plain_text(word) for word in words)
    return ()


def _is_private(document: Document, tags: tuple[str, ...]) -> bool:
    """Decide on the side of keeping a note in: broken front matter still counts by its words."""
    if document.has_private_line:
        return True
    return any(tag.lower() == "private" or tag.lower().startswith("private/") for tag in tags)
