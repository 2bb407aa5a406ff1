"""Read attachments as segments, and detect in later turns whether their files changed.

The user named a web page to attach it, so no approval is asked; the rules for addresses apply.
"""

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from app.errors import AppError, InvalidRequest, NotFound
from app.library.library import Library
from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.tools.web import fetch_segment
from chains.web.client import WebClient
from chains.web.urls import parse_url
from context.assemble.attachments import CurrentSource
from context.layers import Layer, Segment, SegmentKind
from vault.access import is_hidden, read_allowed
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.notes.kinds import MARKDOWN
from vault.notes.note import Note
from vault.paths import name_on_disk, printable

__all__ = ["Attachments", "Selection", "WebPages", "is_web_address"]

MAX_PAGES: Final = 32


@dataclass(frozen=True)
class Selection:
    """A range of lines of a note or text file.

    Attributes:
        path: the path of the note or file.
        first: the first line, counted from 1.
        last: the last line, inclusive.
    """

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class _Place:
    """The location of a file or folder, inside or outside the open vault.

    Attributes:
        root: the vault, or the parent folder of a file outside it.
        path: the path relative to `root`.
        is_named_whole: whether the user gave the full path of a hidden file.
    """

    root: Path
    path: str
    is_in_vault: bool
    is_named_whole: bool = False

    @property
    def file(self) -> Path:
        return self.root / self.path

    @property
    def source(self) -> str:
        """The name of the file in a request. The user can attach the file again by it."""
        is_path = self.is_in_vault and not self.is_named_whole
        return printable(self.path if is_path else str(self.file))


def is_web_address(name: str) -> bool:
    """Return whether the name of an attachment is the address of a web page."""
    return name.strip().lower().startswith(("http://", "https://"))


class WebPages:
    """The attached web pages. Each is fetched once, and then kept while the program runs.

    The preview of a request and the request itself so contain the same text, and a page is not
    fetched with each key that the user types.
    """

    def __init__(self, client: WebClient) -> None:
        """Set the client that fetches the pages."""
        self._client = client
        self._lock = threading.Lock()
        self._pages: dict[str, Segment] = {}

    def read(self, address: str) -> Segment:
        """Return a web page as a segment.

        Raises:
            FetchFailed: the page cannot be fetched or read.
            LedgerFailed: the call could not be recorded, so it was not made.
        """
        url = str(parse_url(address))
        with self._lock:
            if url in self._pages:
                return self._pages[url]
        page = fetch_segment(self._client, url, CancelToken())
        with self._lock:
            self._pages[url] = page
            while len(self._pages) > MAX_PAGES:
                del self._pages[next(iter(self._pages))]
        return page


