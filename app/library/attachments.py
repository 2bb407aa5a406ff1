"""Read attachments as segments, and detect later changes to their files.

The user is not asked for approval when an attached web page is fetched, but the general address
rules for web pages still apply.
"""

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from app.errors import AppError, InvalidRequest, NotFound
from app.library.attachment_paths import AttachedPath, find_path, mark_sent, resolve_path
from app.library.image_reader import IMAGE_SUFFIXES, ImageReader, is_image_file
from app.library.images import find_image
from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.request.ask import Selection
from chains.web.client import WebClient
from chains.web.urls import parse_url
from context.assemble.attachments import CurrentSource
from context.layers import EMBED, Layer, Segment, SegmentKind
from vault.access import read_allowed, read_allowed_image
from vault.coverage import name_count
from vault.embeds import EmbeddedFile, EmbeddedPart, find_named_part, list_embeds
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.notes.kinds import MARKDOWN
from vault.notes.note import Note
from vault.paths import name_on_disk, printable
from vault.vault import Vault

__all__ = ["Attachments", "WebPages", "is_web_address", "remove_user_info"]

_USER_INFO: Final = re.compile(r"^(\s*\w+://)[^/?#]*@")

MAX_PAGES: Final = 32
MAX_PICTURES: Final = 8  # that a note brings


def remove_user_info(name: str) -> str:
    """Return the name of an attachment, without the user name and password of a web address."""
    return _USER_INFO.sub(r"\1", name) if is_web_address(name) else name


def is_web_address(name: str) -> bool:
    """Return whether an attachment is a web address."""
    return name.strip().lower().startswith(("http://", "https://"))


class WebPages:
    """An in-memory cache of attached web pages.

    With the cache, a preview and its request contain the same text, and a page is not fetched again
    on every keystroke.
    """

    def __init__(self, client: WebClient) -> None:
        """Create an empty cache. Pages are fetched with `client`."""
        self._client = client
        self._lock = threading.Lock()
        self._pages: dict[str, Segment] = {}
        self._fetches: dict[str, Future[Segment]] = {}  # the pages that are being fetched

    def read(self, address: str) -> Segment:
        """Return a web page as a segment.

        Callers that ask for the same page at the same time share one fetch and its outcome.

        Raises:
            FetchFailed: the page cannot be fetched or read.
            LedgerFailed: the call could not be recorded, so it was not made.
        """
        url = str(parse_url(address))
        with self._lock:
            if url in self._pages:
                return self._pages[url]
            running = self._fetches.get(url)
            fetch = self._fetches.setdefault(url, Future())
        if running is None:
            self._fetch(url, fetch)
        return fetch.result()

    def _fetch(self, url: str, fetch: "Future[Segment]") -> None:
        """Fetch a page, and pass it or the error to all callers that wait for `fetch`."""
        from chains.tools.web import fetch_segment  # with a parser for web pages

        try:
            page = fetch_segment(self._client, url, CancelToken())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is read
            with self._lock:
                del self._fetches[url]
            fetch.set_exception(error)
            return
        with self._lock:
            del self._fetches[url]
            self._pages[url] = page
            while len(self._pages) > MAX_PAGES:
                del self._pages[next(iter(self._pages))]
        fetch.set_result(page)


