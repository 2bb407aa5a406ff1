"""Crash-safe file writes and file locks."""

import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Past the end of any file, since a lock on Windows would keep readers from the locked byte.
_LOCKED_BYTE = 1 << 40
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)  # not defined on Windows
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
# The file names that `tempfile` makes from the prefix in `write_atomically`.
_TEMPORARY: Final = re.compile(r"\..+\.[a-z0-9_]{8}")
_BEING_MADE_S: Final = 60.0
_LOCK_CHECK_S: Final = 0.01


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content atomically, and flush it to disk.

    If the file is a symbolic link, its target is replaced. Only the owner can read a new file.

    Raises:
        OSError: the file could not be written. The old content is unchanged.
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
            if sys.platform != "win32":  # an open file cannot be renamed there
                _take_place(Path(name), target)
        if sys.platform == "win32":
            _take_place(Path(name), target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it may be renamed already
            Path(name).unlink()
        raise
    sync_folder(target.parent)


def _take_place(new: Path, target: Path) -> None:
    if target.exists():
        new.chmod(target.stat().st_mode & 0o777)
    new.replace(target)


@contextlib.contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets the name `path` when it is complete and flushed to disk.

    Only its owner can read it. A kill leaves at most a temporary file that nothing reads.

    Raises:
        FileExistsError: the name is taken, now or when the file is complete. It stays as it is.
        OSError: the file could not be written. Nothing has the name.
    """
    taken = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if os.path.lexists(path):
        raise taken
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(handle)
        try:
            os.link(name, path)
        except FileExistsError:
            raise taken from None
        except OSError:  # a file system without hard links
            Path(name).replace(path)
        sync_folder(path.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def create_file(path: Path, content: bytes) -> None:
    """Create a file with a content, as `open_new` does."""
    with open_new(path) as file:
        file.write(content)


def remove_leftovers(folder: Path, targets: frozenset[str] | None = None) -> None:
    """Remove temporary files that killed processes left behind.

    Temporary files of running processes are locked, and therefore kept. Files that cannot be
    removed are kept too.

    Args:
        folder: the folder, which need not exist.
        targets: the names of the files that the temporary ones were to replace, or None for all.
    """
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            target = entry.name[1:-9]
            is_ours = _TEMPORARY.fullmatch(entry.name) and (targets is None or target in targets)
            if is_ours and _is_left(Path(entry.path)):
                Path(entry.path).unlink(missing_ok=True)


def _is_left(file: Path) -> bool:
    try:
        handle = open_file(file, os.O_RDWR)
    except OSError:
        return False
    try:
        info = os.fstat(handle)
        if info.st_size == 0 and time.time() - info.st_mtime < _BEING_MADE_S:
            return False  # perhaps just created and not yet locked
        lock(handle)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def open_file(path: Path, flags: int) -> int:
    """Open a regular file and return its descriptor. Symbolic links are refused.

    Only the owner can read a file that this creates, if the flags contain `O_CREAT`.

    Raises:
        OSError: the file cannot be opened, or is not a regular file.
    """
    handle = os.open(path, flags | _NO_LINK | _NO_WAIT, 0o600)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return handle


def read_file(path: Path, max_bytes: int = -1) -> bytes:
    """Read a regular file. Symbolic links are followed.

    Args:
        path: the file.
        max_bytes: how much of the file to read, or -1 for all of it.

    Raises:
        OSError: the file cannot be read, or it is a folder, a FIFO or a device.
    """
    with os.fdopen(open_file(Path(os.path.realpath(path)), os.O_RDONLY), "rb") as file:
        return file.read(max_bytes)


def sync_folder(folder: Path) -> None:
    """Flush a folder to disk. Do nothing on Windows, which does not support this."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Take an exclusive lock on an open file without waiting.

    The lock belongs to the file descriptor, so it also excludes other descriptors in the same
    process. It is released when the file is closed or the process ends.

    Raises:
        BlockingIOError: the file is already locked.
        OSError: the file system does not support locks.
    """
    if sys.platform == "win32":
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def lock_folder(folder: Path, timeout_s: float = 10.0) -> Iterator[None]:
    """Hold an exclusive lock on a folder, waiting for other processes that hold it.

    Nothing is locked on Windows, or on a file system that does not support locks. Processes that do
    not lock the folder can still use its files.

    Raises:
        TimeoutError: another process has held the lock for too long.
        OSError: the folder cannot be opened.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(LocksUnsupported):
            acquire_lock(handle, folder, timeout_s)
        yield
    finally:
        os.close(handle)


class LocksUnsupported(OSError):
    """The file system does not support locks."""


def acquire_lock(handle: int, path: Path, timeout_s: float) -> None:
    """Lock an open file or folder exclusively, waiting while another process holds the lock.

    Args:
        handle: the descriptor of the open file or folder.
        path: its path, for the error message.
        timeout_s: the longest wait in seconds.

    Raises:
        TimeoutError: another process has held the lock for too long.
        LocksUnsupported: the file system does not support locks.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return lock(handle)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                said = "another process has been using it for too long"
                raise TimeoutError(errno.ETIMEDOUT, said, str(path)) from error
            time.sleep(_LOCK_CHECK_S)
        except OSError as error:
            raise LocksUnsupported(*error.args) from error


def write_all(handle: int, content: bytes) -> None:
    """Write all content to an open file, using a single system call if possible.

    Raises:
        OSError: the content could not be written completely.
    """
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def write_synced(handle: int, content: bytes) -> None:
    """Append content completely or not at all, and flush it to disk.

    Raises:
        OSError: the content could not be written. The file's length was restored.
    """
    size = os.fstat(handle).st_size
    try:
        write_all(handle, content)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def create_synced(path: Path, content: bytes) -> int:
    """Create a locked file with initial content, flush it, and return its descriptor.

    The file gets its name only when it is complete. A crash leaves at most a file named
    `<name>.new`.

    Raises:
        FileExistsError: the file exists, or is being created.
        OSError: the file could not be created. No partial file is left.
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
    """Replace a file atomically with a locked one, and return its descriptor.

    A crash may leave a file named `<name>.new`.

    Raises:
        OSError: the file could not be replaced.
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
