"""Create, replace, move and remove note files without leaving partial files after a crash.

Before a file is replaced, moved or removed, its content is compared with the expected content.
Paths are relative to the vault. Folders are opened without following symbolic links.
"""

import errno
import os
import posixpath
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from resources.system import calls
from resources.system.calls import Folder
from resources.system.files import write_all
from resources.system.names import (
    MOST_NAME_BYTES,
    MOST_PATH_BYTES,
    fold_name,
    is_reserved_name,
)
from vault.errors import EditFailed, EditOutdated, EditRefused, UnsafePath
from vault.notes.kinds import MARKDOWN, TEXT
from vault.paths import open_folder_inside, printable, require_inside

__all__ = [
    "NOTE_SUFFIXES",
    "check_name",
    "convert_errors",
    "create_file",
    "find_missing_folders",
    "flush_folder",
    "has_temporary",
    "move_file",
    "read_file",
    "remove_file",
    "remove_folders",
    "remove_temporary",
    "replace_file",
]

NOTE_SUFFIXES: Final = MARKDOWN.suffixes + TEXT.suffixes
_NOT_IN_NAMES: Final = '[]#^|\\:*?"<>'
# They let the rest of a name be shown in another order: `\u202edm.exe` looks like `exe.md`.
_OVERRIDES: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NO_HARD_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def read_file(root: Path, path: str) -> bytes | None:
    """Return a file's content, or None if the file does not exist.

    Raises:
        EditFailed: the file is not a regular file, or cannot be read.
        UnsafePath: a component of the path is a symbolic link.
    """
    try:
        with _open_parent(root, path) as (folder, name):
            return _read(folder, name, path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _build_error("read", path, error) from error


def replace_file(root: Path, path: str, before: bytes, after: bytes, temporary: str) -> None:
    """Replace the content of a file, keeping the file's permissions.

    Args:
        root: the vault's folder.
        path: the file's path.
        before: the expected current content.
        after: the new content.
        temporary: the name to use for a temporary file in the same folder.

    Raises:
        EditOutdated: the current content differs from `before`.
        EditFailed: the new content could not be written, and the file is unchanged; or it could
            not be flushed, and the file has it.
    """
    with convert_errors(path), _open_parent(root, path) as (folder, name):
        _check_content(folder, name, path, before)
        info = folder.stat(name)
        os.close(folder.open_file(name, os.O_WRONLY))  # its error says why a file is read-only
        with _write_temporary(folder, temporary, after, stat.S_IMODE(info.st_mode)):
            _check_content(folder, name, path, before)
            folder.rename(temporary, folder, name)
        _sync(folder)


def create_file(root: Path, path: str, after: bytes, temporary: str) -> None:
    """Create a file and any missing folders in its path.

    Args:
        root: the vault's folder.
        path: the file's path.
        after: the content of the file.
        temporary: the name to use for a temporary file in the same folder.

    Raises:
        EditOutdated: the file already exists.
        EditFailed: the file could not be created; or it could not be flushed, and is there.
    """
    with convert_errors(path):
        _create_folders(root, path)
        with _open_parent(root, path) as (folder, name):
            with _write_temporary(folder, temporary, after, None):
                _give_name(folder, temporary, folder, name, path)
            _sync(folder)


def move_file(root: Path, path: str, to: str, content: bytes) -> None:
    """Move a file to an unused path, and create any missing folders in the new path.

    A move that was interrupted halfway is completed.

    Args:
        root: the vault's folder.
        path: the current path of the file.
        to: the new path.
        content: the expected content of the file.

    Raises:
        EditOutdated: the content has changed, or the new path already exists.
        EditFailed: the file could not be moved.
    """
    with convert_errors(path):
        _create_folders(root, to)
        with (
            _open_parent(root, path) as (folder, name),
            _open_parent(root, to) as (new_folder, new_name),
        ):
            _check_content(folder, name, path, content)
            if _is_one_name(folder, name, new_folder, new_name):
                folder.rename(name, new_folder, new_name)
            else:
                if not _is_same_file(folder, name, new_folder, new_name):
                    _give_name(folder, name, new_folder, new_name, to)
                _sync(new_folder)
            if _has_two_names(folder, name, new_folder, new_name):
                folder.remove_file(name)
            _sync(folder)


def remove_file(root: Path, path: str, before: bytes) -> None:
    """Remove a file if it still has the expected content.

    Raises:
        EditOutdated: the content has changed.
        EditFailed: the file could not be removed.
    """
    with convert_errors(path), _open_parent(root, path) as (folder, name):
        _check_content(folder, name, path, before)
        folder.remove_file(name)
        _sync(folder)


def find_missing_folders(root: Path, path: str) -> tuple[str, ...]:
    """Return the folders above a file that do not exist, outermost first."""
    parts = path.split("/")[:-1]
    above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return tuple(folder for folder in above if not os.path.lexists(root / folder))


def remove_folders(root: Path, folders: Sequence[str]) -> None:
    """Remove the given folders, except those that are not empty.

    Args:
        root: the vault's folder.
        folders: the folders, each before its subfolders.
    """
    for path in reversed(folders):
        with suppress(OSError, UnsafePath), _open_parent(root, path) as (folder, name):
            folder.remove_folder(name)


def remove_temporary(root: Path, path: str, temporary: str) -> bool:
    """Remove the temporary file that an edit may have left in a note's folder.

    Return whether it is gone for good. One that was removed before may be back after a power
    failure, when nobody looks for it. So the folder is flushed in any case, or the one above it if
    it was removed too.

    Args:
        root: the vault's folder.
        path: the path of the note.
        temporary: the name of the temporary file.
    """
    try:
        with _open_parent(root, path) as (folder, _):
            with suppress(FileNotFoundError):
                folder.remove_file(temporary)
            _sync(folder)
    except (FileNotFoundError, NotADirectoryError):  # a file may be in its place
        return _flush_above(root, posixpath.dirname(path))
    except UnsafePath:  # there is a link in its place
        return True
    except OSError:
        return False
    return True


def flush_folder(root: Path, path: str) -> None:
    """Flush a folder, or the nearest one above it that is there.

    What was changed or removed in it before, by who could not flush it, is then so for good.

    Args:
        root: the vault's folder.
        path: the path of the folder, empty for the vault's folder.

    Raises:
        EditFailed: the folder could not be flushed.
    """
    with convert_errors(path), suppress(UnsafePath):  # there is a link in its place
        _sync_nearest(root, path)


def _flush_above(root: Path, path: str) -> bool:
    """Flush the nearest folder that is there above a removed one, and return whether it succeeds.

    Otherwise, the removed folder may come back after a power failure, with what was in it.
    """
    try:
        _sync_nearest(root, path)
    except (OSError, UnsafePath):
        return False
    return True


def _sync_nearest(root: Path, path: str) -> None:
    for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
        with suppress(FileNotFoundError, NotADirectoryError):
            with _open_parent(root, str(folder / "_")) as (nearest, _):
                _sync(nearest)
            return


def has_temporary(root: Path, path: str, temporary: str) -> bool:
    """Return whether a temporary file is left in a note's folder. The arguments are as above."""
    with suppress(OSError, UnsafePath), _open_parent(root, path) as (folder, _):
        folder.stat(temporary)
        return True
    return False


@contextmanager
def _open_parent(root: Path, path: str) -> Iterator[tuple[Folder, str]]:
    require_inside(path)
    above, _, name = path.rpartition("/")
    with open_folder_inside(root, above) as folder:
        yield folder, name


@contextmanager
def convert_errors(path: str) -> Iterator[None]:
    """Convert operating system errors in a `with` block to `EditFailed`."""
    try:
        yield
    except OSError as error:
        raise _build_error("written", path, error) from error


def _build_error(verb: str, path: str, error: OSError) -> EditFailed:
    shown = printable(path)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            reason = "the disk is full. Free some space and try again"
        case errno.EROFS:
            reason = "its disk can only be read"
        case errno.EACCES | errno.EPERM:
            reason = "permission denied. Change the permissions of the file and its folder"
        case errno.ENAMETOOLONG:
            reason = "its name is too long. Choose a shorter one"
        case _:
            reason = (error.strerror or str(error)).lower()
    return EditFailed(f"{shown} cannot be {verb}: {reason}.")


def _read(folder: Folder, name: str, path: str) -> bytes | None:
    try:
        descriptor = folder.open_file(name, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise EditFailed(f"{printable(path)} is not a file.")
        return file.read()


def _check_content(folder: Folder, name: str, path: str, content: bytes) -> None:
    if _read(folder, name, path) != content:
        raise EditOutdated(printable(path))


@contextmanager
def _write_temporary(
    folder: Folder, temporary: str, content: bytes, mode: int | None
) -> Iterator[None]:
    """Write a temporary file that the caller renames within the `with` block.

    If the file was not renamed, it is removed at the end of the block. It stays if it cannot be
    removed, which is no reason to let the edit fail.

    Args:
        temporary: the name of the file.
        content: the content of the file.
        mode: the permissions of the file, or None for the default.
    """
    permissions = 0o666 if mode is None else 0o600
    descriptor = folder.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions)
    try:
        try:
            write_all(descriptor, content)
            if mode is not None:
                calls.set_permissions(descriptor, mode)
            calls.sync_file(descriptor)
        finally:
            os.close(descriptor)
        yield
    finally:
        with suppress(OSError):  # the next edit or start tries again: see `has_temporary`
            folder.remove_file(temporary)


def _give_name(folder: Folder, name: str, new_folder: Folder, new_name: str, path: str) -> None:
    """Give a file a new name by adding a hard link, so that no existing file is replaced.

    Without hard links, the file is renamed after a check.

    Args:
        name: the current name.
        path: the new path, for the error message.

    Raises:
        EditOutdated: there is already a file with the new name.
    """
    try:
        folder.add_name(name, new_folder, new_name)
    except FileExistsError as error:
        raise EditOutdated(printable(path)) from error
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with suppress(FileNotFoundError):
            new_folder.stat(new_name)
            raise EditOutdated(printable(path)) from error
        folder.rename(name, new_folder, new_name)


def _is_same_file(folder: Folder, name: str, new_folder: Folder, new_name: str) -> bool:
    try:
        return os.path.samestat(
            folder.stat(name),
            new_folder.stat(new_name),
        )
    except FileNotFoundError:
        return False


def _is_one_name(folder: Folder, name: str, new_folder: Folder, new_name: str) -> bool:
    is_same = _is_same_file(folder, name, new_folder, new_name)
    return is_same and not _are_two_entries(folder, name, new_folder, new_name)


def _has_two_names(folder: Folder, name: str, new_folder: Folder, new_name: str) -> bool:
    is_same = _is_same_file(folder, name, new_folder, new_name)
    return is_same and _are_two_entries(folder, name, new_folder, new_name)


def _are_two_entries(folder: Folder, name: str, new_folder: Folder, new_name: str) -> bool:
    """Return whether two names of a file are two entries, and not two ways to write one."""
    if not os.path.samestat(folder.stat("."), new_folder.stat(".")):
        return True
    names = folder.list_names()
    return _find_entry(names, name) != _find_entry(names, new_name)


def _find_entry(names: Sequence[str], name: str) -> str:
    """Return the entry of a folder that a name stands for. macOS and Windows may store another."""
    if name in names:
        return name
    return next((other for other in names if fold_name(other) == fold_name(name)), name)


def _create_folders(root: Path, path: str) -> None:
    require_inside(path)
    for missing in find_missing_folders(root, path):
        with _open_parent(root, missing) as (folder, name), suppress(FileExistsError):
            folder.make_folder(name)
            _sync(folder)


def _sync(folder: Folder) -> None:
    """Flush a folder to disk. Do nothing if the folder is not readable."""
    with suppress(PermissionError):
        folder.sync()


def check_name(
    path: str, folders: Sequence[str], suffixes: tuple[str, ...] = NOTE_SUFFIXES
) -> None:
    """Check that the names of a new note and its new folders can be used on every system.

    Args:
        path: the path of the new note.
        folders: the folders that have to be created for it.
        suffixes: the suffixes that the path may have.

    Raises:
        EditRefused: a name is not allowed on every system, or cannot be used in a link.
    """
    shown = printable(path)
    if len(os.fsencode(path)) > MOST_PATH_BYTES:
        raise EditRefused(f"The path {shown} is too long. Choose a shorter one.")
    if not path.lower().endswith(suffixes):
        raise EditRefused(f"{shown} is not the name of a note. End it with .md or .txt.")
    for name in map(posixpath.basename, (*folders, path)):
        stem = name if name != posixpath.basename(path) else posixpath.splitext(name)[0]
        if unfit := next((c for c in name if c in _NOT_IN_NAMES or not _is_shown(c)), None):
            sign = unfit if _is_shown(unfit) else f"U+{ord(unfit):04X}"
            raise EditRefused(f"{shown}: the name of a note cannot contain {sign}. Leave it out.")
        if name.endswith("."):
            raise EditRefused(f"“{shown}”: a name cannot end with a dot. Leave it out.")
        if is_reserved_name(name):
            raise EditRefused(f"“{shown}”: Windows reserves the name {stem}. Choose another one.")
        if not stem or stem != stem.strip():
            raise EditRefused(f"“{shown}” begins or ends with a blank. Leave it out.")
        if len(os.fsencode(name)) > MOST_NAME_BYTES:
            raise EditRefused(f"The name {shown} is too long. Choose a shorter one.")


def _is_shown(sign: str) -> bool:
    """Return whether a character shows in a name, and does not make it look like another name.

    Joiners and marks, which the spelling of some languages needs, are allowed.
    """
    return unicodedata.category(sign) not in ("Cc", "Cs", "Zl", "Zp") and sign not in _OVERRIDES