class Attachments:
    """A reader for attachments, which also finds their current state in later turns."""

    def __init__(self, library: Library | None, web: "WebPages") -> None:
        self._library = library
        self._web = web

    def segments(
        self, paths: Sequence[str], selections: Sequence[Selection] = ()
    ) -> tuple[Segment, ...]:
        """Return the attachments as segments, without duplicates and numbered from 1.

        Args:
            paths: notes, folders and text files, relative to the vault or the working directory; or
                addresses of web pages. A tag with its `#` means the notes that have it.
            selections: line ranges of notes or text files.

        Raises:
            NotFound: there is no file, folder or tag with that name.
            InvalidRequest: the file or folder cannot be attached.
            NoteExcluded: models may not read the file.
            NoteUnreadable: the file is not text.
            FetchFailed: the web page cannot be fetched or read.
        """
        found: dict[tuple[str, tuple[int, int] | None], Segment] = {}
        for path in paths:
            for segment in self._attach_place(path):
                found.setdefault((segment.source, None), segment)
        for selection in selections:
            segment = self._attach_selection(selection)
            found.setdefault((segment.source, segment.lines), segment)
        return tuple(replace(s, number=n) for n, s in enumerate(found.values(), start=1))

    def check_names(self, paths: Sequence[str], selections: Sequence[Selection] = ()) -> None:
        """Check that each path exists and can be attached, without reading files.

        Tags are not checked, and web pages are not fetched.

        Raises:
            NotFound: there is no file or folder with that name.
            InvalidRequest: the file or folder cannot be attached.
            FetchFailed: it is not the address of a web page.
        """
        for path in (*paths, *(selection.path for selection in selections)):
            if is_web_address(path):
                parse_url(path)
            elif not path.startswith("#"):
                self._place(path)

    def has(self, path: str) -> bool:
        """Return whether a path exists and can be attached, without reading the file."""
        try:
            self.check_names([path])
        except (AppError, FetchFailed):
            return False
        return True

    def resolve(self, segment: Segment) -> CurrentSource:
        """Return the current state of the source of a segment from an earlier turn.

        A web page is not fetched again; it stays as it was when it was attached.
        """
        if segment.kind == "url":
            return CurrentSource("same")
        file = Path(segment.source)
        try:
            if file.is_absolute():
                place = _resolve_place(Path(name_on_disk(file.parent, segment.source)), self._root)
                note = self._read(place)
            elif self._library is None:
                return CurrentSource("gone")
            else:
                note = self._library.read_attached(segment.source)
        except (NoteExcluded, UnsafePath):
            return CurrentSource("excluded")
        except NoteUnreadable:
            return CurrentSource("gone")
        if note.version == segment.version:
            return CurrentSource("same")
        return CurrentSource("changed", note.text, note.version)

    @property
    def _root(self) -> Path | None:
        return None if self._library is None else self._library.root

    def _attach_place(self, path: str) -> Iterator[Segment]:
        if path.startswith("#"):
            yield from self._attach_tag(path)
            return
        if is_web_address(path):
            yield self._web.read(path)
            return
        place = self._place(path)
        if not place.file.is_dir():
            note = self._read(place)
            is_note = place.is_in_vault and note.kind is MARKDOWN
            yield _segment("note" if is_note else "file", place.source, note)
            return
        if self._library is None or not place.is_in_vault:
            raise InvalidRequest(
                f"{path} is a folder outside the notes, and only folders of notes can be attached.",
                hint="Attach single files of it.",
            )
        yield from self._notes_below(path, "" if place.path == "." else place.path)

    def _notes_below(self, named: str, folder: str) -> Iterator[Segment]:
        assert self._library is not None
        notes = _readable(self._library, self._library.list_allowed_notes(folder))
        if not notes:
            raise NotFound(f"There are no notes in {named} that can be attached.")
        for note in notes:
            yield _segment("folder", note.path, note)

    def _attach_tag(self, named: str) -> Iterator[Segment]:
        """Yield the current version of the notes that have a tag or a nested tag."""
        notes: list[Note] = []
        if self._library is not None:
            notes = _readable(self._library, _find_tagged_paths(self._library, named))
        carrying = [note for note in notes if _carries(note.tags, named)]
        if not carrying:
            raise NotFound(f"No note that can be attached carries the tag {named}.")
        for note in carrying:
            yield _segment("tag", note.path, note)

    def _attach_selection(self, selection: Selection) -> Segment:
        place = self._place(selection.path)
        if place.file.is_dir():
            raise InvalidRequest(f"{selection.path} is a folder, which has no lines.")
        note = self._read(place)
        lines = note.text.removesuffix("\n").split("\n")
        if selection.last > len(lines):
            raise InvalidRequest(
                f"{selection.path} has {len(lines):,} lines, so {selection.first}-{selection.last} "
                "cannot be selected."
            )
        text = "\n".join(lines[selection.first - 1 : selection.last])
        return _segment(
            "selection", place.source, note, text=text, lines=(selection.first, selection.last)
        )

    def _read(self, place: _Place) -> Note:
        if place.is_in_vault and self._library is not None:
            return self._library.read_attached(place.path)
        return read_allowed(place.root, place.path)

    def _place(self, path: str) -> _Place:
        if "://" in path:
            raise InvalidRequest(
                f"{path} cannot be attached. Web addresses begin with http:// or https://.",
                hint="Save it as a file and attach that.",
            )
        root = self._root
        if "\0" in path or not path:
            raise InvalidRequest("What is to be attached has no name.")
        whole = Path(name_on_disk(Path(), path)).expanduser()
        for candidate in (None if root is None else root / name_on_disk(root, path), whole):
            if candidate is not None and candidate.exists():
                place = _resolve_place(candidate, root)
                _refuse_way_out(path, candidate, place, root)
                return _agree_on_text(path, place)
        raise NotFound(
            f"There is no note, folder or file {path}.",
            hint="Name it relative to the folder of notes, or with its full path.",
        )


