"""Remove the texts of notes from stored requests when models may not read the notes any more."""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from app.sent.pieces import NoteRef
from app.sent.store import SentStore
from vault.access import find_excluded
from vault.errors import VaultError
from vault.notes.kinds import is_readable_kind
from vault.notes.note import read_bytes
from vault.scan import scan

__all__ = ["ExclusionSweep"]

MOST_REMEMBERED = 20_000


class ExclusionSweep:
    """Removes texts of excluded and private notes from stored requests. Thread-safe."""

    def __init__(
        self,
        sent: SentStore,
        read_rules: Callable[[], Sequence[str]],
        list_moves: Callable[[Path], Mapping[str, str]],
    ) -> None:
        """Use a store.

        Args:
            sent: the stored requests.
            read_rules: returns the patterns that exclude notes.
            list_moves: returns the present paths of the notes of a folder that Strata moved.
        """
        self._sent, self._read_rules, self._list_moves = sent, read_rules, list_moves

    def run(self, references: Collection[str] | None = None) -> int:
        """Remove the texts of excluded notes, and return how many were removed.

        A note counts as excluded by its path, by where it was moved, and by its content, which an
        excluded file has. Notes of a folder that cannot be reached stay as they are.

        Args:
            references: the requests to look at, or None for all.

        Raises:
            StorageFailed: the store cannot be read or written.
        """
        by_root: defaultdict[str, list[NoteRef]] = defaultdict(list)
        for note in self._sent.list_notes(references).notes:
            by_root[note.root].append(note)
        gone = [note for root, notes in by_root.items() for note in self._find_gone(root, notes)]
        return self._sent.forget_notes(gone, "excluded")

    def _find_gone(self, root: str, notes: Sequence[NoteRef]) -> Iterator[NoteRef]:
        folder = Path(root)
        if not root or not folder.is_dir():
            return
        rules, paths = self._read_rules(), frozenset(note.path for note in notes)
        excluded = find_excluded(folder, paths, rules, partial(self._list_moves, folder))
        versions = frozenset(_list_excluded_versions(folder, rules))
        for note in notes:
            if note.path in excluded or note.version in versions:
                yield note


def _list_excluded_versions(root: Path, rules: Sequence[str]) -> Iterator[str]:
    """Yield the hashes of the notes that rules exclude."""
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
    return hashlib.sha256(read_bytes(root, path)).hexdigest()
