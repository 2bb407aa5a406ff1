"""Store sent requests in files, each text once, until their chats are deleted.

A file holds the objects that one request needs and no earlier file has, compressed together. Its
name is the hash of its content, and it never changes, so the folders of two machines can be merged
by copying files. Where a text has to go, a new file without it takes the place of the old one.
"""

import hashlib
import json
import logging
import os
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from app.errors import storage_errors
from app.requests.pieces import NoteRef
from app.requests.record import (
    EXCLUDED,
    GoneNote,
    ObjectKind,
    RecordReader,
    SentObject,
    SentRequest,
    list_references,
)
from context.history.quotes import NO_WORDS
from resources.system.calls import remove_path, sync_folder
from resources.system.files import (
    create_file,
    lock_folder,
    make_private_folder,
    read_file,
    remove_leftovers,
    write_atomically,
)

__all__ = ["SentStore", "StoredNotes", "read_texts"]

_log = logging.getLogger(__name__)
_MAGIC: Final = b"strata sent 1\n"
_SUFFIX: Final = ".sent"
_KINDS: Final[tuple[ObjectKind, ...]] = ("piece", "record", "list", "answer")  # by number
_LOST: Final = (GoneNote("a note", "lost"),)
_ABANDONED_S: Final = 24 * 3600.0  # a request without an entry in the log is older than this
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, IndexError, zlib.error)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an object is, what it is, and why its text is gone, if it is."""

    file: str
    start: int
    length: int
    notes: tuple[NoteRef, ...]
    kind: ObjectKind
    gone: str = ""


# Returns what becomes of an object by its name and place, or None if it goes.
_Change = Callable[[str, _Place], _Place | None]


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """The notes of which the store has text, and its size in bytes.

    Attributes:
        pieces: the notes that each text comes from, with each folder that they may be in.
        excluded: the paths of the notes of which the text was removed because they are excluded.
    """

    pieces: frozenset[tuple[NoteRef, ...]]
    size: int
    requests: int
    excluded: frozenset[str]

    @property
    def notes(self) -> frozenset[NoteRef]:
        """All these notes."""
        return frozenset(chain.from_iterable(self.pieces))


class SentStore:
    """The requests that were sent. It can be shared by threads and processes.

    Attributes:
        after_add: called with the reference to a request that was added, since its notes may have
            been excluded while it was made.
    """

    def __init__(self, folder: Path) -> None:
        """Use a folder, which need not exist."""
        self.folder = folder
        self.after_add: Callable[[str], object] = lambda _reference: None
        self._lock = threading.RLock()
        self._places: dict[str, _Place] = {}
        self._files: set[str] = set()

    def add(self, objects: Sequence[SentObject]) -> str:
        """Store the objects of a request, and return the reference to its record.

        Raises:
            StorageFailed: the folder cannot be written.
        """
        with storage_errors(self.folder), self._lock:
            make_private_folder(self.folder)
            with lock_folder(self.folder):  # what is there already is not removed meanwhile
                self._look()
                if new := [one for one in objects if not self._has(one.hash)]:
                    self._write(new)
                else:  # by a process that may have been killed before it flushed their names
                    sync_folder(self.folder)
        self.after_add(objects[-1].hash)
        return objects[-1].hash

    def load(self, reference: str, *, is_for_model: bool = False) -> SentRequest | None:
        """Return a stored request, or None if it is not stored.

        Args:
            reference: the hash of its record.
            is_for_model: whether it is sent again, so that no missing text may name its note.

        Raises:
            StorageFailed: the folder cannot be read.
        """
        with storage_errors(self.folder), self._lock:
            self._look()
            contents: dict[str, bytes] = {}
            try:
                found = self._load(reference, contents)
                if not isinstance(found, SentObject) or found.kind != "record":
                    return None
                return RecordReader(lambda name: self._load(name, contents), is_for_model).read(
                    found
                )
            except _UNREADABLE as error:
                _log.warning("The request %s cannot be read: %s", reference, error)
                return None

    def list_notes(self, references: Collection[str] | None = None) -> StoredNotes:
        """Return the notes of which text is stored, of some requests or of all.

        Raises:
            StorageFailed: the folder cannot be read.
        """
        with storage_errors(self.folder), self._lock:
            self._look()
            names = self._places if references is None else self._find_reachable(references)
            places = [self._places[name] for name in names if name in self._places]
            pieces = frozenset(one.notes for one in places if one.notes and not one.gone)
            requests = sum(one.kind == "record" for one in places)
            removed = chain.from_iterable(one.notes for one in places if one.gone == EXCLUDED)
            excluded = frozenset(note.path for note in removed)
            return StoredNotes(pieces, self._measure(), requests, excluded)

    def forget_notes(self, notes: Collection[NoteRef], reason: str) -> int:
        """Remove the text of some notes, and return how many pieces were removed.

        Args:
            notes: the notes.
            reason: see `GoneNote`.

        Raises:
            StorageFailed: the folder cannot be written.
        """
        gone = frozenset(notes)
        if not gone:
            return 0

        def decide() -> _Change:
            quoting = self._find_quoting(gone) if reason == EXCLUDED else {}

            def change(name: str, place: _Place) -> _Place | None:
                named = tuple(one for one in place.notes if one in gone) or quoting.get(name, ())
                is_gone = bool(named) and not place.gone
                return replace(place, gone=reason, notes=named) if is_gone else place

            return change

        return self._rewrite(decide)

    def _find_quoting(self, gone: Set[NoteRef]) -> dict[str, tuple[NoteRef, ...]]:
        """Return the answers that quote some notes, and no others, by their names."""
        contents: dict[str, bytes] = {}
        read: list[tuple[str, _Place, str]] = []
        for name, place in self._places.items():
            if not place.gone and (place.notes or place.kind == "answer"):
                loaded = self._load(name, contents)
                if isinstance(loaded, SentObject):
                    read.append((name, place, _decode_string(loaded.text)))
        hidden = [text for _name, place, text in read if not gone.isdisjoint(place.notes)]
        others = [
            text for _name, place, text in read if place.notes and gone.isdisjoint(place.notes)
        ]
        words = NO_WORDS.extend(hidden, others)
        answers = ((name, text) for name, place, text in read if place.kind == "answer")
        # An answer may quote any of them; one is named in its place.
        named = tuple(sorted(gone, key=lambda note: note.path))[:1]
        return {name: named for name, text in answers if words.list_quotes(text)}

    def remove(self, references: Collection[str], kept: Collection[str]) -> int:
        """Remove requests with everything that no other request needs.

        Requests that no log refers to are removed too, unless they are new.

        Args:
            references: the requests of the chats that are deleted.
            kept: the requests of all other chats.

        Raises:
            StorageFailed: the folder cannot be written.
        """

        def decide() -> _Change | None:
            records = {name for name, place in self._places.items() if place.kind == "record"}
            old = {name for name in records - set(kept) if self._is_abandoned(name)}
            rest = records - ((set(references) | old) - set(kept))
            if rest == records:
                return None
            needed = self._find_reachable(rest)
            return lambda name, place: place if name in needed else None

        return self._rewrite(decide)

    def _is_abandoned(self, name: str) -> bool:
        try:
            written = (self.folder / self._places[name].file).lstat().st_mtime
        except OSError:
            return False
        return time.time() - written > _ABANDONED_S

    def _find_reachable(self, references: Iterable[str]) -> set[str]:
        found, contents = set[str](), dict[str, bytes]()
        waiting = [(name, True) for name in references]
        while waiting:
            name, has_items = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if not has_items:
                continue
            try:
                loaded = self._load(name, contents)
                if isinstance(loaded, SentObject):
                    waiting += list_references(loaded.text)
            except _UNREADABLE as error:
                _log.warning("The object %s cannot be read: %s", name, error)
        return found

    def _rewrite(self, decide: Callable[[], _Change | None]) -> int:
        """Replace the files with objects that change or go, and return how many those are.

        Args:
            decide: returns what becomes of an object, while no process adds to the folder.
        """
        changed = 0
        with storage_errors(self.folder), self._lock:
            if not self.folder.is_dir():
                return 0
            with lock_folder(self.folder):
                self._look()
                if (change := decide()) is None:
                    return 0
                for file in sorted(self._files):
                    changed += self._rewrite_file(file, change)
                self._forget_files()
        return changed

    def _rewrite_file(self, file: str, change: _Change) -> int:
        try:
            header, body = _read_file(self.folder / file)
        except _UNREADABLE as error:
            _log.warning("%s cannot be read: %s", file, error)
            return 0
        own = dict(_list_places(file, header))
        kept = {name: new for name, one in own.items() if (new := change(name, one)) is not None}
        changed = sum(kept.get(name) != place for name, place in own.items())
        if not changed:
            return 0
        texts = {name: body[own[name].start : own[name].start + own[name].length] for name in kept}
        if kept:
            rows = [(name, place, texts[name]) for name, place in kept.items()]
            self._put(_encode_file(rows))
        remove_path(self.folder / file)
        return changed

    def _write(self, objects: Sequence[SentObject]) -> None:
        rows = [
            (one.hash, _Place("", 0, 0, one.notes, one.kind), _encode(one.text)) for one in objects
        ]
        self._put(_encode_file(rows))

    def _put(self, content: bytes) -> None:
        name = f"{hashlib.sha256(content).hexdigest()[:40]}{_SUFFIX}"
        path = self.folder / name
        if not path.exists():
            with suppress(FileExistsError):  # another process has written the same
                create_file(path, content)
        elif read_file(path) != content:  # it was damaged
            write_atomically(path, content)
        else:
            sync_folder(self.folder)
        self._read_header(name)

    def _look(self) -> None:
        """Read the headers of the files that are new in the folder."""
        try:
            names = {one.name for one in os.scandir(self.folder) if one.name.endswith(_SUFFIX)}
        except FileNotFoundError:
            names = set()
        if not self._files <= names:
            self._forget_files()
        for name in sorted(names - self._files):
            self._read_header(name)

    def _read_header(self, name: str) -> None:
        self._files.add(name)
        try:
            header, _ = _read_file(self.folder / name, is_header_only=True)
            for hash_, place in _list_places(name, header):
                known = self._places.get(hash_)
                if known is None or known.gone or not place.gone:
                    self._places[hash_] = place
        except _UNREADABLE as error:
            _log.warning("%s cannot be read: %s", name, error)

    def _forget_files(self) -> None:
        """Read all headers again at the next use."""
        self._files.clear()
        self._places.clear()

    def _has(self, name: str) -> bool:
        return name in self._places and not self._places[name].gone

    def _load(self, name: str, contents: dict[str, bytes]) -> SentObject | tuple[GoneNote, ...]:
        """Return an object, or the notes whose text is gone.

        Args:
            name: the hash of the object.
            contents: the contents of the files that were read so far.
        """
        place = self._places.get(name)
        if place is None:
            return _LOST
        if place.gone:
            return tuple(GoneNote(note.path, place.gone) for note in place.notes)
        if place.file not in contents:
            contents[place.file] = _read_file(self.folder / place.file)[1]
        data = contents[place.file][place.start : place.start + place.length]
        text = data.decode("utf-8", "surrogatepass")
        made = SentObject.build(text, place.notes, place.kind)
        return made if made.hash == name else _LOST

    def _measure(self) -> int:
        sizes = ((self.folder / name).stat().st_size for name in self._files)
        return sum(sizes)

    def remove_leftovers(self) -> None:
        """Remove temporary files that killed processes left behind."""
        remove_leftovers(self.folder)


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts in a file by the names of their objects, without checking them.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no file of sent requests.
    """
    header, body = _read_file(path)
    places = dict(_list_places(path.name, header))
    return {
        name: body[one.start : one.start + one.length].decode("utf-8", "surrogatepass")
        for name, one in places.items()
    }


