"""Find the notes, parts and pictures that a note embeds, or that a name with `#` stands for."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.notes.kinds import BASE, MARKDOWN, find_kind
from vault.notes.links import LinkResolver, split_link_target
from vault.notes.note import Note
from vault.vault import Vault

__all__ = [
    "EmbeddedFile",
    "EmbeddedPart",
    "cut_part",
    "find_named_part",
    "list_embeds",
]

_DEPTH: Final = 2  # notes in notes


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """A note or a part of it.

    Attributes:
        lines: the first and the last line of the part, or None for the whole note.
    """

    note: Note
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file that is no note, such as a picture, by the link to it. It may be missing.

    Attributes:
        target: the name or path in the link.
        source: the path of the note with the link.
    """

    target: str
    source: str


def list_embeds(
    vault: Vault, note: Note, lines: tuple[int, int] | None = None
) -> Iterator[EmbeddedPart | EmbeddedFile]:
    """Yield what a note embeds with `![[…]]`, and what that embeds, each part once.

    Embedded notes that models may not read are skipped.

    Args:
        vault: the notes.
        note: the note that embeds others.
        lines: the first and the last line of the part whose embeds are listed. None means the whole
            note.
    """
    if any(link.is_embed for link in note.links):
        yield from _Embeds(vault, note).list_below(EmbeddedPart(note, lines), _DEPTH)


def cut_part(note: Note, anchor: str) -> EmbeddedPart | None:
    """Return the part of a note that an anchor stands for, or None if there is no such part.

    Args:
        anchor: the heading or `^block`, the view of a base, or an empty string for the whole note.
    """
    lines = _find_part(note, anchor) if anchor else None
    is_whole = not anchor or note.kind is BASE  # the anchor is the name of a view
    return None if lines is None and not is_whole else EmbeddedPart(note, lines)


def find_named_part(vault: Vault, name: str) -> EmbeddedPart | None:
    """Return the section or block that a name such as `Note#^block` stands for, or None.

    Args:
        vault: the notes.
        name: the name or path of a note, with `#` and a heading or `^block`.
    """
    target, place = split_link_target(name)
    if not (target and place):
        return None
    path = _Resolver(vault).resolve(target)
    if path is None:
        return None
    note = vault.read_attached(path)
    lines = _find_part(note, place)
    return None if lines is None else EmbeddedPart(note, lines)


class _Embeds:
    def __init__(self, vault: Vault, note: Note) -> None:
        self._vault = vault
        self._resolver = _Resolver(vault)
        self._seen: set[tuple[str, tuple[int, int] | None]] = {(note.path, None)}
        self._files: set[str] = set()

    def list_below(self, part: EmbeddedPart, depth: int) -> Iterator[EmbeddedPart | EmbeddedFile]:
        first, last = part.lines or (1, part.note.text.count("\n") + 1)
        for link in part.note.links:
            if not (link.is_embed and first <= link.line <= last):
                continue
            path = self._resolver.resolve(link.target, part.note.path)
            if path is None:
                yield from self._list_file(link.target, part.note.path)
                continue
            found = self._read(path, link.heading)
            if found is None or not {(found.note.path, None), _key(found)}.isdisjoint(self._seen):
                continue
            self._seen.add(_key(found))
            yield found
            if depth > 1:
                yield from self.list_below(found, depth - 1)

    def _list_file(self, target: str, source: str) -> Iterator[EmbeddedFile]:
        if target not in self._files:
            self._files.add(target)
            yield EmbeddedFile(target, source)

    def _read(self, path: str, heading: str) -> EmbeddedPart | None:
        if find_kind(path) not in (MARKDOWN, BASE):
            return None
        with suppress(NoteExcluded, NoteUnreadable, UnsafePath):
            return cut_part(self._vault.read_allowed(path), heading)
        return None


def _key(part: EmbeddedPart) -> tuple[str, tuple[int, int] | None]:
    return part.note.path, part.lines


class _Resolver:
    """Resolves links by the names of files on disk, and then by aliases and titles in the index."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._names = LinkResolver((path, ()) for path in vault.list_allowed_notes(""))

    def resolve(self, target: str, source: str = "") -> str | None:
        found = self._names.resolve(target, source)
        return found or self._vault.build_link_resolver().resolve(target, source)


def _find_part(note: Note, anchor: str) -> tuple[int, int] | None:
    """Return the lines of a block, or of a section from its heading to the next of its level."""
    lines = note.find_lines(anchor)
    if lines is None or anchor.startswith("^"):
        return lines
    level = next(heading.level for heading in note.headings if heading.line == lines[0])
    ends = (
        heading.line - 1
        for heading in note.headings
        if heading.line > lines[0] and heading.level <= level
    )
    return lines[0], next(ends, note.text.removesuffix("\n").count("\n") + 1)
