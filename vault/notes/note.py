"""Read a note from disk, and parse its structure."""

import hashlib
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from vault.errors import NoteUnreadable, ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import CANVAS, MARKDOWN, FileKind, find_kind
from vault.notes.links import Link, find_heading_line, find_links, find_named_blocks
from vault.notes.parser_client import ParserClient
from vault.notes.properties import read_text_properties, split_values
from vault.notes.readers import read_extract
from vault.notes.readers.extract import Extract, build_document
from vault.notes.tasks import TaskItem, find_tasks
from vault.notes.text.data import hide_data, hide_data_in_lines
from vault.notes.text.document import Document, Heading, parse_document
from vault.notes.text.inline import (
    blank_comments,
    find_fields,
    find_tags,
    has_private_tag,
    plain_text,
)
from vault.notes.text.markdown_text import MarkdownText
from vault.paths import open_inside, printable

__all__ = [
    "Heading",
    "Link",
    "Note",
    "SourceText",
    "TaskItem",
    "parse_note",
    "read_bytes",
    "read_note",
]

_LARGE_BYTES: Final = 400_000
_BEGINNING_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text, and the source that is shown for it: a note, a part of one, or what is no file.

    Attributes:
        path: the path to show, relative to the vault and with `/` separators for a note.
        title: the title to show.
        text: the text, as Markdown or plain text.
        version: the SHA-256 of the file's content, as hexadecimal text, or "" without a file.
    """

    path: str
    title: str
    text: str
    version: str


@dataclass(frozen=True, slots=True)
class Note(SourceText):
    r"""A note as read from its file.

    Its text is the whole file including front matter, with `\n` line endings. For other file types,
    it is the extracted text as Markdown.

    Attributes:
        body_line: the first line after the front matter.
        properties: the texts in front matter, then those in inline fields outside of tasks, keyed
            by lower-case name.
        fields: the inline fields, with the line, the lower-case name and the value of each.
        blocks: the line range of each named block.
        markdown: the text with the kind of each line, or None if it was not parsed.
        fault: a sentence that says what of the front matter is lost, or an empty string.
        has_structure: whether headings, links, tags, tasks, properties and blocks were read. If
            not, they are empty.
    """

    kind: FileKind = MARKDOWN
    body_line: int = 1
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = field(default=(), repr=False)
    tasks: tuple[TaskItem, ...] = field(default=(), repr=False)
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, hash=False)
    fields: tuple[tuple[int, str, str], ...] = field(default=(), repr=False)
    blocks: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False, hash=False)
    is_private: bool = False
    fault: str = ""
    has_structure: bool = True
    markdown: MarkdownText | None = field(default=None, repr=False, compare=False)

    @property
    def kinds(self) -> str:
        """The kind of each line, as in `vault.notes.text.lines`, or "" if it was not parsed."""
        return "" if self.markdown is None else self.markdown.kinds

    def find_structure(self, first: int, last: int) -> str:
        """Return what the lines from `first` to `last` are in the note, for `read_text`.

        Return an empty string if the note was not parsed.
        """
        return "" if self.markdown is None else self.markdown.cut(first - 1, last).structure

    def find_lines(self, anchor: str) -> tuple[int, int] | None:
        """Return the line range that an anchor refers to, or None if there is no such anchor.

        Args:
            anchor: a heading, a `^block` or `page=N`, as in a link.
        """
        if anchor.startswith("^"):
            return self.blocks.get(anchor[1:].lower())
        line = find_heading_line(self.headings, anchor)
        return (line, line) if line else None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a note.

    Attributes:
        on_wait: called regularly during a long parse. It can raise an exception to stop.
        is_for_reading: whether the structure of a large Markdown note may be skipped, so that its
            text can be shown sooner.
    """

    on_wait: Callable[[], None] = lambda: None
    is_for_reading: bool = False


READ_WHOLE: Final = ReadOptions()


def read_note(root: Path, path: str, options: ReadOptions = READ_WHOLE) -> Note:
    """Read a note from the vault, and parse it.

    Args:
        root: the folder of the vault.
        path: the path of the note.
        options: the options for reading the note.

    Raises:
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the file is missing, too large, not a regular file or not text.
    """
    data = read_bytes(root, path)
    if options.is_for_reading and len(data) > _LARGE_BYTES and find_kind(path) is MARKDOWN:
        return _build_unparsed_note(printable(path), data)
    note, _ = parse_note(printable(path), data, on_wait=options.on_wait)
    return note


def read_bytes(root: Path, path: str, kind: FileKind | None = None) -> bytes:
    """Read a file in the vault, without blocking on a FIFO or device.

    Args:
        root: the folder of the vault.
        path: the path of the file.
        kind: the file type, which determines the maximum size, or None to detect it by the suffix.

    Raises:
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the file is missing, unreadable, too large or not a regular file.
    """
    kind = kind or find_kind(path)
    try:
        descriptor = open_inside(root, path)
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise NoteUnreadable(printable(path), "it is not a file")
            if info.st_size > kind.max_bytes:
                raise NoteUnreadable(printable(path), kind.explain_size(info.st_size))
            return file.read(kind.max_bytes + 1)
    except FileNotFoundError as error:
        raise NoteUnreadable(printable(path), "it does not exist") from error
    except OSError as error:
        reason = f"it cannot be read ({(error.strerror or str(error)).lower()})"
        raise NoteUnreadable(printable(path), reason) from error


