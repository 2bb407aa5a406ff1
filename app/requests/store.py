"""Store sent requests in files, each text once, until their chats are deleted.

A file holds the objects that one request needs and no earlier file has, compressed together. Its
name is the hash of its content, and it never changes, so the folders of two machines can be merged
by copying files. Where a text has to go, a new file without it takes the place of the old one, and
so does one file in the place of several small ones.
"""

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from app.errors import storage_errors
from app.requests.files import (
    UNREADABLE,
    WITH_REFERENCES,
    EncodedFile,
    StoredObject,
    StoredPlace,
    decode_file,
    decode_header,
    encode_file,
    list_places,
    repair_file,
)
from app.requests.pieces import NoteRef
from app.requests.record import (
    EXCLUDED,
    GoneNote,
    RecordReader,
    SentObject,
    SentRequest,
    list_references,
)
from context.history.quotes import NO_WORDS
from resources.system.calls import sync_folder
from resources.system.files import (
    create_file,
    lock_folder,
    make_private_folder,
    read_file,
    remove_if_there,
    remove_leftovers,
    write_atomically,
)

__all__ = ["NotePlaces", "SentStore", "StoredNotes"]

_log = logging.getLogger(__name__)
_SUFFIX: Final = ".sent"
_LOST: Final = (GoneNote("a note", "lost"),)
_ABANDONED_S: Final = 24 * 3600.0  # a request without an entry in the log is older than this
_MOST_SMALL: Final = 4  # files that stay apart
_FULL_BYTES: Final = 128 * 1024  # of a file that is not joined with others any more
_MARK_BYTES: Final = 8
_MOST_LOOKS: Final = 3  # for files that other processes join meanwhile
NotePlaces = tuple[NoteRef, ...]  # a note in each folder that it may be in
_Result = TypeVar("_Result")
_Contents = dict[str, dict[str, StoredObject]]  # of the files that were read so far
# Returns what becomes of an object by its name and place, or None if it goes.
_Change = Callable[[str, StoredPlace], StoredPlace | None]


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """The notes of which the store has text, and its size in bytes.

    Attributes:
        pieces: the notes that each text comes from, with each folder that they may be in.
        excluded: the paths of the notes of which the text was removed because they are excluded.
    """

    pieces: frozenset[NotePlaces]
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
        after_add: called with the notes that the texts of an added request come from, unless there
            are none, since they may have been excluded while the request was made.
    """

    def __init__(self, folder: Path) -> None:
        """Use a folder, which need not exist."""
        self.folder = folder
        self.after_add: Callable[[frozenset[NotePlaces]], object] = lambda _pieces: None
        self._lock = threading.RLock()
        self._places: dict[str, StoredPlace] = {}
        self._files: set[str] = set()
        self._damaged: set[str] = set()
        self._torn: set[str] = set()  # damaged files that may be repaired

    def add(self, objects: Sequence[SentObject]) -> str:
        """Store the objects of a request, and return the reference to its record.

        Raises:
            StorageFailed: the folder cannot be written.
        """
        with storage_errors(self.folder), self._lock:
            make_private_folder(self.folder)
            with lock_folder(self.folder):  # what is there already is not removed meanwhile
                self._look()
                contents: _Contents = {}
                if new := [one for one in objects if not self._has(one.hash, contents)]:
                    self._write(new)
                else:  # by a process that may have been killed before it flushed their names
                    sync_folder(self.folder)
        if pieces := frozenset(one.notes for one in objects if one.notes):
            self.after_add(pieces)
        return objects[-1].hash

    def load(self, reference: str, *, is_for_model: bool = False) -> SentRequest | None:
        """Return a stored request, or None if it is not stored.

        Args:
            reference: the hash of its record.
            is_for_model: whether it is sent again, so that no missing text may name its note.

        Raises:
            StorageFailed: the folder cannot be read.
        """

        def read() -> SentRequest | None:
            contents: _Contents = {}
            try:
                found = self._load(reference, contents)
                if not isinstance(found, SentObject) or found.kind != "record":
                    return None
                reader = RecordReader(lambda name: self._load(name, contents), is_for_model)
                return reader.read(found)
            except FileNotFoundError:
                raise
            except UNREADABLE as error:
                _log.warning("The request %s cannot be read: %s", reference, error)
                return None

        with storage_errors(self.folder), self._lock:
            return self._read_steadily(read)

    def list_notes(self, references: Collection[str] | None = None) -> StoredNotes:
        """Return the notes of which text is stored, of some requests or of all.

        Raises:
            StorageFailed: the folder cannot be read.
        """

        def list_places() -> tuple[list[StoredPlace], int]:
            names = self._places if references is None else self._find_reachable(references)
            return [self._places[name] for name in names if name in self._places], self._measure()

        with storage_errors(self.folder), self._lock:
            places, size = self._read_steadily(list_places)
            pieces = frozenset(one.notes for one in places if one.notes and not one.gone)
            requests = sum(one.kind == "record" for one in places)
            removed = chain.from_iterable(one.notes for one in places if one.gone == EXCLUDED)
            excluded = frozenset(note.path for note in removed)
            return StoredNotes(pieces, size, requests, excluded)

    def _read_steadily(self, read: Callable[[], _Result]) -> _Result:
        """Read files, again if another process has joined some of them meanwhile."""
        for _ in range(_MOST_LOOKS - 1):
            self._look()
            with suppress(FileNotFoundError):
                return read()
            self._forget_files()
        self._look()
        return read()

    def pack(self) -> None:
        """Join small files, if there are many, to one that takes much less space.

        Raises:
            StorageFailed: the folder cannot be read or written.
        """
        with storage_errors(self.folder), self._lock:
            if not self.folder.is_dir():
                return
            small = self._read_steadily(self._list_small)
            if len(small) <= _MOST_SMALL and not self._torn:
                return
            with lock_folder(self.folder):
                self._look()
                self._repair_files()
                if len(self._list_small()) <= _MOST_SMALL:
                    return
                chosen = list(_take_first(self._list_small(), _FULL_BYTES))
                if len(chosen) > 1:
                    self._join([name for name, _stat in chosen], chosen[-1][1].st_mtime_ns)

    def _repair_files(self) -> None:
        """Write the damaged files again that can be repaired from their spare bytes."""
        for name in sorted(self._torn):
            self._torn.discard(name)
            path = self.folder / name
            with suppress(FileNotFoundError):  # it is joined with others, or its texts went
                content = self._read_repaired(name)
                if _name_file(content) == name:
                    write_atomically(path, content)
                    self._damaged.discard(name)
                    _log.warning("%s was damaged, and is repaired", name)
                    continue
                _log.warning("%s is damaged", name)
                self._damaged.add(name)

    def _read_repaired(self, name: str) -> bytes:
        """Return the content of a file, as it was written if that is still possible."""
        content = read_file(self.folder / name)
        return content if _name_file(content) == name else repair_file(content)

    def _list_small(self) -> list[tuple[str, os.stat_result]]:
        """Return the files that may be joined with others, oldest first."""
        self._look()
        found = [(name, (self.folder / name).lstat()) for name in self._files - self._damaged]
        small = [(name, stat) for name, stat in found if stat.st_size < _FULL_BYTES]
        return sorted(small, key=lambda one: (one[1].st_mtime_ns, one[0]))

    def _join(self, names: Collection[str], newest_ns: int) -> None:
        """Put the objects of some files into one. What another file has too is left out.

        Args:
            names: the files.
            newest_ns: when the newest of them was written, so that what is old stays so.
        """
        joined: dict[str, StoredObject] = {}
        contents: _Contents = {}
        read = {name: found for name in names if (found := self._decode(name)) is not None}
        for hash_, one in chain.from_iterable(objects.items() for objects in read.values()):
            is_first = hash_ not in joined or joined[hash_].place.gone
            if is_first and not self._is_elsewhere(hash_, read, contents):
                joined[hash_] = one
        # Two processes never make the same file: where folders cannot be locked, each may remove
        # its own, since the other has joined the same files or removed texts meanwhile.
        mark = os.urandom(_MARK_BYTES).hex()
        made = self._put(encode_file(tuple(joined.values()), mark)) if joined else ""
        if made:
            os.utime(self.folder / made, ns=(newest_ns, newest_ns))
        is_changed = any(not (self.folder / name).exists() for name in read)
        for name in [made] if is_changed and made else read:
            remove_if_there(self.folder / name)
        self._forget_files()

    def _is_elsewhere(self, name: str, files: Container[str], contents: _Contents) -> bool:
        """Return whether an object can be read from a file that is not one of some files."""
        is_elsewhere = self._places[name].file not in files
        return is_elsewhere and self._load_whole(name, contents) is not None

    def _decode(self, name: str) -> dict[str, StoredObject] | None:
        """Return the objects in a file, or None if it is damaged, as its name shows."""
        try:
            content = self._read_repaired(name)
            if _name_file(content) != name:
                raise ValueError("its content is not what was written")
            return decode_file(name, content)
        except UNREADABLE as error:
            _log.warning("%s cannot be joined with others: %s", name, error)
            self._damaged.add(name)
            return None

    def forget_notes(self, notes: Collection[NoteRef], reason: str) -> int:
        """Remove the text of some notes, and return how many pieces were removed.

        Args:
            reason: see `GoneNote`.

        Raises:
            StorageFailed: the folder cannot be written.
        """
        gone = frozenset(notes)
        if not gone:
            return 0

        def decide() -> _Change:
            quoting = self._find_quoting(gone) if reason == EXCLUDED else {}

            def change(name: str, place: StoredPlace) -> StoredPlace | None:
                named = tuple(one for one in place.notes if one in gone) or quoting.get(name, ())
                is_gone = bool(named) and not place.gone
                return replace(place, gone=reason, notes=named) if is_gone else place

            return change

        return self._rewrite(decide)

    def _find_quoting(self, gone: Set[NoteRef]) -> dict[str, tuple[NoteRef, ...]]:
        """Return the answers that quote some notes, and no others, by their names."""
        contents: _Contents = {}
        read: list[tuple[str, StoredPlace, str]] = []
        for name, place in self._places.items():
            may_quote = place.notes or place.kind == "answer"
            if may_quote and (loaded := self._load_whole(name, contents)) is not None:
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
        found, contents = set[str](), _Contents()
        waiting = [(name, True) for name in references]
        while waiting:
            name, has_items = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if not has_items:
                continue
            loaded = self._load_whole(name, contents)
            if loaded is not None and loaded.kind in WITH_REFERENCES:
                waiting += list_references(loaded.text)
        return found

    def _rewrite(self, decide: Callable[[], _Change | None]) -> int:
        """Replace the files with objects that change or go, and return how many those are.

        Args:
            decide: returns what becomes of an object, while no process adds to the folder.
        """
        changed, done = 0, set[str]()
        with storage_errors(self.folder), self._lock:
            if not self.folder.is_dir():
                return 0
            with lock_folder(self.folder):
                self._look()
                while self._files - done:  # again if another process does not wait for the lock
                    if (change := self._read_steadily(decide)) is None:
                        break
                    changed += sum(
                        self._rewrite_file(file, change) for file in sorted(self._files - done)
                    )
                    done |= self._files
                    self._forget_files()
                    self._look()
                if changed:  # what is removed does not come back after a power failure
                    sync_folder(self.folder)
        return changed

    def _rewrite_file(self, file: str, change: _Change) -> int:
        try:
            content = self._read_repaired(file)
            own = decode_header(file, content)
            places = {name: change(name, place) for name, place in own.items()}
            changed = sum(places[name] != place for name, place in own.items())
            objects = _decode_whole(file, content) if changed else {}
        except UNREADABLE as error:
            _log.warning("%s cannot be read: %s", file, error)
            return 0
        if not changed:
            return 0
        kept = [
            replace(one, place=place)
            for name, one in objects.items()
            if (place := places[name]) is not None
        ]
        if kept:
            self._put(encode_file(kept))
        remove_if_there(self.folder / file)
        return changed

    def _write(self, objects: Sequence[SentObject]) -> None:
        rows = [
            StoredObject(one.hash, StoredPlace("", 0, 0, one.notes, one.kind), one.text)
            for one in objects
        ]
        self._put(encode_file(rows))

    def _put(self, file: EncodedFile) -> str:
        """Write a file, and return its name."""
        content, name = file.content, _name_file(file.content)
        path = self.folder / name
        if not path.exists():
            with suppress(FileExistsError):  # another process has written the same
                create_file(path, content)
        elif read_file(path) != content:  # it was damaged
            write_atomically(path, content)
        else:
            sync_folder(self.folder)
        self._files.add(name)
        self._note_places(list_places(name, file.header), is_torn=False)
        return name

    def _look(self) -> None:
        """Read the headers of the new files, again if one of them is joined with others meanwhile.

        Raises:
            FileNotFoundError: that happened each time.
        """
        for _ in range(_MOST_LOOKS - 1):
            with suppress(FileNotFoundError):
                return self._read_new()
            self._forget_files()
        return self._read_new()

    def _read_new(self) -> None:
        """Read the headers of the files that are new in the folder."""
        try:
            found = [one for one in os.scandir(self.folder) if one.name.endswith(_SUFFIX)]
        except FileNotFoundError:
            found = []
        names = {one.name for one in found if one.is_file()}  # no link that leads nowhere
        if not self._files <= names:
            self._forget_files()
        for name in sorted(names - self._files):
            self._read_header(name)

    def _read_header(self, name: str) -> None:
        try:
            content = read_file(self.folder / name)
            self._files.add(name)
            is_torn = _name_file(content) != name
            if is_torn and name not in self._damaged:
                self._torn.add(name)
            self._note_places(decode_header(name, content), is_torn)
        except FileNotFoundError:
            raise
        except UNREADABLE as error:
            self._files.add(name)
            self._damaged.add(name)
            _log.warning("%s cannot be read: %s", name, error)

    def _note_places(self, places: Mapping[str, StoredPlace], is_torn: bool) -> None:
        """Note where the objects of a file are, unless another file has them whole."""
        for hash_, place in places.items():
            known = self._places.get(hash_)
            if known is None or known.gone or not (place.gone or is_torn):
                self._places[hash_] = place

    def _forget_files(self) -> None:
        """Read all headers again at the next use."""
        self._files.clear()
        self._places.clear()

    def _has(self, name: str, contents: _Contents) -> bool:
        """Return whether an object is stored, and was not lost by damage."""
        place = self._places.get(name)
        if place is None or place.gone:
            return False
        is_doubted = place.file in self._damaged or place.file in self._torn
        return not is_doubted or self._load_whole(name, contents) is not None

    def _load(self, name: str, contents: _Contents) -> SentObject | tuple[GoneNote, ...]:
        """Return an object, or the notes whose text is gone.

        Args:
            name: the hash of the object.
            contents: the contents of the files that were read so far.

        Raises:
            FileNotFoundError: another process has joined or removed the file.
        """
        place = self._places.get(name)
        if place is None:
            return _LOST
        if place.gone:
            return tuple(GoneNote(note.path, place.gone) for note in place.notes)
        if place.file not in contents:
            contents[place.file] = decode_file(place.file, read_file(self.folder / place.file))
        text = contents[place.file][name].text
        made = SentObject.build(text, place.notes, place.kind)
        return made if made.hash == name else _LOST

    def _load_whole(self, name: str, contents: _Contents) -> SentObject | None:
        """Return an object, or None if it is gone or damaged. For the rest, see `_load`."""
        try:
            found = self._load(name, contents)
        except FileNotFoundError:
            raise
        except UNREADABLE as error:
            file = self._places[name].file
            if file not in self._damaged:
                _log.warning("%s cannot be read: %s", file, error)
            self._damaged.add(file)
            contents.setdefault(file, {})  # it is not decompressed for each of its objects
            return None
        return found if isinstance(found, SentObject) else None

    def _measure(self) -> int:
        sizes = ((self.folder / name).stat().st_size for name in self._files)
        return sum(sizes)

    def remove_leftovers(self) -> None:
        """Remove temporary files that killed processes left behind."""
        remove_leftovers(self.folder)


def _name_file(content: bytes) -> str:
    """Return the name of a file with a content."""
    return f"{hashlib.sha256(content).hexdigest()[:40]}{_SUFFIX}"


def _decode_whole(file: str, content: bytes) -> dict[str, StoredObject]:
    """Return the objects in a file, without those that can never be read again.

    Raises:
        ValueError: it is not damaged, and yet cannot be read. Other errors of `UNREADABLE` mean the
            same.
    """
    is_damaged = _name_file(content) != file
    try:
        objects = decode_file(file, content)
    except UNREADABLE as error:
        if not is_damaged:
            raise
        _log.warning("The damaged file %s is removed: %s", file, error)
        return {}
    return {name: one for name, one in objects.items() if not is_damaged or _is_whole(one)}


def _is_whole(one: StoredObject) -> bool:
    made = SentObject.build(one.text, one.place.notes, one.place.kind)
    return bool(one.place.gone) or made.hash == one.name


def _decode_string(text: str) -> str:
    """Return the text of a piece of a JSON string."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _take_first(
    files: Iterable[tuple[str, os.stat_result]], most_bytes: int
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the first files, up to the one with which they have so many bytes together."""
    for name, stat in files:
        yield name, stat
        most_bytes -= stat.st_size
        if most_bytes <= 0:
            return
