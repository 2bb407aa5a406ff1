"""Keep copies of web pages and transcripts for a project.

    address or file → fetch, or read → text without times → <id>.json in the project's data

A page is fetched when the user adds it, and again when the user asks for that, never by itself. Its
text is kept in Strata's own data and never written into the vault. It is part of the description of
the project that models are given, see `chains.request.project`.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from app.errors import AppError, InvalidRequest, NotFound, describe, storage_errors
from app.library.attachment_paths import AGREED, find_path, is_hidden_place, resolve_path
from app.library.attachments import is_web_address
from chains.cancel import CancelToken
from chains.errors import FetchFailed, LedgerFailed
from chains.request.project import PAGE_ID
from chains.web.captions import drop_times, has_captions, is_transcript
from chains.web.client import WebClient
from chains.web.urls import parse_url
from chains.web.videos import find_video
from context.fixes import Command, Fix
from context.json_codec import Record
from context.layers import Layer, Segment
from resources.system.files import make_private_folder, read_file, remove_synced, write_atomically
from vault.access import read_allowed
from vault.errors import VaultError
from vault.paths import printable
from vault.vault import Vault

__all__ = ["PageFetcher", "PageStore", "ProjectPage"]

_log = logging.getLogger(__name__)
PageKind = Literal["page", "transcript"]
MOST_PAGES: Final = 100
MOST_CHARS: Final = 1_000_000


@dataclass(frozen=True)
class ProjectPage(Record):
    """The copy of a web page or transcript that a project keeps.

    Attributes:
        address: the web address, or the path of a transcript: relative to the vault, or absolute.
            `hidden:` before a path says that the user agreed to a hidden file.
        kind: whether this is a web page or a transcript.
        title: the title of the page, or the name of the file.
        text: the text that was read last.
        fetched: when the text was read, in ISO 8601 and UTC, or an empty string if it never was.
        changed: when a refresh found another text than before, in ISO 8601 and UTC, or an empty
            string if none did.
        problem: why the last attempt to read it failed, or an empty string.
    """

    address: str
    kind: PageKind
    title: str = ""
    text: str = ""
    fetched: str = ""
    changed: str = ""
    problem: str = ""

    json_shape = (
        "id",
        "address",
        "kind",
        "title",
        "fetched",
        "changed",
        "problem",
        "version",
        "size",
        "is_changed",
    )

    @property
    def id(self) -> str:
        """A short name for the page: a hash of its address."""
        return _hash(self.address)[:12]

    @cached_property
    def version(self) -> str:
        """A hash of the text."""
        return _hash(self.text)

    @property
    def size(self) -> int:
        """The size of the text in bytes."""
        return len(self.text.encode("utf-8", "surrogatepass"))

    @property
    def is_changed(self) -> bool:
        """Whether the last refresh found another text than before."""
        return bool(self.changed) and self.changed == self.fetched and not self.problem

    @property
    def source(self) -> str:
        """The address without the mark of an agreement."""
        return self.address.removeprefix(AGREED)

    @property
    def is_file(self) -> bool:
        """Whether this is the copy of a file, and not of a web page."""
        return not is_web_address(self.address)

    @property
    def dated_title(self) -> str:
        """The title with the day on which the text was read, as sources are named."""
        day = datetime.fromisoformat(self.fetched).astimezone().date() if self.fetched else ""
        return f"{self.title or self.source} (fetched {day})"

    def segment(self) -> Segment:
        """Return the text as a segment of the system message."""
        return Segment.build(
            id=f"{PAGE_ID}{self.id}",
            layer=Layer.L1,
            kind="file" if self.is_file else "url",
            source=self.source,
            text=self.text,
            version=self.version,
            title=self.title,
        )

    @classmethod
    def from_dict(cls, found: Any) -> Self:
        """Parse a stored page.

        Raises:
            ValueError: a field is missing or has the wrong type.
        """
        names = cls.__dataclass_fields__
        if not isinstance(found, dict) or any(not isinstance(found.get(n), str) for n in names):
            raise ValueError("a field is missing")
        if found["kind"] not in get_args(PageKind):
            raise ValueError(f"{found['kind']} is no kind of page")
        return cls(**{name: found[name] for name in names})


class PageStore:
    """The copies that one project keeps, in a folder with one file each. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Use the copies in a folder, which need not exist."""
        self._folder = folder

    def list(self) -> tuple[ProjectPage, ...]:
        """Return the kept pages and transcripts, sorted by title. Damaged files are skipped."""
        found = []
        for file in sorted(self._folder.glob("*.json")):
            try:
                stat = file.stat()
                found.append(_read_page(file, stat.st_mtime_ns, stat.st_size, stat.st_ino))
            except (OSError, ValueError, RecursionError) as error:
                _log.warning("The kept page %s cannot be read: %s", file, error)
        return tuple(sorted(found, key=lambda page: (page.title.casefold(), page.address)))

    def find(self, named: str) -> ProjectPage:
        """Return a kept page, given its id or address.

        Raises:
            NotFound: there is no such page.
        """
        address = _normalise(named).removeprefix(AGREED)
        for page in self.list():
            if named == page.id or address == page.source:
                return page
        raise NotFound(
            f"The project keeps no page {named}.",
            hint=Fix("{} lists them.", Command("project show", ("DIR",))),
        )

    def put(self, page: ProjectPage) -> None:
        """Store a page, replacing the one with its address.

        Raises:
            StorageFailed: the page cannot be written.
        """
        file = self._folder / f"{page.id}.json"
        text = json.dumps(asdict(page), ensure_ascii=False, indent=1)
        with storage_errors(file):
            make_private_folder(self._folder)
            write_atomically(file, text.encode("utf-8", "surrogatepass"))
        _read_page.cache_clear()  # a clock may be too coarse to tell two states apart

    def remove(self, page: ProjectPage) -> None:
        """Remove a page. `put` brings it back.

        Raises:
            StorageFailed: the file cannot be removed.
        """
        file = self._folder / f"{page.id}.json"
        with storage_errors(file):
            remove_synced(file)
        _read_page.cache_clear()


class PageFetcher:
    """Fetches web pages and reads transcripts for projects. Thread-safe."""

    def __init__(
        self,
        client: WebClient,
        find_vault: Callable[[], Vault | None],
        follow: Callable[[str], str] = lambda path: path,
    ) -> None:
        """Fetch nothing yet.

        Args:
            client: the client that fetches web pages.
            find_vault: returns the open vault, or None.
            follow: returns the present path of a file, given the path that it had.
        """
        self._client, self._find_vault, self._follow = client, find_vault, follow

    def find(self, store: PageStore, named: str) -> ProjectPage:
        """Return a kept page, given its id, its address, or the path of a transcript.

        Args:
            store: the pages of the project.
            named: a path is absolute, or relative to the vault or working directory. The file may
                be gone.

        Raises:
            NotFound: there is no such page.
        """
        try:
            return store.find(named)
        except NotFound:
            found = self._find_file(store.list(), named.strip().removeprefix(AGREED))
            if found is None:
                raise
            return found

    def _find_file(self, pages: Sequence[ProjectPage], path: str) -> ProjectPage | None:
        """Return the kept transcript of a file, which may have been moved since, or None."""
        sources = set(self._list_sources(path))
        return next((one for one in pages if self._follow(one.source) in sources), None)

    def add(self, store: PageStore, named: str, cancel: CancelToken) -> ProjectPage:
        """Fetch a web page or read a transcript, keep it, and return it.

        Args:
            store: the pages of the project. One with the same address is refreshed.
            named: a web address, or the path of a transcript: absolute, or relative to the vault.
            cancel: cancels the fetch. Then nothing is kept.

        Raises:
            FetchFailed: the page cannot be fetched or read.
            LedgerFailed: the call could not be recorded, so it was not made.
            NotFound: there is no such file.
            InvalidRequest: the file is no transcript, or the project keeps too many pages.
            NoteExcluded: models may not read the file.
            NoteUnreadable: the file is not text.
            StorageFailed: the page cannot be written.
            Cancelled: the token was cancelled.
        """
        page = self._start(named)
        pages = store.list()
        known = next((one for one in pages if one.id == page.id), None)
        if known is None and page.is_file:
            known = self._find_file(pages, page.source)
        if known is None and len(pages) >= MOST_PAGES:
            raise InvalidRequest(
                f"A project keeps at most {MOST_PAGES} web pages and transcripts.",
                hint="Remove some, or save the pages as notes in the project's folder.",
            )
        page = self._read(known or page, cancel)
        store.put(page)
        return page

    def refresh(self, store: PageStore, page: ProjectPage, cancel: CancelToken) -> ProjectPage:
        """Fetch a kept page again, store it and return it. A failure is stored as its problem.

        The text of a page that cannot be fetched any more is kept.

        Raises:
            StorageFailed: the page cannot be written.
            Cancelled: the token was cancelled. The page stays as it was.
        """
        try:
            found = self._read(page, cancel)
        except (AppError, FetchFailed, LedgerFailed, VaultError) as error:
            found = replace(page, problem=describe(error).message)
        store.put(found)
        return found

    def refresh_all(
        self, store: PageStore, pages: Sequence[ProjectPage], cancel: CancelToken
    ) -> Iterator[ProjectPage]:
        """Refresh pages one after the other, and yield each when it is done.

        Raises the same exceptions as `refresh`.
        """
        for page in pages:
            yield self.refresh(store, page, cancel)

    def _start(self, named: str) -> ProjectPage:
        address = _normalise(named)
        kind: PageKind = "page"
        if is_web_address(named):
            kind = "transcript" if find_video(parse_url(named)) else "page"
        else:
            vault = self._find_vault()
            place = find_path(named, None if vault is None else vault.root)
            if not is_transcript(place.path):
                raise InvalidRequest(
                    f"{place.file.name} is not a transcript.",
                    hint="A transcript is a .vtt, .srt, .sbv or .txt file. Notes in the project's "
                    "folder are members by themselves.",
                )
            mark = AGREED if place.is_agreed or is_hidden_place(place) else ""
            address, kind = f"{mark}{place.source}", "transcript"
        return ProjectPage(address, kind)

    def _list_sources(self, path: str) -> Iterator[str]:
        """Yield the names that the file at a path may have as an address."""
        vault = self._find_vault()
        root = None if vault is None else vault.root
        whole = Path(os.path.expanduser(path))
        for candidate in (whole,) if root is None else (whole, root / whole):
            with suppress(OSError, RuntimeError, ValueError):  # a loop, or a NUL in the path
                place = resolve_path(candidate, root)
                yield from (place.source, printable(str(place.file)))

    def _read(self, page: ProjectPage, cancel: CancelToken) -> ProjectPage:
        title, text = self._read_file(page) if page.is_file else self._fetch(page, cancel)
        is_transcript = page.kind == "transcript" or has_captions(text)
        text = drop_times(text) if is_transcript else text
        if not text.strip():
            raise FetchFailed(f"{page.address} contains no words.")
        if len(text) > MOST_CHARS:
            raise FetchFailed(f"{page.address} has more than {MOST_CHARS:,} characters.")
        now = _read_clock()
        is_changed = bool(page.fetched) and text != page.text
        return replace(
            page,
            kind="transcript" if is_transcript else "page",
            title=title,
            text=text,
            fetched=now,
            changed=now if is_changed else page.changed,
            problem="",
        )

    def _fetch(self, page: ProjectPage, cancel: CancelToken) -> tuple[str, str]:
        from chains.tools.web import fetch_segment  # with a parser for web pages

        found = fetch_segment(self._client, page.address, cancel)
        return found.title, found.raw_content

    def _read_file(self, page: ProjectPage) -> tuple[str, str]:
        vault = self._find_vault()
        mark = AGREED if page.address.startswith(AGREED) else ""
        path = f"{mark}{self._follow(page.source)}"
        place = find_path(path, None if vault is None else vault.root)
        if place.is_in_vault and vault is not None:
            note = vault.read_attached(place.path)
        else:
            note = read_allowed(place.root, place.path)
        return place.file.name, note.text


@lru_cache(maxsize=MOST_PAGES)
def _read_page(file: Path, _changed_ns: int, _size: int, _inode: int) -> ProjectPage:
    """Parse the file of a kept page, which is read again only if it was changed."""
    return ProjectPage.from_dict(json.loads(read_file(file)))


def _normalise(named: str) -> str:
    """Return an address in the form in which pages are stored. A path is returned as it is."""
    if not is_web_address(named):
        return named.strip()
    try:
        return str(parse_url(named.strip()))
    except FetchFailed:
        return named.strip()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_clock() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
