"""The texts of notes in stored requests: remove those of excluded notes, and of deleted ones."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from app.sent.pieces import VERSION_CHARS, NoteRef
from app.sent.store import EXCLUDED, SentStore
from vault.access import find_excluded
from vault.errors import VaultError
from vault.notes.kinds import is_readable_kind
from vault.notes.note import read_bytes
from vault.scan import scan

__all__ = ["KeptPassages", "KeptSummary"]

MOST_REMEMBERED = 20_000


@dataclass(frozen=True)
class KeptSummary:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a JSON object."""
        return {
            "requests": self.requests,
            "bytes": self.size,
            "notes": self.notes,
            "deleted": list(self.deleted),
        }

    @property
    def sentence(self) -> str:
        """What is kept, in words."""
        if not self.requests:
            return "No request of an answer is kept yet."
        size = self.size / 1_000
        shown = f"{size / 1_000:,.1f} MB" if size >= 1_000 else f"{size:,.0f} kB"
        gone = len(self.deleted)
        told = f" {gone:,} of these notes {'is' if gone == 1 else 'are'} deleted." if gone else ""
        requests = _count(self.requests, "request")
        return f"{requests} with text of {_count(self.notes, 'note')}, {shown}.{told}"


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

        A note counts as excluded by its path, by where it was moved, and by its content, which an
        excluded file has. Notes of a folder that cannot be reached stay as they are.

        Args:
            references: the requests to look at, or None for all.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        notes = self._sent.list_notes(references).notes
        gone = [
            note
            for root, some in self._group(notes).items()
            for note in self._find_excluded(root, some)
        ]
        return self._sent.forget_notes(gone, EXCLUDED)

    def describe(self) -> KeptSummary:
        """Return what is kept.

        Raises:
            StorageFailed: the store cannot be read.
        """
        stored = self._sent.list_notes()
        names = {(note.root, note.path) for note in stored.notes}
        deleted = sorted({note.path for note in self._find_deleted(stored.notes)})
        return KeptSummary(stored.requests, stored.size, len(names), tuple(deleted))

    def remove_deleted(self) -> int:
        """Remove the texts of notes that exist no more, and return how many notes these are.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        gone = list(self._find_deleted(self._sent.list_notes().notes))
        self._sent.forget_notes(gone, "purged")
        return len({note.path for note in gone})

    def _group(self, notes: Collection[NoteRef]) -> dict[Path, list[NoteRef]]:
        """Return notes by their folders, without those whose folder cannot be reached."""
        by_root: defaultdict[str, list[NoteRef]] = defaultdict(list)
        for note in notes:
            by_root[note.root].append(note)
        found: defaultdict[Path, list[NoteRef]] = defaultdict(list)
        for root, some in by_root.items():
            folder = self._follow(root) if root else None
            if folder is not None and folder.is_dir():
                found[folder] += some
        return found

    def _find_excluded(self, root: Path, notes: Sequence[NoteRef]) -> Iterator[NoteRef]:
        rules, paths = self._read_rules(), frozenset(note.path for note in notes)
        excluded = find_excluded(root, paths, rules, partial(self._list_moves, root))
        versions = frozenset(_list_excluded_versions(root, rules))
        for note in notes:
            if note.path in excluded or note.version in versions:
                yield note

    def _find_deleted(self, notes: Collection[NoteRef]) -> Iterator[NoteRef]:
        """Yield the notes whose files are gone, and were not moved by Strata.

        A path that a request names may be relative to one of several folders.
        """
        there: set[str] = set()
        missing: list[NoteRef] = []
        for root, some in self._group(notes).items():
            moves = self._list_moves(root)
            for note in some:
                place = moves.get(note.path, note.path)
                is_there = os.path.lexists(root / place) or "://" in note.path
                missing += [] if is_there else [note]
                there |= {note.path} if is_there else set()
        yield from (note for note in missing if note.path not in there)


def _list_excluded_versions(root: Path, rules: Sequence[str]) -> Iterator[str]:
    """Yield the versions of the notes that rules exclude."""
    for path, _rule in scan(root, rules).excluded:
        for name in _list_files(root, path):
            try:
                stat = (root / name).lstat()
                yield _read_version(root, name, stat.st_size, stat.st_mtime_ns)
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
