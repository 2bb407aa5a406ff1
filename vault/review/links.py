"""Find links and embeds that lead nowhere, and notes without any link.

A link is broken if there is no note or file of its name, also none that is excluded or hidden from
models, or if a note has no such heading or block. Links out of the folder of notes are not checked.
"""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from vault.catalog import Catalog
from vault.notes.kinds import MARKDOWN, find_kind
from vault.notes.links import LinkResolver, find_heading_line
from vault.notes.text.document import Heading
from vault.notes.text.inline import find_block_names
from vault.review.findings import Check, Finding, FindingKind, FindingNote, shorten_quote
from vault.review.texts import NoteInfo, NoteLine

__all__ = ["BrokenLinkRule", "NoteLink", "OrphanRule", "find_linked_pairs", "read_links"]

_PLACEHOLDERS: Final = ("{{", "<%", "${")
_HTML_ANCHOR: Final = re.compile(r"""<[^<>]*\b(?:id|name)=["']([^"'<>]+)["']""")
_LEAST_LINKED_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link in a note.

    Attributes:
        source: the path of the note that contains the link.
        line: the number of the line that contains the link.
        target: the path of the note or file that the link leads to, or an empty string if the index
            has none.
        written: the target as written, without heading.
        anchor: the heading or `^block` after `#`, or an empty string.
    """

    source: str
    line: int
    target: str
    written: str = ""
    anchor: str = ""
    is_embed: bool = False


def read_links(catalog: Catalog, resolver: LinkResolver) -> list[NoteLink]:
    """Read the links of all notes of a catalog, in the order of the notes and lines."""
    rows = catalog.rows(
        "SELECT path, line, target, heading, is_embed FROM links"
        " JOIN files ON files.id = file_id ORDER BY path, line"
    )
    return [
        NoteLink(path, line, resolver.resolve(name, path) or "", name, anchor, bool(is_embed))
        for path, line, name, anchor, is_embed in rows
    ]


@dataclass
class _Anchors:
    """What links can lead to in a note: its headings, blocks and HTML elements with a name."""

    headings: list[Heading] = field(default_factory=list)
    blocks: set[str] = field(default_factory=set)
    elements: set[str] = field(default_factory=set)

    def has(self, anchor: str) -> bool:
        if anchor.startswith("^"):
            return anchor[1:].strip().lower() in self.blocks
        return anchor in self.elements or bool(find_heading_line(self.headings, anchor))


class BrokenLinkRule:
    """Collects what links can lead to, then finds the links and embeds that lead nowhere.

    Args:
        root: the folder of notes, in which files are looked up that the index does not have.
        links: the links of all notes.
        attachments: the attachment folder that is set in Obsidian.
    """

    def __init__(self, root: Path, links: Iterable[NoteLink], attachments: str) -> None:
        self._root, self._attachments = root, attachments
        self._links: dict[str, list[NoteLink]] = defaultdict(list)
        for link in links:
            self._links[link.source].append(link)
        self._anchors: dict[str, _Anchors] = {}
        self._quotes: dict[tuple[str, int], str] = {}
        self._notes: dict[str, NoteInfo] = {}

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Add a note with its headings and blocks.

        Args:
            lines: the lines of the note that are not code.
        """
        self._notes[note.path] = note
        anchors = self._anchors[note.path] = _Anchors()
        prose = [(line.number, line.raw) for line in lines if line.kind != "front"]
        anchors.blocks.update(name.lower() for name, _, _ in find_block_names(prose))
        linking = {link.line for link in self._links.get(note.path, ())}
        for line in lines:
            if line.kind == "heading":
                written = line.raw.strip().lstrip("#> ").rstrip("# ")
                for text in dict.fromkeys((line.text, written)):
                    anchors.headings.append(Heading(1, text, line.number))
            anchors.elements.update(_HTML_ANCHOR.findall(line.raw))
            if line.number in linking:
                self._quotes[note.path, line.number] = shorten_quote(line.raw)

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each target that a note has a broken link or embed to.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        for path in sorted(self._notes):
            check()
            found: dict[tuple[str, str, str], Finding] = {}
            for link in self._links.get(path, ()):
                if (reason := self._find_fault(link)) and (path, link.line) in self._quotes:
                    kind: FindingKind = "broken_embed" if link.is_embed else "broken_link"
                    key = (kind, link.written, link.anchor)
                    found.setdefault(key, self._build(kind, link, reason))
            yield from found.values()

    def _build(self, kind: FindingKind, link: NoteLink, reason: str) -> Finding:
        note, quote = self._notes[link.source], self._quotes[link.source, link.line]
        place = FindingNote(note.path, note.title, link.line, link.line, quote)
        return Finding(kind, (place,), reason, f"{link.written}\0{link.anchor}", 1.0)

    def _find_fault(self, link: NoteLink) -> str:
        """Return why a link is broken, or an empty string if it is not."""
        written = link.written
        if any(mark in f"{written}#{link.anchor}" for mark in _PLACEHOLDERS):
            return ""
        if not link.target:
            is_there = self._leads_out(link) or self._find_file(link) is not None
            return "" if is_there else f"There is no note or file “{written}”."
        anchors = self._anchors.get(link.target)
        if not link.anchor or anchors is None or find_kind(link.target) is not MARKDOWN:
            return ""
        if anchors.has(link.anchor):
            return ""
        what = "block" if link.anchor.startswith("^") else "heading"
        where = link.target if written else "This note"
        return f"{where} has no {what} “{link.anchor}”."

    def _leads_out(self, link: NoteLink) -> bool:
        folder = posixpath.dirname(link.source)
        whole = posixpath.normpath(posixpath.join(folder, link.written))
        return link.written.startswith("~") or whole.startswith("../") or whole == ".."

    def _find_file(self, link: NoteLink) -> str | None:
        """Return the path of the file or folder that a link leads to, or None."""
        found = self._files.resolve(link.written.rstrip("/"), link.source)
        if found is None and "\\" not in link.written and not link.written.startswith("//"):
            folder = "" if link.written.startswith("/") else posixpath.dirname(link.source)
            path = posixpath.normpath(posixpath.join(folder, link.written.lstrip("/")))
            found = path if _exists(self._root / path) else None
        return found

    @cached_property
    def _files(self) -> LinkResolver:
        """All files of the folder, by the names that links use for them."""
        paths = []
        for folder, folders, names in os.walk(self._root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = os.path.relpath(folder, self._root)
            prefix = "" if below == "." else f"{below}/"
            paths += [f"{prefix}{name}" for name in (*folders, *names)]
        return LinkResolver(((path, ()) for path in sorted(paths)), self._attachments)


class OrphanRule:
    """Collects the links between notes, then finds the notes that have none.

    Nothing is found in a vault in which links are rare.

    Args:
        links: the links of all notes.
    """

    def __init__(self, links: Iterable[NoteLink]) -> None:
        self._linked = {
            path
            for link in links
            if link.target and link.target != link.source
            for path in (link.source, link.target)
        }
        self._notes: list[tuple[NoteInfo, str]] = []

    def add(self, note: NoteInfo, lines: Sequence[NoteLine]) -> None:
        """Add a note. Daily notes and empty ones are left out.

        Args:
            lines: the lines of the note that are not code.
        """
        if not note.is_dated and lines and find_kind(note.path) is MARKDOWN:
            text = next((line.text for line in lines if line.kind == "text" and line.text), "")
            self._notes.append((note, shorten_quote(text)))

    def find(self, check: Check) -> Iterator[Finding]:
        """Yield a finding for each note without a link from or to another note.

        Args:
            check: called between steps. It may raise an exception to stop.
        """
        linked = sum(note.path in self._linked for note, _ in self._notes)
        if linked < _LEAST_LINKED_SHARE * len(self._notes):
            return
        for note, quote in self._notes:
            check()
            if note.path not in self._linked:
                reason = "No note links to this one, and it links to none."
                place = FindingNote(note.path, note.title, quote=quote)
                yield Finding("orphan", (place,), reason, "", 1.0)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # such as a name that is too long
        return False


def find_linked_pairs(links: Iterable[NoteLink]) -> set[frozenset[str]]:
    """Return the pairs of paths of notes with a link between them."""
    return {
        frozenset((link.source, link.target))
        for link in links
        if link.target and link.target != link.source
    }
