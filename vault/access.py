"""Read notes for a language model, except notes that are excluded or private."""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath, VaultError
from vault.exclude.rules import ExcludeRules
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.kinds import IMAGE, MARKDOWN, TEXT, FileKind, find_kind, is_readable_kind
from vault.notes.note import Note, parse_note, read_bytes
from vault.notes.text.document import Document
from vault.paths import printable, resolve_safe_path
from vault.scan import FileStat, read_stat, scan, scan_paths

if TYPE_CHECKING:
    from vault.records import FileRow, NoteState

__all__ = [
    "VaultFile",
    "filter_allowed",
    "filter_unchanged",
    "find_excluded",
    "is_hidden",
    "is_private",
    "list_allowed_notes",
    "list_names",
    "parse_allowed",
    "read_allowed",
    "read_allowed_bytes",
    "read_allowed_image",
    "read_as_tool",
    "read_unchanged_text",
]

PRIVATE = "private"
HIDDEN = "a file whose name begins with a dot"
REMEMBERED_NOTES = 10_000
# The word, or what may stand for it: a letter like "i" that counts as one without case, another
# encoding, or in front matter an escaped character or line break.
_MAY_BE_PRIVATE = re.compile(rb"pr(?:i|[\x80-\xff]{1,4})vate|\0|\\[xu\r\n]", re.IGNORECASE)


class VaultFile(NamedTuple):
    """A note that a model may read.

    Attributes:
        path: the path relative to the vault, or the absolute path if the project is outside it.
        relative: the path relative to the folder of the scope.
    """

    path: str
    relative: str
    size: int

    @property
    def shown(self) -> str:
        """The path that models and tools use for the note, which is never absolute."""
        return self.relative if os.path.isabs(self.path) else self.path

    @property
    def base(self) -> str:
        """The project's folder, if the project is outside the vault, or an empty string."""
        is_outside = os.path.isabs(self.path)
        return self.path.removesuffix(f"/{self.relative}") if is_outside else ""


def read_allowed(root: Path, path: str, exclude: Sequence[str] = ()) -> Note:
    """Read a note that may be given to a model.

    Symbolic links are resolved before the rules are checked, so that a link cannot bypass a rule.

    Raises:
        NoteExcluded: the note is excluded by a rule or marked as private.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the note is missing or cannot be read as text.
    """
    return parse_allowed(root, path, exclude)[0]


def read_as_tool(root: Path, path: str, exclude: Sequence[str] = ()) -> Note:
    """Read a note for a tool call of a model.

    Only file types that are indexed are allowed, because keys and passwords are usually stored in
    other file types or in hidden files. A model receives such files only if the user attaches them.

    Raises:
        NoteExcluded: the note is hidden, excluded by a rule or marked as private.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the file is missing, is not a note or cannot be read as text.
    """
    real = resolve_safe_path(root, path).relative_to(root.resolve()).as_posix()
    for name in (path, real):
        if is_hidden(name):
            raise NoteExcluded(printable(path), HIDDEN)
        if not is_readable_kind(name):
            raise NoteUnreadable(printable(path), "it is not a note, by the kind of its file")
    return read_allowed(root, path, exclude)


def is_hidden(path: str) -> bool:
    """Return whether the last component of a path starts with a dot."""
    name = path.rstrip("/").rpartition("/")[2]
    return name.startswith(".") and name not in (".", "..")


def parse_allowed(root: Path, path: str, exclude: Sequence[str] = ()) -> tuple[Note, Document]:
    """Read a note for a model, and return the note and its parsed document.

    Raises:
        NoteExcluded: the note is excluded by a rule or marked as private.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the note is missing or cannot be read as text.
    """
    _refuse_excluded(root, path, exclude)
    note, document = parse_note(printable(path), read_bytes(root, path))
    if note.is_private:
        raise NoteExcluded(printable(path), PRIVATE)
    return note, document


def read_allowed_image(root: Path, path: str, exclude: Sequence[str] = ()) -> bytes:
    """Read an image that may be given to a model.

    Raises:
        NoteExcluded: a rule excludes the image.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the file is missing or too large.
    """
    return read_allowed_bytes(root, path, IMAGE, exclude)


