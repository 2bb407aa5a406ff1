"""Open files in the vault safely, rejecting paths outside of it."""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from resources.system.calls import SYSTEM, Folder
from resources.system.names import find_windows_problem
from vault.errors import UnsafePath, VaultMissing, VaultUnreadable

_TRIES: Final = 3
_OBSIDIAN: Final = ".obsidian"  # the folder of settings in each vault of Obsidian
_BYTE: Final = re.compile(rb"\\x([89a-f][0-9a-f])")
# The errors for a link that is not followed: ELOOP on Linux (ENOTDIR for a folder), EMLINK on BSD.
_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})


def check_folder(folder: Path) -> Path:
    """Return a folder's absolute path, and check that it is readable.

    Raises:
        VaultMissing: the folder does not exist.
        VaultUnreadable: the folder cannot be read because of its permissions.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        next(root.iterdir(), None)
    except NotADirectoryError as error:
        raise VaultMissing(f"{folder} is a file, not a folder of notes.") from error
    except PermissionError as error:
        raise VaultUnreadable(f"Permission denied: {folder}") from error
    except (OSError, RuntimeError, ValueError) as error:  # no home folder, or a NUL in the name
        raise VaultMissing(f"There is no folder at {folder}.") from error
    return root


def identify_folder(folder: str | Path) -> str:
    """Return the device and inode number of a folder, or an empty string if it is not there."""
    try:
        found = os.stat(folder)
    except (OSError, ValueError):
        return ""
    return f"{found.st_dev}:{found.st_ino}" if stat.S_ISDIR(found.st_mode) else ""


def locate_note(file: Path, vault: Path | None) -> tuple[Path | None, str]:
    """Return the vault in which to open a file, and the path of the file as notes are named there.

    A file in the given vault is opened there, and a file in another vault of Obsidian in that one.
    For any other file, the vault is None and the path is absolute: no folder is made a vault just
    because a file in it is opened.

    Args:
        file: the path of an existing file.
        vault: the vault that is open, or None.
    """
    whole = file.expanduser().resolve()
    if vault is not None and whole.is_relative_to(root := vault.expanduser().resolve()):
        return root, whole.relative_to(root).as_posix()
    for folder in whole.parents:
        if (folder / _OBSIDIAN).is_dir():
            return folder, whole.relative_to(folder).as_posix()
    return None, str(whole)


def resolve_safe_path(root: Path, relative: str) -> Path:
    """Return the absolute path of a file in the vault.

    Symbolic links are resolved before the check.

    Args:
        root: the vault's folder.
        relative: the relative path, with `/` separators.

    Raises:
        UnsafePath: the path is absolute, contains NUL, or is outside of the vault.
    """
    return _resolve_inside(root, relative)[1]


def require_inside(relative: str) -> None:
    """Check that a path is one below a folder for this system, without looking at the disk.

    Raises:
        UnsafePath: the path is empty or absolute, leads to a folder above, or Windows reads it in
            another way.
    """
    if not relative or "\0" in relative or _leads_elsewhere(relative):
        raise UnsafePath(
            f"“{printable(relative)}” is not a path inside the vault; name it relative to the "
            "vault."
        )


def _resolve_inside(root: Path, relative: str) -> tuple[Path, Path]:
    """Return the vault's folder and a file in it, with symbolic links resolved.

    Raises:
        UnsafePath: the path is not valid, or leads out of the vault.
    """
    require_inside(relative)
    shown = printable(relative)
    try:
        base = root.resolve()
        target = (base / name_on_disk(base, relative)).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise UnsafePath(f"“{shown}” cannot be followed to a file: {reason}.") from error
    if not target.is_relative_to(base):
        raise UnsafePath(f"“{shown}” leads out of the vault; only files inside it are read.")
    return base, target


def _leads_elsewhere(relative: str) -> bool:
    """Return whether a path is absolute, or leads to a folder above."""
    if SYSTEM == "windows":
        return find_windows_problem(relative) is not None
    return relative.startswith("/") or ".." in relative.split("/")


def open_inside(root: Path, relative: str) -> int:
    """Open a file in the vault for reading, and return its file descriptor.

    After the path is checked, each folder is opened relative to its parent without following
    symbolic links, so that replacing a folder with a link cannot lead outside. FIFOs and devices
    are opened without blocking. The caller must check the file type.

    Args:
        root: the vault's folder.
        relative: the relative path, with `/` separators.

    Raises:
        UnsafePath: the path is outside of the vault, or changed while it was opened.
        OSError: the file does not exist or cannot be opened.
    """
    for _ in range(_TRIES):
        base, target = _resolve_inside(root, relative)
        with suppress(_Replaced):
            return _open_below(base, target)
    raise UnsafePath(
        f"“{printable(relative)}” was replaced by a link while it was opened; it is not read."
    )


class _Replaced(Exception):
    """Raised if a path component was replaced by a symbolic link, or is no longer a folder."""


def open_folder_inside(root: Path, relative: str) -> Folder:
    """Open a folder in the vault without following symbolic links.

    Args:
        root: the vault's folder.
        relative: the relative path, or an empty string for `root` itself.

    Raises:
        UnsafePath: a path component is a symbolic link, or not a folder.
        OSError: the folder does not exist or cannot be opened.
    """
    try:
        return _open_folder(root.resolve(), [part for part in relative.split("/") if part])
    except _Replaced as error:
        raise UnsafePath(f"“{printable(relative)}” is not a folder inside the vault.") from error


def _open_below(base: Path, target: Path) -> int:
    *folders, name = target.relative_to(base).parts or (".",)
    with _open_folder(base, folders) as folder, _convert_links(folder, name):
        return folder.open_file(name, os.O_RDONLY)


def _open_folder(base: Path, parts: Sequence[str]) -> Folder:
    folder = Folder.open(base)
    for part in parts:
        with folder, _convert_links(folder, part):
            inner = folder.open_folder(part)
        folder = inner
    return folder


@contextmanager
def _convert_links(folder: Folder, name: str) -> Iterator[None]:
    """Raise `_Replaced` if a file cannot be opened because a link or folder has replaced it."""
    try:
        yield
    except OSError as error:
        if error.errno in _LINK_ERRORS and not _is_file(folder, name):
            raise _Replaced from error
        raise


def _is_file(folder: Folder, name: str) -> bool:
    try:
        return stat.S_ISREG(folder.stat(name).st_mode)
    except OSError:
        return False


def is_text_name(name: str) -> bool:
    """Return whether a file name can be encoded as UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Return a path in which each byte that is not valid UTF-8 is written as `\xff`."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that encodes no byte, so no file's name
        return path.encode("utf-8", "backslashreplace").decode("utf-8")


def name_on_disk(root: Path, path: str) -> str:
    """Return the path on disk for a path in which `printable` may have escaped bytes.

    A path without escaped bytes, or with no such file on disk, is returned unchanged.

    Args:
        root: the vault's folder.
        path: the path as returned by `printable`, relative to `root`.
    """
    if _BYTE.search(path.encode("utf-8", "replace")) is None or os.path.lexists(root / path):
        return path
    data = os.fsencode(path)
    meant = os.fsdecode(_BYTE.sub(lambda match: bytes([int(match[1], 16)]), data))
    is_there = "\0" not in meant and printable(meant) == path and os.path.lexists(root / meant)
    return meant if is_there else path
