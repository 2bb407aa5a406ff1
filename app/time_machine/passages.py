"""The texts of notes in stored requests: remove those of excluded notes, and of deleted ones."""

import hashlib
import os
import posixpath
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from app.requests.pieces import VERSION_CHARS, NoteRef
from app.requests.record import EXCLUDED
from app.requests.store import NotePlaces, SentStore
from context.history.pins import PINNED_SOURCE
from context.json_codec import Record
from vault.access import find_excluded
from vault.errors import VaultError
from vault.notes.kinds import is_readable_kind
from vault.notes.note import read_bytes
from vault.scan import scan

__all__ = ["KeptPassages", "KeptSummary"]

MOST_REMEMBERED = 20_000


@dataclass(frozen=True)
class KeptSummary(Record):
    """What is kept of notes for past answers.

    Attributes:
        requests: the number of requests that are kept.
        size: the size of all of them together, in bytes.
        notes: the number of notes of which text is kept.
        deleted: the paths of those of them that exist no more.
    """

    requests: int
    size: int
    notes: int
    deleted: tuple[str, ...]

    json_shape = ("requests", "bytes = size", "notes", "deleted")

    @property
    def sentence(self) -> str:
        """What is kept, in words."""
        if not self.requests:
            return "No request of an answer is kept yet."
        size = self.size / 1_000
        shown = f"{size / 1_000:,.1f} MB" if size >= 1_000 else f"{size:,.0f} kB"
        gone = len(self.deleted)
        deletion_sentence = (
            f" {gone:,} of these notes {'is' if gone == 1 else 'are'} deleted." if gone else ""
        )
        requests = _count(self.requests, "request")
        return f"{requests} with text of {_count(self.notes, 'note')}, {shown}.{deletion_sentence}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class KeptPassages:
    """The texts of notes that are kept for past answers, and their removal. Thread-safe."""

    def __init__(
        self,
        sent: SentStore,
        read_rules: Callable[[], Sequence[str]],
        list_moves: Callable[[Path], Mapping[str, str]],
        follow: Callable[[str], Path | None],
    ) -> None:
        """Use a store.

        Args:
            sent: the stored requests.
            read_rules: returns the patterns that exclude notes.
            list_moves: returns the present paths of the notes of a folder that Strata moved.
            follow: returns where a folder of notes is now, or None if it is not known.
        """
        self._sent, self._read_rules = sent, read_rules
        self._list_moves, self._follow = list_moves, follow

    def remove_excluded(self, references: Collection[str] | None = None) -> int:
        """Remove the texts of excluded and private notes, and return how many were removed.

        Args:
            references: the requests to look at, or None for all.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        return self.forget_excluded(self._sent.list_notes(references).pieces)

    def forget_excluded(self, pieces: Iterable[NotePlaces]) -> int:
        """Remove the texts of those of some notes that models may not read, and count the texts.

        A note counts as excluded by its path, by where it was moved, and by its content, which an
        excluded file has. Notes of a folder that cannot be reached stay as they are.

        Args:
            pieces: the notes that texts come from.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        places = _list_places(pieces)
        missing = frozenset(chain.from_iterable(self._find_missing(places)))
        gone = [
            note
            for root, some in self._group(chain.from_iterable(places)).items()
            for note in self._find_excluded(root, some, missing)
        ]
        return self._sent.forget_notes(gone, EXCLUDED)

    def describe(self) -> KeptSummary:
        """Return what is kept, after the texts of excluded notes were removed.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        self.remove_excluded()
        stored = self._sent.list_notes()
        places = _list_places(stored.pieces)
        names = {tuple((note.root, note.path) for note in one) for one in places}
        deleted = sorted({note.path for note in self._find_deleted(places)})
        return KeptSummary(stored.requests, stored.size, len(names), tuple(deleted))

    def remove_deleted(self) -> int:
        """Remove the texts of notes that exist no more, and return how many notes these are.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        gone = self._find_deleted(_list_places(self._sent.list_notes().pieces))
        self._sent.forget_notes(gone, "purged")
        return len({note.path for note in gone})

    def _group(self, notes: Iterable[NoteRef]) -> dict[Path, list[NoteRef]]:
        """Return notes by their folders, without those whose folder cannot be reached."""
        by_root: defaultdict[str, list[NoteRef]] = defaultdict(list)
        for note in notes:
            by_root[note.root].append(note)
        found: defaultdict[Path, list[NoteRef]] = defaultdict(list)
        for root, some in by_root.items():
            if (folder := self._find_folder(root)) is not None:
                found[folder] += some
        return found

    def _find_folder(self, root: str) -> Path | None:
        folder = self._follow(root) if root else None
        return folder if folder is not None and folder.is_dir() else None

    def _find_excluded(
        self, root: Path, notes: Sequence[NoteRef], missing: Set[NoteRef]
    ) -> Iterator[NoteRef]:
        rules, paths = self._read_rules(), frozenset(note.path for note in notes)
        excluded = find_excluded(root, paths, rules, partial(self._list_moves, root))
        lost = missing & frozenset(notes)
        versions = frozenset(_list_excluded_versions(root, rules)) if lost else frozenset[str]()
        for note in notes:
            if note.path in excluded or (note in lost and note.version in versions):
                yield note

    def _find_missing(self, places: Set[NotePlaces]) -> Iterator[NotePlaces]:
        """Yield the notes whose files are gone, and were not moved by Strata.

        Notes that may be in a folder that cannot be reached are not missing.
        """
        folders = {note.root: self._find_folder(note.root) for note in chain(*places)}
        moves = {folder: self._list_moves(folder) for folder in folders.values() if folder}
        for place in places:
            found = [(folders[note.root], note.path) for note in place]
            if all(
                folder and not os.path.lexists(folder / moves[folder].get(path, path))
                for folder, path in found
            ):
                yield place

    def _find_deleted(self, places: Set[NotePlaces]) -> frozenset[NoteRef]:
        """Return the missing notes, without those that were renamed or moved outside of Strata.

        Of these, the name or the content is still in one of their folders.
        """
        missing = frozenset(self._find_missing(places))
        suffixes = frozenset(_read_suffix(note.path) for note in chain(*missing))
        left = {
            note
            for root, some in self._group(chain(*missing)).items()
            for note in _find_left(root, some, suffixes)
        }
        existing_places = (
            *(places - missing),
            *(one for one in missing if not left.isdisjoint(one)),
        )
        named = {(note.root, note.path) for note in chain(*existing_places)}
        return frozenset(
            note
            for one in missing
            if named.isdisjoint((note.root, note.path) for note in one)
            for note in one
        )


