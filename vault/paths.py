"""Open the file of a note by its path, and never a file outside the vault."""

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from vault.errors import UnsafePath, VaultMissing, VaultUnreadable

_TRIES: Final = 3
_BYTE: Final = re.compile(rb"\\x([89a-f][0-9a-f])")
# Where the system has it, O_PATH: a folder that may be passed through need not be readable.
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
# What systems report for a link where none may be: Linux ELOOP (ENOTDIR for a folder), BSD EMLINK.
_LINK_ERRORS: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})


def check_folder(folder: Path) -> Path:
    """Return the folder's full path.

    Raises:
        VaultMissing: there is no folder there.
        VaultUnreadable: it may not be read.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        next(root.iterdir(), None)
    except NotADirectoryError as error:
        raise VaultMissing(f"{folder} is a file, not a folder of notes.") from error
    except PermissionError as error:
        raise VaultUnreadable(f"The folder {folder} may not be read.") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a home folder that cannot be found
        raise VaultMissing(f"There is no folder at {folder}.") from error
    return root


def safe_path(root: Path, relative: str) -> Path:
    """Return the file that `relative` names, or refuse it when it is not inside the vault.

    Links are followed before the check, so a link to outside is refused as well.

    Args:
        root: the vault's folder.
        relative: a path below it, with `/`.

    Raises:
        UnsafePath: it is absolute, climbs out with `..`, holds a NUL or leads outside by a link.
    """
    return _resolve_inside(root, relative)[1]


def _resolve_inside(root: Path, relative: str) -> tuple[Path, Path]:
    """Return the vault's folder and a file in it, both with all links resolved."""
    shown = printable(relative)
    parts = relative.split("/")
    if not relative or "\0" in relative or relative.startswith("/") or ".." in parts:
        raise UnsafePath(
            f"“{shown}” is not a path inside the vault; name it relative to the vault."
        )
    try:
        base = root.resolve()
        target = (base / name_on_disk(base, relative)).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UnsafePath(f"“{shown}” cannot be followed to a file: {error}.") from error
    if not target.is_relative_to(base):
        raise UnsafePath(f"“{shown}” leads out of the vault; only files inside it are read.")
    return base, target


def open_inside(root: Path, relative: str) -> int:
    """Open a file of the vault for reading, and return its descriptor.

    Links are resolved and checked first. Then each folder is opened in the one above it, following
    no link, so that a file or folder that is replaced by a link meanwhile cannot lead outside.
    A FIFO or a device is opened without waiting; the caller has to look at what it got.

    Args:
        root: the vault's folder.
        relative: a path below it, with `/`.

    Raises:
        UnsafePath: the path leads out of the vault, or did so while it was opened.
        OSError: the file is not there, or may not be opened.
    """
    for _ in range(_TRIES):
        base, target = _resolve_inside(root, relative)
        with suppress(_Replaced):
            return _open_below(base, target)
    raise UnsafePath(
        f"“{printable(relative)}” was replaced by a link while it was opened; it is not read."
    )


class _Replaced(Exception):
    """A part of a path became a link, or stopped being a folder, while it was opened."""


def _open_below(base: Path, target: Path) -> int:
    """Open a file below a folder without following a link in any part of the path between them."""
    *folders, name = target.relative_to(base).parts or (".",)
    folder = os.open(base, _FOLDER)
    try:
        for part in folders:
            inner = _open_part(part, _FOLDER, folder)
            os.close(folder)
            folder = inner
        return _open_part(name, _FILE, folder)
    finally:
        os.close(folder)


def _open_part(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _LINK_ERRORS and not _is_file(name, folder):
            raise _Replaced from error
        raise


def _is_file(name: str, folder: int) -> bool:
    """Return whether a name is that of an ordinary file."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def is_text_name(name: str) -> bool:
    """Return whether a file name is valid Unicode, so that it can be shown, stored and cited."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Return a path that can always be written as UTF-8: foreign bytes appear as `\xff`."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair that stands for no byte: no file's name
        return path.encode("utf-8", "backslashreplace").decode("utf-8")


def name_on_disk(root: Path, path: str) -> str:
    """Return the name of a file whose path was made `printable`; any other path as it is."""
    if _BYTE.search(path.encode("utf-8", "replace")) is None or os.path.lexists(root / path):
        return path
    data = os.fsencode(path)
    meant = os.fsdecode(_BYTE.sub(lambda match: bytes([int(match[1], 16)]), data))
    is_there = "\0" not in meant and printable(meant) == path and os.path.lexists(root / meant)
    return meant if is_there else path
