"""Store pinned answers, one file for each vault.

The file is replaced atomically, and only while this process holds the lock of its folder, so that
two instances do not undo each other's changes. A file of a later version is neither read nor
changed, and a damaged one is put aside before another takes its place.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.errors import StorageFailed, storage_errors
from app.paths import Paths
from app.pinned.answer import PinnedAnswer
from resources.system.files import (
    flush_file,
    lock_folder,
    make_private_folder,
    put_aside,
    read_file,
    remove_leftovers,
    write_atomically,
)

__all__ = ["PinnedStore"]

_VERSION: Final = 1
_log = logging.getLogger(__name__)

Change = Callable[[tuple[PinnedAnswer, ...]], Sequence[PinnedAnswer]]


class _Version(NamedTuple):
    """Tells the versions of a file apart."""

    file: Path
    changed_ns: int = 0
    size: int = 0
    inode: int = 0


@dataclass(frozen=True)
class _Stored:
    """The content of a file of pinned answers.

    Attributes:
        answers: the pinned answers, in the order of the sidebar.
        others: entries of kinds that this version does not know, which are kept.
        is_damaged: whether the file could not be read.
    """

    answers: tuple[PinnedAnswer, ...] = ()
    others: tuple[Any, ...] = ()
    is_damaged: bool = False


class PinnedStore:
    """The pinned answers of all vaults. Thread-safe."""

    def __init__(self, paths: Paths) -> None:
        """Use the folder of pinned answers, which need not exist."""
        self._paths = paths
        self._lock = threading.Lock()
        self._known: tuple[_Version, _Stored] | None = None  # of the file that was read last
        self._flushed: _Version | None = None  # of the file that this process has flushed last

    def read(self, index_dir: Path) -> tuple[PinnedAnswer, ...]:
        """Return the pinned answers of a vault, in the order of the sidebar.

        Args:
            index_dir: the folder of the vault's index, whose name identifies the vault.

        Raises:
            StorageFailed: the file was written by a later version of Strata, or cannot be read.
        """
        return self._read(self._name_file(index_dir)).answers

    def change(self, index_dir: Path, change: Change) -> tuple[PinnedAnswer, ...]:
        """Change the pinned answers of a vault, and return them.

        Args:
            index_dir: the folder of the vault's index.
            change: returns the new pinned answers, given the stored ones. If they are equal, they
                are only flushed.

        Raises:
            StorageFailed: the file was written by a later version, or cannot be written.
        """
        file = self._name_file(index_dir)
        with self._lock, storage_errors(file):
            make_private_folder(file.parent)
            with lock_folder(file.parent):
                remove_leftovers(file.parent, frozenset([file.name]))
                self._flush(file)  # also if there is nothing to change any more
                stored = self._read(file)
                changed = tuple(change(stored.answers))
                if changed != stored.answers:
                    if stored.is_damaged:
                        put_aside(file)
                    _write(file, changed, stored.others)
                    self._flushed = _find_version(file)
                    self._known = self._flushed, _Stored(changed, stored.others)
                return changed

    def _flush(self, file: Path) -> None:
        """Flush a file once, since a process that was killed may have written it before."""
        version = _find_version(file)
        if version.inode and version != self._flushed:
            flush_file(file)
            self._flushed = version

    def _read(self, file: Path) -> _Stored:
        """Read a file, unless it is the one that was read last. Thousands of rows take long."""
        with storage_errors(file):
            version = _find_version(file)
        known = self._known
        if known is None or known[0] != version or known[1].is_damaged:
            known = self._known = version, _read(file)
        return known[1]

    def _name_file(self, index_dir: Path) -> Path:
        return self._paths.pinned / f"{index_dir.name}.json"


def _find_version(file: Path) -> _Version:
    """Return what tells versions of a file apart. Each of them is another file in its place."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return _Version(file)
    return _Version(file, found.st_mtime_ns, found.st_size, found.st_ino)


def _read(file: Path) -> _Stored:
    with storage_errors(file):
        try:
            content = read_file(file)
        except FileNotFoundError:
            return _Stored()
    try:
        found = json.loads(content)
        version, entries = found["version"], found.get("answers")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        _log.warning("The pinned answers in %s cannot be read: %s", file, error)
        return _Stored(is_damaged=True)
    if type(version) is int and version > _VERSION:
        raise StorageFailed(
            "Your pinned answers were stored by a later version of Strata. They are kept as they "
            "are.",
            hint=f"Update Strata, or move {file} away to begin anew.",
        )
    if type(version) is not int or version < 1 or not isinstance(entries, list):
        _log.warning("The pinned answers in %s have no version or are no list.", file)
        return _Stored(is_damaged=True)
    return _parse(entries, file)


def _parse(entries: Sequence[Any], file: Path) -> _Stored:
    answers, others = list[PinnedAnswer](), list[Any]()
    for entry in entries:
        try:
            answers.append(PinnedAnswer.from_dict(entry if isinstance(entry, Mapping) else {}))
        except ValueError as error:
            _log.warning("A pinned answer in %s is kept, but not shown: %s", file, error)
            others.append(entry)
    return _Stored(tuple(answers), tuple(others))


def _write(file: Path, answers: Sequence[PinnedAnswer], others: Sequence[Any]) -> None:
    entries = [*(answer.to_dict() for answer in answers), *others]
    stored = {"version": _VERSION, "answers": entries}
    # With an indentation, thousands of rows would be written by slow code.
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    write_atomically(file, text.encode("utf-8", "surrogatepass"))
