"""Safe files: what is written is on the disk and whole, after a crash too.

A file is replaced by renaming a new one, or appended to completely or not at all. Links are not
followed, and only the owner can read what is created here.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, Literal

from resources.system import calls
from resources.system.names import fold_name

__all__ = [
    "FileUse",
    "LocksUnsupported",
    "acquire_lock",
    "append_synced",
    "create_empty",
    "create_file",
    "create_synced",
    "find_use",
    "flush_file",
    "lock_folder",
    "make_private_folder",
    "open_file",
    "open_new",
    "probe_space",
    "put_aside",
    "read_file",
    "remove_if_there",
    "remove_leftovers",
    "remove_synced",
    "remove_tree",
    "replace_synced",
    "write_all",
    "write_atomically",
    "write_synced",
]

# The file names that `write_atomically` makes.
_TEMPORARY: Final = re.compile(r"\..+\.[a-z0-9_]{8}")
_BEING_MADE_S: Final = 60.0
_LOCK_CHECK_S: Final = 0.01
_NOT_FLUSHED: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EROFS}
)
# The folders whose names are surely on the disk, since this process has flushed their parents.
_flushed: set[str] = set()
# "left" by a process that has ended, or "unknown": the file system has no locks, for example.
FileUse = Literal["used", "left", "unknown"]


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content atomically, and flush it to disk.

    If the file is a symbolic link, its target is replaced. Only the owner can read a new file.

    Raises:
        OSError: the file could not be written. The old content is unchanged.
    """
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    handle = calls.open_file(new, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            calls.lock_file(handle)  # tells `remove_leftovers` that the file is in use
        write_all(handle, content)
        if calls.is_there(target):
            mode = os.stat(calls.extend_path(target)).st_mode
            calls.set_permissions(handle, mode & 0o777)
        calls.sync_file(handle)
        calls.rename_open_file(handle, new, target)
    except BaseException:
        os.close(handle)
        remove_if_there(new)  # it may be renamed already
        raise
    os.close(handle)
    calls.sync_folder(target.parent)


@contextlib.contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets the name `path` when it is complete and flushed to disk.

    Only its owner can read it. A kill leaves at most a temporary file that nothing reads.

    Raises:
        FileExistsError: the name is taken, now or when the file is complete. It stays as it is.
        OSError: the file could not be written. Nothing has the name.
    """
    taken = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if calls.is_there(path):
        raise taken
    new = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    handle = calls.open_file(new, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "w+b") as file:
            with contextlib.suppress(OSError):  # a file system without locks
                calls.lock_file(handle)  # tells `remove_leftovers` that the file is in use
            yield file
            file.flush()
            calls.sync_file(handle)
            try:
                calls.add_name(new, path)
            except FileExistsError:
                raise taken from None
            except OSError:  # a file system without hard links
                calls.rename_open_file(handle, new, path)
        calls.sync_folder(path.parent)
    finally:
        remove_if_there(new)


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
    wanted = None if targets is None else set(map(fold_name, targets))  # as macOS may store it
    with contextlib.suppress(OSError):
        for entry in calls.list_entries(folder):
            target = fold_name(entry.name[1:-9])
            is_ours = _TEMPORARY.fullmatch(entry.name) and (wanted is None or target in wanted)
            if is_ours and find_use(Path(entry.path)) == "left":
                remove_if_there(Path(entry.path))


def find_use(file: Path) -> FileUse:
    """Return whether the process that writes a locked file still runs.

    Returns:
        "used" if the file is locked, or so new and empty that it is probably not locked yet. "left"
        if its process has ended. "unknown" if the file cannot be opened or locked.
    """
    try:
        handle = open_file(file, os.O_RDWR)
    except OSError:
        return "unknown"
    try:
        info = os.fstat(handle)
        if info.st_size == 0 and time.time() - info.st_mtime < _BEING_MADE_S:
            return "used"
        calls.lock_file(handle)
    except BlockingIOError:
        return "used"
    except OSError:  # a file system without locks
        return "unknown"
    finally:
        os.close(handle)
    return "left"


def open_file(path: Path, flags: int) -> int:
    """Open a regular file and return its descriptor. Symbolic links are refused.

    Only the owner can read a file that this creates, if the flags contain `O_CREAT`.

    Raises:
        OSError: the file cannot be opened, or is not a regular file.
    """
    handle = calls.open_file(path, flags)
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
    target = Path(os.path.realpath(path)) if os.path.islink(path) else path
    with os.fdopen(open_file(target, os.O_RDONLY), "rb") as file:
        return file.read(max_bytes)


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, so that only the owner can access them.

    A folder that is there already may have been made by a process that was killed before its name
    was on the disk. So the parent of each folder is flushed once in each process.

    Raises:
        OSError: the folder cannot be created.
    """
    name = os.path.abspath(folder)
    is_there = calls.is_folder(folder)
    if is_there and name in _flushed:
        return
    if not is_there:
        make_private_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            calls.make_folder(folder)
        if not calls.is_folder(folder):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    _flush_name(folder)
    _flushed.add(name)


def _flush_name(path: Path) -> None:
    """Flush the folder of a path, unless it may be searched but not read, or has no such call."""
    try:
        calls.sync_folder(path.parent)
    except OSError as error:
        if error.errno not in _NOT_FLUSHED:
            raise


@contextlib.contextmanager
def lock_folder(folder: Path, timeout_s: float = 10.0) -> Iterator[None]:
    """Hold an exclusive lock on a folder, waiting for other processes that hold it.

    Nothing is locked on Windows, or on a file system that does not support locks. Processes that do
    not lock the folder can still use its files.

    Raises:
        TimeoutError: another process has held the lock for too long.
        OSError: the folder cannot be opened.
    """
    handle = calls.open_for_lock(folder)
    try:
        if handle is not None:
            with contextlib.suppress(LocksUnsupported):
                acquire_lock(handle, folder, timeout_s)
        yield
    finally:
        if handle is not None:
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
            return calls.lock_file(handle)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                reason = "another process has been using it for too long"
                raise TimeoutError(errno.ETIMEDOUT, reason, str(path)) from error
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
        view = view[calls.write_part(handle, view) :]


def write_synced(handle: int, content: bytes) -> None:
    """Append content completely or not at all, and flush it to disk.

    Raises:
        OSError: the content could not be written. The file's length was restored.
    """
    size = os.fstat(handle).st_size
    try:
        write_all(handle, content)
        calls.sync_file(handle)
    except OSError:
        calls.shorten_file(handle, size)
        raise


def append_synced(path: Path, content: bytes) -> None:
    """Append content to a file completely or not at all, and flush it. A missing file is created.

    What the file holds is flushed before, since a killed process may not have done so. If that
    fails, no later flush writes it, so the file is replaced.

    Raises:
        OSError: the content could not be written. The file's length was restored.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    handle = open_file(path, flags)
    try:
        try:
            calls.sync_file(handle)
        except OSError:
            write_atomically(path, read_file(path))
            os.close(handle)
            handle = open_file(path, flags)
        write_synced(handle, content)
    finally:
        os.close(handle)
    calls.sync_folder(path.parent)


def create_empty(path: Path) -> None:
    """Create an empty file that only its owner can access, if the file does not exist.

    Raises:
        OSError: the file cannot be created.
    """
    with contextlib.suppress(FileExistsError):
        os.close(calls.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def flush_file(path: Path) -> None:
    """Flush a file and its name, since the process that wrote it may have been killed before.

    Of a file that does not exist, the removal is flushed.

    Raises:
        OSError: the file could not be flushed.
    """
    target = Path(os.path.realpath(path))
    make_private_folder(target.parent)
    try:
        handle = open_file(target, os.O_RDWR)
    except FileNotFoundError:
        pass
    except OSError as error:  # nobody can have written it just now
        if error.errno not in _NOT_FLUSHED:
            raise
    else:
        try:
            calls.sync_file(handle)
        finally:
            os.close(handle)
    calls.sync_folder(target.parent)


def probe_space(folder: Path, size: int) -> None:
    """Take some space on a disk for a moment.

    Args:
        folder: a folder on the disk.
        size: the number of bytes.

    Raises:
        OSError: the disk does not have the space.
    """
    file = folder / f".probe.{os.urandom(4).hex()}"
    handle = calls.open_file(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_all(handle, bytes(size))
        calls.sync_file(handle)
    finally:
        os.close(handle)
        remove_if_there(file)


def put_aside(file: Path) -> None:
    """Rename a damaged file, so that its content is not lost when another takes its place.

    Raises:
        OSError: the file cannot be renamed.
    """
    if calls.is_there(file):
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        calls.rename_path(file, file.with_name(f"{file.name}.{stamp}.damaged"))


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that it contains. Links in it are removed, not followed.

    Raises:
        OSError: something cannot be removed. All the rest was.
    """
    failed: list[BaseException] = []
    named = calls.extend_path(folder)
    shutil.rmtree(named, onerror=lambda _call, _path, error: failed.append(error[1]))
    if failed:
        raise failed[0]


def remove_if_there(path: Path) -> None:
    """Remove a file, unless it does not exist.

    Raises:
        OSError: the file cannot be removed.
    """
    with contextlib.suppress(FileNotFoundError):
        calls.remove_path(path)


def remove_synced(path: Path) -> None:
    """Remove a file, unless it does not exist, and flush its folder. It never comes back.

    If it does not exist, its removal may not have been flushed, so its folder is flushed too.

    Raises:
        OSError: the file cannot be removed, or it may come back after a power failure.
    """
    try:
        calls.remove_path(path)
    except FileNotFoundError:
        with contextlib.suppress(FileNotFoundError):  # nor does its folder
            _flush_name(path)
    else:
        calls.sync_folder(path.parent)


def create_synced(path: Path, content: bytes) -> int:
    """Create a locked file with initial content, flush it, and return its descriptor.

    The file gets its name only when it is complete. A crash leaves at most a file named
    `<name>.new`.

    Raises:
        FileExistsError: the file exists, or is being created.
        OSError: the file could not be created. No partial file is left.
    """
    if calls.is_there(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    return _put(path, content, is_new=True)


def replace_synced(path: Path, content: bytes) -> int:
    """Replace a file atomically with a locked one, and return its descriptor.

    A crash may leave a file named `<name>.new`.

    Raises:
        OSError: the file could not be replaced.
    """
    remove_if_there(path.with_name(f"{path.name}.new"))
    return _put(path, content)


def _put(path: Path, content: bytes, *, is_new: bool = False) -> int:
    """Write a locked file under another name, rename it, and return its descriptor.

    Args:
        path: the name.
        is_new: whether a file that cannot be flushed is removed, while nobody else can lock it.
    """
    new = path.with_name(f"{path.name}.new")
    handle = calls.open_file(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND)
    try:
        calls.lock_file(handle)
        write_all(handle, content)
        calls.sync_file(handle)
        calls.rename_open_file(handle, new, path)
    except BaseException:
        os.close(handle)
        remove_if_there(new)
        raise
    try:
        calls.sync_folder(path.parent)
    except BaseException:
        if is_new:
            calls.remove_open_file(handle, path)
        else:
            os.close(handle)
        raise
    return handle
