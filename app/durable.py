"""Writes that survive a crash, and locks that a crash lets go of."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Beyond anything that is ever written, so that a lock on Windows keeps no reader out.
_LOCKED_BYTE = 1 << 40


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
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            Path(name).chmod(target.stat().st_mode & 0o777)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it may have become the target already
            Path(name).unlink()
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, as far as the system knows how to."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Take the one lock on an open file, and return whether it was free.

    It belongs to the open file, so a second opening in the same process finds it taken too, and it
    ends with the file or the process, however that ends.
    """
    try:
        if sys.platform == "win32":
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
