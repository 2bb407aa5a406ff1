"""Writes that survive a crash, and locks that a crash lets go of."""

import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Beyond anything that is ever written, so that a lock on Windows keeps no reader out.
_LOCKED_BYTE = 1 << 40
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)  # Windows has none of these
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
# What `tempfile` makes of the prefix that `write_atomically` gives it.
_TEMPORARY: Final = re.compile(r"\..+\.[a-z0-9_]{8}")
_BEING_MADE_S: Final = 60.0


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content so that a crash leaves the old or the new one, whole and on disk.

    A link is followed: what it points at is replaced. A new file is open to its owner alone.

    Raises:
        OSError: the file could not be written; the old content is untouched.
    """
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with contextlib.suppress(OSError):  # a file system without locks
                lock(handle)  # tells `remove_leftovers` that the file is in use
            file.write(content)
            file.flush()
            os.fsync(handle)
            if sys.platform != "win32":  # there an open file cannot take another name
                _take_place(Path(name), target)
        if sys.platform == "win32":
            _take_place(Path(name), target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it may have become the target already
            Path(name).unlink()
        raise
    sync_folder(target.parent)


def _take_place(new: Path, target: Path) -> None:
    if target.exists():
        new.chmod(target.stat().st_mode & 0o777)
    new.replace(target)


def remove_leftovers(folder: Path, targets: frozenset[str] | None = None) -> None:
    """Remove the temporary files of `write_atomically` that a killed process left in a folder.

    A file whose writer is still alive is locked and stays; so does one that cannot be removed.

    Args:
        folder: need not exist.
        targets: names of the files that are written there; None for any name.
    """
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            target = entry.name[1:-9]
            is_ours = _TEMPORARY.fullmatch(entry.name) and (targets is None or target in targets)
            if is_ours and _is_left(Path(entry.path)):
                Path(entry.path).unlink(missing_ok=True)


def _is_left(file: Path) -> bool:
    """Return whether no process writes a temporary file any more."""
    try:
        handle = open_file(file, os.O_RDWR)
    except OSError:
        return False
    try:
        info = os.fstat(handle)
        if info.st_size == 0 and time.time() - info.st_mtime < _BEING_MADE_S:
            return False  # perhaps just made, and not yet locked
        lock(handle)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def open_file(path: Path, flags: int) -> int:
    """Open an ordinary file without following a link in its name, and return its descriptor.

    Raises:
        OSError: it cannot be opened, or is a link or something else than a file.
    """
    handle = os.open(path, flags | _NO_LINK | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return handle


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk, as far as the system can."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Take the one lock on an open file.

    It belongs to the open file, so a second opening in the same process finds it taken too, and it
    ends with the file or the process, however that ends.

    Raises:
        BlockingIOError: the lock is taken.
    """
    if sys.platform == "win32":
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_all(handle: int, content: bytes) -> None:
    """Write all of `content`, in one write wherever the system takes it in one.

    Raises:
        OSError: not all of it could be written.
    """
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def write_synced(handle: int, content: bytes) -> None:
    """Append to an open file and return once that is on the disk; all of it or nothing.

    Raises:
        OSError: it could not be written; the file is as long as it was.
    """
    size = os.fstat(handle).st_size
    try:
        write_all(handle, content)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def create_synced(path: Path, content: bytes) -> int:
    """Make a file with its first content, locked, and return it open once it is on the disk.

    It has its name only when it is whole: a crash leaves at most `<name>.new` beside it.

    Raises:
        FileExistsError: there is one of that name, or one is being made.
        OSError: it could not be made; nothing of it is left.
    """
    if path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    try:
        return _put(path, content)
    except FileExistsError:
        raise
    except OSError:
        path.unlink(missing_ok=True)
        raise


def replace_synced(path: Path, content: bytes) -> int:
    """Put a new file in the place of another, locked, and return it open once it is on the disk.

    A crash leaves the old one or the new one, whole, and at most `<name>.new` beside it.

    Raises:
        OSError: it could not be done.
    """
    path.with_name(f"{path.name}.new").unlink(missing_ok=True)
    return _put(path, content)


def _put(path: Path, content: bytes) -> int:
    new = path.with_name(f"{path.name}.new")
    handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    try:
        lock(handle)
        write_all(handle, content)
        os.fsync(handle)
        new.replace(path)
        sync_folder(path.parent)
    except BaseException:
        os.close(handle)
        new.unlink(missing_ok=True)
        raise
    return handle
