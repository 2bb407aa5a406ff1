"""Read the notes that models may not read now, to find what a chat, or a table, holds of them.

Their text is compared with that of a chat, and never sent or stored. Only Markdown and text files
are compared, while verdicts on files of all kinds are found by their hash. Dot-folders, such as
`.trash`, are skipped.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from vault.access import is_private
from vault.errors import VaultError
from vault.notes.keywords import fold
from vault.notes.kinds import MARKDOWN, TEXT, find_kind, is_readable_kind
from vault.notes.note import parse_note, read_bytes
from vault.paths import printable
from vault.scan import FileStat, read_stat, scan

REMEMBERED_NOTES: Final = 2_000
MOST_BYTES: Final = 16_000_000  # of all hidden notes of a folder, so that a question does not wait

_log: Final = logging.getLogger(__name__)


def list_hidden_notes(
    root: Path, exclude: Iterable[str], list_allowed: Callable[[], Collection[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each excluded or private note of a folder.

    Args:
        root: the folder of the notes.
        exclude: patterns as in a `.gitignore`.
        list_allowed: returns the notes of which it is known that they are not private.
    """
    left = MOST_BYTES
    for path, stat in _find_hidden(root, tuple(exclude), list_allowed, _is_plain):
        left -= stat.size
        if left < 0:
            _log.warning("Only %d bytes of the excluded notes are compared.", MOST_BYTES)
            return
        yield path, _read_text(root, path, stat)


def list_hidden_versions(
    root: Path,
    exclude: Iterable[str],
    list_allowed: Callable[[], Collection[str]],
    is_wanted: Callable[[str], bool],
) -> Iterator[tuple[str, str]]:
    """Yield the path of each excluded or private note of a folder, with the hash of its content.

    Args:
        root: the folder of the notes.
        exclude: patterns as in a `.gitignore`.
        list_allowed: returns the notes of which it is known that they are not private.
        is_wanted: returns whether a note is read, given its path.
    """

    def is_read(path: str) -> bool:
        return is_readable_kind(path) and is_wanted(path)

    for path, stat in _find_hidden(root, tuple(exclude), list_allowed, is_read):
        if version := _read_version(root, path, stat):
            yield path, version


def find_hidden_tags(tags: Collection[str], hidden: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return those of the given tags that one of the hidden notes has.

    Args:
        tags: the tags, without their leading `#`.
        hidden: the path and the text of each hidden note.
    """
    wanted = {fold(tag): tag for tag in tags}
    found: set[str] = set()
    for path, text in hidden:
        folded = fold(text)
        if any(tag.rpartition("/")[2] in folded for tag in wanted):
            found.update(wanted[tag] for tag in map(fold, _read_tags(path, text)) if tag in wanted)
    return frozenset(found)


def find_missing(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Return those of the given paths, relative to the folder, where no file is."""
    return frozenset(path for path in paths if not os.path.lexists(os.path.join(root, path)))


def _find_hidden(
    root: Path,
    exclude: tuple[str, ...],
    list_allowed: Callable[[], Collection[str]],
    is_read: Callable[[str], bool],
) -> Iterator[tuple[str, FileStat]]:
    try:
        found = scan(root, exclude)
    except VaultError:
        return  # the folder is gone
    for place, _rule in found.excluded:
        yield from _list_files(root, place, is_read)
    allowed = list_allowed()
    for path, stat in found.files.items():
        if path not in allowed and is_read(path) and is_private(root, path):
            yield path, stat


def _list_files(
    root: Path, place: str, is_read: Callable[[str], bool]
) -> Iterator[tuple[str, FileStat]]:
    """Yield the notes of an excluded folder that are read, or the file itself if it is one."""
    paths = [place]
    for folder, folders, files in os.walk(root / place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = os.path.relpath(folder, root)
        paths += (f"{below}/{name}" for name in sorted(files) if not name.startswith("."))
    for path in paths:
        if is_read(path) and (stat := read_stat(root, path)) is not None:
            yield path, stat


def _is_plain(path: str) -> bool:
    return is_readable_kind(path) and find_kind(path) in (MARKDOWN, TEXT)


@lru_cache(maxsize=REMEMBERED_NOTES)
def _read_text(root: Path, path: str, _stat: FileStat) -> str:
    """Return the text of a note, read once for each state of its file."""
    try:
        return read_bytes(root, path).decode("utf-8", "replace")
    except VaultError:
        return ""


@lru_cache(maxsize=REMEMBERED_NOTES)
def _read_version(root: Path, path: str, _stat: FileStat) -> str:
    """Return the hash of a note's content, or an empty string if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(root, path)).hexdigest()
    except VaultError:
        return ""


@lru_cache(maxsize=REMEMBERED_NOTES)
def _read_tags(path: str, text: str) -> tuple[str, ...]:
    try:
        return parse_note(printable(path), text.encode())[0].tags
    except VaultError:
        return ()