def _find_left(
    root: Path, notes: Sequence[NoteRef], suffixes: Collection[str]
) -> Iterator[NoteRef]:
    """Yield the notes whose name or content a file of the folder has."""
    files = {
        path: stat for path, stat in scan(root).files.items() if _read_suffix(path) in suffixes
    }
    names = frozenset(map(posixpath.basename, files))
    versions = frozenset(_list_versions(root, files))
    for note in notes:
        if posixpath.basename(note.path) in names or note.version in versions:
            yield note


def _list_places(pieces: Iterable[Sequence[NoteRef]]) -> frozenset[NotePlaces]:
    """Return the notes that texts come from, each in all folders that it may be in.

    A line of a tool result may begin with the path of a note in more than one way. What goes on
    behind the name of a note counts as its text.
    """
    found: set[NotePlaces] = set()
    for piece in pieces:
        by_path: defaultdict[str, list[NoteRef]] = defaultdict(list)
        for note in piece:
            if _is_name(note.path):
                by_path[note.path].append(note)
        found.update(
            tuple(places)
            for path, places in by_path.items()
            if not any(path.startswith(f"{other}:") for other in by_path)
        )
    return frozenset(found)


def _is_name(path: str) -> bool:
    """Return whether a note may have this path, which is no number such as `Version 2.0`."""
    return path != PINNED_SOURCE and "://" not in path and not _read_suffix(path)[1:2].isdigit()


def _read_suffix(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def _list_excluded_versions(root: Path, rules: Sequence[str]) -> Iterator[str]:
    """Yield the versions of the notes that rules exclude."""
    for path, _rule in scan(root, rules).excluded:
        yield from _list_versions(root, _list_files(root, path))


def _list_versions(root: Path, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            stat = (root / path).lstat()
            yield _read_version(root, path, stat.st_size, stat.st_mtime_ns)
        except (OSError, VaultError):
            continue


def _list_files(root: Path, path: str) -> Iterator[str]:
    """Yield the path of a note, or of all notes below a folder."""
    for folder, folders, names in os.walk(root / path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = os.path.relpath(folder, root)
        yield from (f"{below}/{name}" for name in names if is_readable_kind(name))
    if is_readable_kind(path):
        yield path


@lru_cache(maxsize=MOST_REMEMBERED)
def _read_version(root: Path, path: str, _size: int, _changed_ns: int) -> str:
    return hashlib.sha256(read_bytes(root, path)).hexdigest()[:VERSION_CHARS]