def parse_note(
    path: str,
    data: bytes,
    foreign: ParserClient | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> tuple[Note, Document]:
    """Parse the content of a file, and return the note and its parsed document.

    Args:
        path: the path of the note. Its suffix determines the file type.
        data: the content of the file.
        foreign: a client for file types that need a child process, or None to start a process for
            this file only.
        on_wait: called regularly during a long parse. It can raise an exception to stop.

    Raises:
        NoteUnreadable: the file cannot be read as text.
    """
    kind = find_kind(path)
    version = hashlib.sha256(data).hexdigest()
    try:
        if kind is MARKDOWN:
            document = hide_data(
                parse_document(normalize_line_ends(decode_text(data).text), on_wait)
            )
            return _build_markdown_note(
                path, version, document, _choose_title(path, document)
            ), document
        extract = _read_extract(kind, data, foreign, on_wait)
    except ReadingFailed as error:
        raise NoteUnreadable(printable(path), error.reason) from error
    document = hide_data(build_document(extract))
    title = extract.title or _strip_suffix(path)
    if kind is CANVAS:
        return _build_markdown_note(path, version, document, title), document
    return _build_plain_note(path, version, document, title, extract.aliases), document


def _read_extract(
    kind: FileKind, data: bytes, foreign: ParserClient | None, on_wait: Callable[[], None]
) -> Extract:
    if not kind.needs_worker:
        return read_extract(kind, data)
    if foreign is not None:
        return foreign.read(kind, data, on_wait)
    with ParserClient() as reader:
        return reader.read(kind, data, on_wait)


def _build_markdown_note(path: str, version: str, document: Document, title: str) -> Note:
    written = list(document.list_prose_lines())
    prose, markdown = blank_comments(written), MarkdownText.from_document(document)
    properties = read_text_properties(document.properties)
    named = split_values(_find_property(document.properties, "tags", "tag"), splits_blanks=True)
    fields = tuple(find_fields(prose, document.lines))
    tasks = tuple(find_tasks(markdown))
    of_tasks = {task.line for task in tasks}  # whose fields are theirs alone
    for line, name, value in fields:
        if line not in of_tasks:
            properties[name] = (*properties.get(name, ()), value)
    return Note(
        path=path,
        title=title,
        text="\n".join(document.lines),
        version=version,
        kind=find_kind(path),
        body_line=document.body_line,
        aliases=tuple(
            map(plain_text, split_values(_find_property(document.properties, "aliases", "alias")))
        ),
        tags=_clean_tags([*named, *find_tags(prose)]),
        headings=document.headings,
        links=tuple(find_links([*document.front_lines, *prose])),
        tasks=tasks,
        properties=properties,
        fields=fields,
        blocks=find_named_blocks(document, prose),
        is_private=(
            document.is_private
            or any(
                name == "private" and value.lower() in ("true", "yes") for _, name, value in fields
            )
            or _says_private(named)
            or has_private_tag(written)
        ),
        fault=document.fault,
        markdown=markdown,
    )


def _build_unparsed_note(path: str, data: bytes) -> Note:
    """Build a note without its structure. Only the start of the text is parsed, for the title."""
    try:
        text = normalize_line_ends(decode_text(data).text)
    except ReadingFailed as error:
        raise NoteUnreadable(path, error.reason) from error
    end = text.find("\n", _BEGINNING_CHARS)
    beginning = parse_document(text if end < 0 else text[:end])
    return Note(
        path=path,
        title=_choose_title(path, beginning),
        text="\n".join(hide_data_in_lines(text.split("\n"))),
        version=hashlib.sha256(data).hexdigest(),
        kind=find_kind(path),
        body_line=beginning.body_line,
        is_private=beginning.is_private,
        fault=beginning.fault,
        has_structure=False,
    )


def _build_plain_note(
    path: str, version: str, document: Document, title: str, aliases: tuple[str, ...]
) -> Note:
    """Build a note from a file that is not Markdown.

    Tags, links and tasks are not read, except for a tag that marks the note as private.
    """
    return Note(
        path=path,
        title=title,
        text="\n".join(document.lines),
        version=version,
        kind=find_kind(path),
        aliases=aliases,
        headings=document.headings,
        is_private=document.is_private or has_private_tag(enumerate(document.lines)),
        markdown=MarkdownText.from_document(document),
    )


def _choose_title(path: str, document: Document) -> str:
    """Return the title in the front matter, or else the first heading or the file name."""
    named = _find_property(document.properties, "title")
    if isinstance(named, str) and named.strip():
        return " ".join(named.split())
    first = document.blocks[0].heading if document.blocks else None
    if first is not None and first.level == 1 and first.text:
        return first.text
    return _strip_suffix(path)


def _strip_suffix(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _find_property(properties: Mapping[str, Any], *names: str) -> Any:
    """Return the first non-empty property that has one of the given names, ignoring case."""
    lowered = {name.strip().lower(): value for name, value in properties.items()}
    return next((lowered[name] for name in names if lowered.get(name)), None)


def _clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in (tag.lstrip("#").strip("/") for tag in tags) if tag))


def _says_private(tags: Iterable[str]) -> bool:
    return any(tag.lstrip("#").lower().partition("/")[0] == "private" for tag in tags)