class Attachments:
    """Reads attachments, and checks in later turns whether the attached files have changed."""

    def __init__(self, vault: Vault | None, web: WebPages, images: ImageReader) -> None:
        self._vault = vault
        self._web = web
        self._images = images

    def segments(
        self, paths: Sequence[str], selections: Sequence[Selection] = ()
    ) -> tuple[Segment, ...]:
        """Read attachments as numbered segments, without duplicates.

        Args:
            paths: notes, folders, text files and images, relative to the vault or working
                directory, or web addresses. A note brings what it embeds, with pictures last.
                `Note#Heading` and
                `Note#^block` stand for a part of a note. A tag with its `#` stands for all notes
                with that tag, unless a file has this name.
            selections: line ranges in notes or text files.

        Raises:
            NotFound: there is no such file, folder or tag.
            InvalidRequest: the file or folder cannot be attached.
            NoteExcluded: models may not read the file.
            NoteUnreadable: the file is neither text nor an image.
            FetchFailed: the web page cannot be fetched or read.
        """
        found: dict[tuple[str, tuple[int, int] | None], Segment] = {}
        for path in paths:
            for segment in self._attach_place(path):
                lines = segment.lines if segment.kind == "selection" else None
                known = found.setdefault((segment.source, lines), segment)
                if known.is_embedded_image:  # what is attached by name is never left out
                    found[segment.source, lines] = segment
        for selection in selections:
            segment = self._attach_selection(selection)
            found.setdefault((segment.source, segment.lines), segment)
        return tuple(replace(s, number=n) for n, s in enumerate(found.values(), start=1))

    def check_names(self, paths: Sequence[str], selections: Sequence[Selection] = ()) -> None:
        """Check that each path exists and can be attached, without reading files.

        Tags are not checked, and web pages are not fetched.

        Raises:
            NotFound: there is no such file or folder.
            InvalidRequest: the file or folder cannot be attached.
            FetchFailed: the web address is invalid.
        """
        for path in (*paths, *(selection.path for selection in selections)):
            if is_web_address(path):
                parse_url(path)
            elif not self._is_tag(path) and self._find_part(path) is None:
                is_image_file(find_path(path, self._root).path)

    def describe_faults(self, segments: Sequence[Segment]) -> tuple[str, ...]:
        """Return a sentence for each attached note whose front matter cannot be read completely."""
        found = []
        for source in dict.fromkeys(one.source for one in segments if one.kind == "note"):
            with suppress(NoteExcluded, NoteUnreadable, UnsafePath):
                note = None if self._vault is None else self._vault.read_attached(source)
                if note is not None and note.fault:
                    found.append(f"{source}: {note.fault}")
        return tuple(found)

    def mark_sent(self, path: str) -> str:
        """Return the name of an attachment that was sent, marked if it is a hidden file."""
        return mark_sent(path, self._root)

    def has(self, path: str) -> bool:
        """Return whether a file or folder exists and can be attached."""
        try:
            self.check_names([path])
        except (AppError, FetchFailed):
            return False
        return True

    def resolve(self, segment: Segment) -> CurrentSource:
        """Return the current state of a source from an earlier turn.

        Web pages count as unchanged, because they are not fetched again. Images count as unchanged
        unless they were deleted from the vault or are now excluded.
        """
        file = Path(segment.source)
        if segment.is_web or (segment.kind == "image" and file.is_absolute()):
            return CurrentSource("same")
        try:
            if file.is_absolute():
                place = resolve_path(Path(name_on_disk(file.parent, segment.source)), self._root)
                note = self._read(place)
            elif self._vault is None:
                return CurrentSource("gone")
            elif segment.kind == "image":
                self._vault.read_image(segment.source)
                return CurrentSource("same")
            else:
                note = self._vault.read_attached(segment.source)
        except (NoteExcluded, UnsafePath):
            return CurrentSource("excluded")
        except NoteUnreadable:
            return CurrentSource("gone")
        if note.version == segment.version:
            return CurrentSource("same")
        return CurrentSource("changed", self._read_text(note), note.version)

    @property
    def _root(self) -> Path | None:
        return None if self._vault is None else self._vault.root

    def _is_tag(self, named: str) -> bool:
        """Return whether a name is a tag, and not a file name such as `#1 Start.md`."""
        if not named.startswith("#"):
            return False
        try:
            return not find_path(named, self._root).file.is_file()
        except NotFound:
            return True
        except InvalidRequest:  # a file that may not be attached
            return False

    def _attach_place(self, path: str) -> Iterator[Segment]:
        if self._is_tag(path):
            yield from self._attach_tag(path)
            return
        if is_web_address(path):
            yield self._web.read(path)
            return
        if (part := self._find_part(path)) is not None:
            yield self._segment_of_part(part)
            return
        place = find_path(path, self._root)
        if not place.file.is_dir():
            if is_image_file(place.path):
                yield self._attach_image(place)
                return
            note = self._read(place)
            is_note = place.is_in_vault and note.kind is MARKDOWN
            text = self._read_text(note) if place.is_in_vault else None
            yield _segment("note" if is_note else "file", place.source, note, text=text)
            if is_note and self._vault is not None:
                yield from self._attach_embeds(self._vault, note)
            return
        if self._vault is None or not place.is_in_vault:
            raise InvalidRequest(
                f"{path} is a folder outside the notes, and only folders of notes can be attached.",
                hint="Attach single files of it.",
            )
        yield from self._notes_below(path, "" if place.path == "." else place.path)

    def _attach_embeds(self, vault: Vault, note: Note) -> Iterator[Segment]:
        """Yield what a note embeds. Pictures that cannot be read are skipped."""
        embeds = list(list_embeds(vault, note))
        yield from (
            self._segment_of_part(part) for part in embeds if isinstance(part, EmbeddedPart)
        )
        files = [found for found in embeds if isinstance(found, EmbeddedFile)]
        paths = (find_image(vault.root, found.target, found.source) for found in files)
        pictures = (path for path in paths if path.lower().endswith(IMAGE_SUFFIXES))
        for path in islice(pictures, MAX_PICTURES):
            with suppress(AppError, NoteExcluded, NoteUnreadable, UnsafePath):
                yield replace(self._attach_image(find_path(path, vault.root)), derived=EMBED)

    def _find_part(self, path: str) -> EmbeddedPart | None:
        """Return the part of a note that a name with `#` stands for, unless it names a file."""
        if self._vault is None or "#" not in path or is_web_address(path):
            return None
        try:
            find_path(path, self._root)
        except NotFound:
            return find_named_part(self._vault, path)
        return None

    def _notes_below(self, named: str, folder: str) -> Iterator[Segment]:
        assert self._vault is not None
        notes = _read_allowed_notes(self._vault, self._vault.list_allowed_notes(folder))
        if not notes:
            raise NotFound(f"There are no notes in {named} that can be attached.")
        for note in notes:
            yield _segment("folder", note.path, note, text=self._read_text(note))

    def _attach_tag(self, named: str) -> Iterator[Segment]:
        """Yield the notes with a tag or one of its subtags."""
        notes: list[Note] = []
        if self._vault is not None:
            notes = _read_allowed_notes(self._vault, _find_tagged_paths(self._vault, named))
        carrying = [note for note in notes if _has_tag(note.tags, named)]
        if not carrying:
            raise NotFound(f"No note that can be attached carries the tag {named}.")
        for note in carrying:
            yield _segment("tag", note.path, note, text=self._read_text(note))

    def _attach_selection(self, selection: Selection) -> Segment:
        place = find_path(selection.path, self._root)
        if place.file.is_dir():
            raise InvalidRequest(f"{selection.path} is a folder, which has no lines.")
        if is_image_file(place.path):
            raise InvalidRequest(f"{selection.path} is an image, which has no lines.")
        note = self._read(place)
        lines = note.text.removesuffix("\n").split("\n")
        if selection.last > len(lines):
            raise InvalidRequest(
                f"{selection.path} has {name_count(len(lines), 'line')}, so "
                f"{selection.first}-{selection.last} cannot be selected."
            )
        chosen = (selection.first, selection.last)
        if place.is_in_vault:
            return self._segment_of_lines(place.source, note, chosen)
        text = "\n".join(lines[selection.first - 1 : selection.last])
        return _segment("selection", place.source, note, text=text, lines=chosen)

    def _attach_image(self, place: AttachedPath) -> Segment:
        if place.is_in_vault and self._vault is not None:
            data = self._vault.read_image(place.path)
        else:
            data = read_allowed_image(place.root, place.path)
        read = self._images.read(printable(place.path), data)
        return Segment.build(
            id=_make_id("image", place.source, None, read.version),
            layer=Layer.L3,
            kind="image",
            source=place.source,
            text=f"[image, {read.width} × {read.height} pixels; it follows this text]",
            version=read.version,
            title=place.file.name,
            image=read.image,
        )

    def _read_text(self, note: Note) -> str:
        """Return the text of a note of the vault, with the results of its bases and queries."""
        return note.text if self._vault is None else _read_with_results(self._vault, note)[0]

    def _segment_of_part(self, part: EmbeddedPart) -> Segment:
        if part.lines is None:
            return _segment("note", part.note.path, part.note, text=self._read_text(part.note))
        return self._segment_of_lines(part.note.path, part.note, part.lines)

    def _segment_of_lines(self, source: str, note: Note, lines: tuple[int, int]) -> Segment:
        assert self._vault is not None
        text, structure = _read_with_results(self._vault, note, lines)
        made = _segment("selection", source, note, text=text, lines=lines)
        return replace(made, structure=structure)

    def _read(self, place: AttachedPath) -> Note:
        if place.is_in_vault and self._vault is not None:
            return self._vault.read_attached(place.path)
        return read_allowed(place.root, place.path)