def read_allowed_bytes(root: Path, path: str, kind: FileKind, exclude: Sequence[str] = ()) -> bytes:
    """Read the bytes of a file that may be given to a model. `kind` sets its largest size.

    Raises:
        NoteExcluded: a rule excludes the file.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the file is missing or too large.
    """
    _refuse_excluded(root, path, exclude)
    return read_bytes(root, path, kind)


def read_unchanged_text(
    root: Path, path: str, version: str, exclude: Sequence[str] = ()
) -> str | None:
    """Return the text of an indexed note that a model may read, or None if the note has changed.

    Markdown is not parsed, which is many times faster.

    Args:
        root: the vault's folder.
        path: the note.
        version: the hash of its content. An indexed version is not private.
        exclude: patterns as in a `.gitignore`.

    Raises:
        NoteExcluded: a rule excludes the note.
        UnsafePath: the path is outside of the vault.
        NoteUnreadable: the note is missing or cannot be read as text.
    """
    kind = find_kind(path)
    if kind not in (MARKDOWN, TEXT):
        note = read_allowed(root, path, exclude)
        return note.text if note.version == version else None
    data = read_allowed_bytes(root, path, kind, exclude)
    if hashlib.sha256(data).hexdigest() != version:
        return None
    return normalize_line_ends(decode_text(data).text)


def _refuse_excluded(root: Path, path: str, exclude: Sequence[str]) -> None:
    """Raise `NoteExcluded` if a rule excludes a path, or the file to which the path resolves."""
    rules = ExcludeRules.load(root, exclude)
    real = resolve_safe_path(root, path).relative_to(root.resolve()).as_posix()
    for name in (path, real):
        if (rule := rules.find_rule_on_path(name)) is not None:
            raise NoteExcluded(printable(path), rule)


def filter_allowed(
    root: Path, known: "Mapping[str, FileRow]", exclude: Sequence[str] = ()
) -> frozenset[str]:
    """Return the indexed notes that a model may read now.

    Only notes that have changed since indexing are read again.

    Args:
        root: the vault's folder.
        known: the file records of the index, keyed by path.
        exclude: patterns as in a `.gitignore`.
    """
    found_files = _scan_known(root, known, exclude)
    return frozenset(
        path
        for path, row in known.items()
        if path in found_files
        and (_is_unchanged(row, found_files[path]) or _is_allowed(root, path, exclude))
    )


def filter_unchanged(
    root: Path, known: "Mapping[str, FileRow]", exclude: Sequence[str] = ()
) -> frozenset[str]:
    """Return the indexed notes that are as they were indexed, and that no rule excludes now.

    No note is read.

    Args:
        root: the vault's folder.
        known: the file records of the index, keyed by path.
        exclude: patterns as in a `.gitignore`.
    """
    found_files = _scan_known(root, known, exclude)
    return frozenset(
        path
        for path, row in known.items()
        if path in found_files and _is_unchanged(row, found_files[path])
    )


def _scan_known(
    root: Path, known: "Mapping[str, FileRow]", exclude: Sequence[str]
) -> "Mapping[str, FileStat]":
    """Return the files of the index that are there and that no rule excludes."""
    return (scan_paths(root, exclude, known) or scan(root, exclude)).files


def _is_unchanged(row: "FileRow", stat: "FileStat") -> bool:
    """Return whether a note is unchanged since it was indexed."""
    return row.state == "indexed" and not row.differs(stat)


def _is_allowed(root: Path, path: str, exclude: Sequence[str]) -> bool:
    try:
        read_allowed(root, path, exclude)
    except VaultError:
        return False
    return True


def find_excluded(
    root: Path,
    paths: Collection[str],
    exclude: Sequence[str] = (),
    list_moves: Callable[[], Mapping[str, str]] = dict[str, str],
) -> frozenset[str]:
    """Return those of the given paths whose notes are excluded or private now.

    A note that is missing counts as moved to where Strata moved it, and to where a note of its name
    is.

    Args:
        root: the folder of the notes.
        paths: the paths relative to the folder, or absolute.
        exclude: patterns as in a `.gitignore`.
        list_moves: returns the present paths of notes that Strata moved, by their earlier paths.
    """
    notes = _CheckedNotes(root, ExcludeRules.load(root, exclude))
    own = {path: path.removeprefix(f"{root}/") for path in paths}
    found = {path for path, place in own.items() if notes.is_excluded(place)}
    missing = {
        path: place.rpartition("/")[2]
        for path, place in own.items()
        if path not in found and notes.is_missing(place)
    }
    if not missing:
        return frozenset(found)
    moves = list_moves()
    found |= {path for path in missing if (to := moves.get(own[path])) and notes.is_excluded(to)}
    namesakes = notes.find_moved({name for name in missing.values() if is_readable_kind(name)})
    return frozenset(found).union(path for path, name in missing.items() if name in namesakes)