def _readable(library: Library, paths: Iterable[str]) -> list[Note]:
    """Read the notes of a folder or tag, without those that models may not read.

    A file without text, such as a scanned PDF, is skipped too. The index already reports it.
    """
    found = []
    for path in paths:
        with suppress(NoteExcluded, NoteUnreadable):
            found.append(library.read_allowed(path))
    return found


def _find_tagged_paths(library: Library, named: str) -> tuple[str, ...]:
    """Return the notes that had a tag when they were indexed, and that still exist."""
    known = {
        path for tag, paths in library.tags().items() if _carries((tag,), named) for path in paths
    }
    return tuple(path for path in library.list_allowed_notes("") if path in known)


def _carries(tags: Iterable[str], named: str) -> bool:
    """Return whether one of the tags is the named one or nested in it, such as `#a/b` in `#a`."""
    wanted = named.removeprefix("#").casefold()
    return any(f"{tag.casefold()}/".startswith(f"{wanted}/") for tag in tags)


def _resolve_place(found: Path, root: Path | None) -> _Place:
    whole = found.resolve()
    if root is not None and whole.is_relative_to(root):
        return _Place(root, whole.relative_to(root).as_posix(), is_in_vault=True)
    return _Place(whole.parent, whole.name, is_in_vault=False)


def _refuse_way_out(named: str, found: Path, place: _Place, root: Path | None) -> None:
    """Refuse a path in the vault that is a link to a file outside it.

    Raises:
        InvalidRequest: the path is such a link.
    """
    if root is None or place.is_in_vault:
        return
    above = Path(os.path.normpath(found.absolute())).parents
    if any(folder.resolve().is_relative_to(root) for folder in above):
        raise InvalidRequest(
            f"{named} is a link out of the folder of notes, to {place.file}. It is not attached.",
            hint=f"If that file is meant, attach it by its full path: {place.file}",
        )


def _agree_on_text(named: str, place: _Place) -> _Place:
    """Return a place, unless it is a hidden file that was not named by its full path.

    Files whose name begins with a dot often contain keys and passwords.

    Raises:
        InvalidRequest: the file is hidden, and its full path was not given.
    """
    given = Path(named).expanduser()
    is_plain = place.is_in_vault or given.is_absolute() or not _has_hidden_part(given)
    if is_plain and not is_hidden(place.path):
        return place
    if given.is_absolute() and is_hidden(given.name):
        return replace(place, is_named_whole=True)
    raise InvalidRequest(
        f"{named} is a hidden file, which may hold keys or passwords. It is not attached.",
        hint=f"To attach it all the same, give its full path: {place.file}",
    )


def _has_hidden_part(path: Path) -> bool:
    return any(part.startswith(".") and part != ".." for part in path.parts)


def _segment(
    kind: SegmentKind,
    source: str,
    note: Note,
    *,
    text: str | None = None,
    lines: tuple[int, int] | None = None,
) -> Segment:
    place = f"{kind}\n{source}\n{lines}\n{note.version}"
    return Segment.build(
        id=hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        layer=Layer.L3,
        kind=kind,
        source=source,
        text=note.text if text is None else text,
        lines=lines or (1, max(1, note.text.removesuffix("\n").count("\n") + 1)),
        version=note.version,
        title=note.title,
    )