def _read_with_results(
    vault: Vault, note: Note, lines: tuple[int, int] | None = None
) -> tuple[str, str]:
    from vault.views.blocks import read_with_results  # most turns attach no note

    return read_with_results(vault, note, lines)


def _read_allowed_notes(vault: Vault, paths: Iterable[str]) -> list[Note]:
    """Read notes, skipping those that models may not read.

    Files without text, such as scanned PDFs, are skipped too.
    """
    found = []
    for path in paths:
        with suppress(NoteExcluded, NoteUnreadable):
            found.append(vault.read_allowed(path))
    return found


def _find_tagged_paths(vault: Vault, named: str) -> tuple[str, ...]:
    known = {
        path for tag, paths in vault.tags().items() if _has_tag((tag,), named) for path in paths
    }
    return tuple(path for path in vault.list_allowed_notes("") if path in known)


def _has_tag(tags: Iterable[str], named: str) -> bool:
    """Return whether one of the tags is the given tag or one of its subtags, such as `#a/b`."""
    wanted = named.removeprefix("#").casefold()
    return any(f"{tag.casefold()}/".startswith(f"{wanted}/") for tag in tags)


def _segment(
    kind: SegmentKind,
    source: str,
    note: Note,
    *,
    text: str | None = None,
    lines: tuple[int, int] | None = None,
) -> Segment:
    return Segment.build(
        id=_make_id(kind, source, lines, note.version),
        layer=Layer.L3,
        kind=kind,
        source=source,
        text=note.text if text is None else text,
        lines=lines or (1, max(1, note.text.removesuffix("\n").count("\n") + 1)),
        version=note.version,
        title=note.title,
        structure=note.find_structure(*lines) if lines else "",
    )


def _make_id(kind: str, source: str, lines: tuple[int, int] | None, version: str) -> str:
    place = f"{kind}\n{source}\n{lines}\n{version}"
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:12]