class _CheckedNotes:
    """Checks many notes of a folder for rules and marks that exclude them."""

    def __init__(self, root: Path, rules: ExcludeRules) -> None:
        self._root, self._rules = root, rules
        self._base = os.path.realpath(root)
        self._folders: dict[str, str] = {}

    def is_missing(self, path: str) -> bool:
        return not os.path.lexists(os.path.join(self._base, path))

    def is_excluded(self, path: str) -> bool:
        """Return whether a note is excluded or private. If it is missing, only rules decide."""
        if os.path.isabs(path):
            folder, _, name = path.rpartition("/")
            return is_private(Path(folder or "/"), name)
        try:
            real = self._resolve(path)
        except UnsafePath:
            return True
        is_ruled = any(self._rules.find_rule_on_path(name) is not None for name in {path, real})
        return is_ruled or is_private(self._root, real)

    def find_moved(self, names: Collection[str]) -> frozenset[str]:
        """Return those of the given file names that excluded or private notes have."""
        places = self._find_files(names) if names else ()
        return frozenset(path.rpartition("/")[2] for path in places if self.is_excluded(path))

    def _resolve(self, path: str) -> str:
        """Return the path of a file, relative to the folder, with symbolic links resolved.

        Raises:
            UnsafePath: the path leads out of the folder.
        """
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(os.path.join(self._base, folder))
        place = os.path.join(self._folders[folder], name)
        if (
            place.startswith(f"{self._base}/")
            and os.path.isfile(place)
            and not os.path.islink(place)
        ):
            return place.removeprefix(f"{self._base}/")
        return resolve_safe_path(self._root, path).relative_to(self._base).as_posix()

    def _find_files(self, names: Collection[str]) -> Iterator[str]:
        for folder, folders, files in os.walk(self._base):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = os.path.relpath(folder, self._base)
            prefix = "" if below == "." else f"{below}/"
            yield from (f"{prefix}{name}" for name in files if name in names)


def is_private(root: Path, path: str) -> bool:
    """Return whether a file is a note that marks itself as private."""
    stat = read_stat(root, path) if is_readable_kind(path) else None
    return stat is not None and _read_privacy(root, path, stat)


@lru_cache(maxsize=REMEMBERED_NOTES)
def _read_privacy(root: Path, path: str, _stat: FileStat) -> bool:
    """Return whether a note marks itself as private, read once for each state of its file."""
    try:
        data = read_bytes(root, path)
        is_plain = find_kind(path) in (MARKDOWN, TEXT)
        if is_plain and _MAY_BE_PRIVATE.search(data) is None:
            return False  # so that few notes are parsed
        return parse_note(printable(path), data)[0].is_private
    except VaultError:
        return False


def list_allowed_notes(root: Path, folder: str, exclude: Sequence[str] = ()) -> tuple[str, ...]:
    """List all notes in a folder and its subfolders, except excluded ones.

    Args:
        root: the vault's folder.
        folder: the folder, relative to the vault, or an empty string for all notes.
        exclude: patterns as in a `.gitignore`.
    """
    prefix = f"{folder.rstrip('/')}/" if folder.strip("/") else ""
    found = scan(root, exclude).files
    return tuple(sorted(path for path in found if path.startswith(prefix)))


def list_names(root: Path, exclude: Sequence[str] = ()) -> "tuple[NoteState, ...]":
    """List the files in a folder on disk, without reading them, sorted by path.

    This is fast enough to show the names before the index exists.

    Args:
        root: the folder.
        exclude: patterns as in a `.gitignore`.
    """
    from vault.records import NoteState  # loads the catalog, which other callers do without

    found = scan(root, exclude)
    waiting = [NoteState(path, "", "waiting") for path in found.files]
    excluded = [NoteState(path, "", "excluded", rule) for path, rule in found.excluded]
    failed = [NoteState(path, "", "failed", reason) for path, reason in found.failed]
    return tuple(sorted((*waiting, *excluded, *failed), key=lambda note: note.path))