def _decode_string(text: str) -> str:
    """Return the text of a piece of a JSON string."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _encode_file(rows: Sequence[tuple[str, _Place, bytes]]) -> bytes:
    notes: dict[NoteRef, int] = {}
    objects: list[list[Any]] = []
    for name, place, data in rows:
        named = [notes.setdefault(note, len(notes)) for note in place.notes]
        length = 0 if place.gone else len(data)
        row: list[Any] = [name, length, named, _KINDS.index(place.kind), place.gone]
        while row and not row[-1]:
            row.pop()
        objects.append(row)
    named_notes = [[note.root, note.path, note.version] for note in notes]
    header = zlib.compress(json.dumps({"notes": named_notes, "objects": objects}).encode(), 9)
    body = zlib.compress(b"".join(data for _, place, data in rows if not place.gone), 9)
    return b"".join((_MAGIC, len(header).to_bytes(4, "big"), header, body))


def _read_file(path: Path, *, is_header_only: bool = False) -> tuple[dict[str, Any], bytes]:
    """Return the header of a file, and the texts of its objects."""
    content = read_file(path)
    if not content.startswith(_MAGIC):
        raise ValueError("it is no file of sent requests")
    start = len(_MAGIC) + 4
    end = start + int.from_bytes(content[len(_MAGIC) : start], "big")
    header: dict[str, Any] = json.loads(zlib.decompress(content[start:end]))
    return header, b"" if is_header_only else zlib.decompress(content[end:])


def _list_places(file: str, header: dict[str, Any]) -> Iterator[tuple[str, _Place]]:
    notes = [NoteRef(*map(str, row)) for row in header["notes"]]
    start = 0
    for short in header["objects"]:
        row = [*short, *(0, (), 0, "")[len(short) - 1 :]]
        length, refs = int(row[1]), tuple(notes[at] for at in row[2])
        yield str(row[0]), _Place(file, start, length, refs, _KINDS[row[3]], str(row[4]))
        start += length
