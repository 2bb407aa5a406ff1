"""The calls for files and folders in which Linux, macOS and Windows differ.

Every write, sync, rename, removal and lock of a file is a call of this module. Only this module and
`resources.system.processes` ask which system it is, or use what one of the three lacks.

Each function branches on `sys.platform` when it is called. A test can therefore run the branch of
another system.
"""

import ctypes
import errno
import os
import stat
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from resources.system.names import extend_windows_path

__all__ = [
    "SYSTEM",
    "Folder",
    "System",
    "WritesForbidden",
    "add_name",
    "extend_path",
    "forbid_writes",
    "has_windows_pipe_data",
    "is_folder",
    "is_link",
    "is_there",
    "list_entries",
    "lock_file",
    "make_folder",
    "open_file",
    "open_for_lock",
    "read_at",
    "read_creation_s",
    "remove_folder",
    "remove_open_file",
    "remove_path",
    "rename_open_file",
    "rename_path",
    "retry_while_open",
    "set_permissions",
    "shorten_file",
    "sync_file",
    "sync_folder",
    "write_part",
]

System = Literal["linux", "macos", "windows"]


if sys.platform == "win32":
    SYSTEM: Final[System] = "windows"
    _PLAIN: Final = os.O_BINARY | os.O_NOINHERIT
    _FOLDER: Final = 0
    _READABLE_FOLDER: Final = 0
else:
    SYSTEM: Final[System] = "macos" if sys.platform == "darwin" else "linux"
    # A link is not followed, and a FIFO does not block.
    _PLAIN: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    _READABLE_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    # O_PATH, if the system has it: a folder on the way has to be searchable, but not readable.
    _FOLDER: Final = _READABLE_FOLDER | getattr(os, "O_PATH", 0)
# Past the end of any file, since a lock on Windows would keep readers from the locked byte.
_LOCKED_BYTE: Final = 1 << 40
_LOCK_CHECK_S: Final = 0.01
# Access denied, and the two sharing violations: another program has the file open for a moment.
_OPEN_ELSEWHERE: Final = frozenset({5, 32, 33})
_MOST_TRIES: Final = 10
_FIRST_WAIT_S: Final = 0.005
_AT_FDCWD: Final = -100  # for statx(2)
_STATX_BTIME: Final = 0x800
_LINK_TAGS: Final = frozenset({0xA000000C, 0xA0000003})  # a symbolic link, a mounted folder


def extend_path(path: Path) -> str:
    """Return the name of a file for a call of the operating system, on Windows of any length."""
    name = os.fspath(path)
    return extend_windows_path(name) if sys.platform == "win32" else name


def is_there(path: Path) -> bool:
    """Return whether there is a file, a folder or a link at a path."""
    return os.path.lexists(extend_path(path))


def is_folder(path: Path) -> bool:
    """Return whether there is a folder at a path. Links are followed."""
    return os.path.isdir(extend_path(path))


def list_entries(folder: Path) -> list["os.DirEntry[str]"]:
    """Return what is in a folder.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(extend_path(folder)) as entries:
        return list(entries)


class WritesForbidden(OSError):
    """A file is in a folder that this process must not change."""


# The folders that this process must not change, and why. What begins with an exception is changed.
_read_only: dict[str, str] = {}
_exceptions: set[str] = set()


def forbid_writes(folder: Path, reason: str, *, but: Path) -> None:
    """Let this process change nothing in a folder from now on. Databases are not affected.

    Args:
        reason: sentences that say why, for the error.
        but: a folder in it that may be changed.
    """
    for convert in (os.path.abspath, os.path.realpath):
        _read_only[convert(folder)] = reason
        _exceptions.add(convert(but))


def _require_writable(path: Path) -> None:
    """Raise `WritesForbidden` if a path is in a folder that this process must not change."""
    if not _read_only:
        return
    name = os.path.abspath(path)
    for folder, reason in _read_only.items():
        if _is_in(name, folder) and not any(_is_in(name, one) for one in _exceptions):
            raise WritesForbidden(errno.EROFS, reason, str(path))


def _is_in(name: str, folder: str) -> bool:
    return name == folder or name.startswith(folder + os.sep)


def open_file(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a file and return its descriptor. A symbolic link is refused, and a FIFO does not block.

    Raises:
        OSError: the file cannot be opened, or is a symbolic link.
    """
    if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        _require_writable(path)
    name = extend_path(path)
    _refuse_link_on_windows(name)
    return os.open(name, flags | _PLAIN, mode)


def write_part(handle: int, content: memoryview) -> int:
    """Write the beginning of the content to an open file, and return how many bytes were written.

    Raises:
        OSError: nothing could be written.
    """
    return os.write(handle, content)


def shorten_file(handle: int, size: int) -> None:
    """Cut an open file off at a size.

    Raises:
        OSError: the file could not be changed.
    """
    os.ftruncate(handle, size)


def set_permissions(handle: int, mode: int) -> None:
    """Set the permissions of an open file. Do nothing on Windows, which has none of this kind."""
    if sys.platform != "win32":
        os.fchmod(handle, mode)


def sync_file(handle: int) -> None:
    """Flush an open file to the disk, on macOS also from the disk's own cache.

    Raises:
        OSError: the file could not be flushed.
    """
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY):
                raise
            os.fsync(handle)  # a file system without this call, such as a share
    else:
        os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk. Do nothing on Windows, which does not support this.

    Raises:
        OSError: the folder cannot be opened or flushed.
    """
    if sys.platform != "win32":
        handle = os.open(folder, _READABLE_FOLDER & ~os.O_NOFOLLOW)
        try:
            sync_file(handle)
        finally:
            os.close(handle)


def read_at(handle: int, count: int, offset: int) -> bytes:
    """Read up to `count` bytes of an open file from an offset.

    Raises:
        OSError: the file cannot be read, or is a pipe.
    """
    if sys.platform == "win32":
        os.lseek(handle, offset, os.SEEK_SET)
        return os.read(handle, count)
    else:
        return os.pread(handle, count, offset)


def lock_file(handle: int, *, waits: bool = False) -> None:
    """Take an exclusive lock on an open file.

    The lock belongs to the file descriptor, so it also excludes other descriptors in the same
    process. It is released when the file is closed or the process ends.

    Args:
        handle: the descriptor of the file.
        waits: whether to wait for another owner of the lock, instead of failing.

    Raises:
        BlockingIOError: the file is already locked.
        OSError: the file system does not support locks.
    """
    if sys.platform == "win32":
        _lock_on_windows(handle, waits)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))


def _lock_on_windows(handle: int, waits: bool) -> None:
    """Lock a byte far behind the end of a file. What is written next goes where it would have."""
    if sys.platform == "win32":
        import msvcrt

        position = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            while not _try_lock(lambda: msvcrt.locking(handle, msvcrt.LK_NBLCK, 1), waits):
                time.sleep(_LOCK_CHECK_S)
        finally:
            os.lseek(handle, position, os.SEEK_SET)


def _try_lock(lock: Callable[[], None], waits: bool) -> bool:
    try:
        lock()
    except PermissionError as error:
        if not waits:
            raise BlockingIOError(*error.args) from error
        return False
    return True


def has_windows_pipe_data(pipe: int) -> bool:
    """Return whether a pipe or the console has data, on Windows, where nothing can wait for them.

    Raises:
        OSError: the pipe was closed.
    """
    if sys.platform == "win32":
        import _winapi
        import msvcrt

        if os.isatty(pipe):
            return msvcrt.kbhit()
        return bool(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe), 0)[0])
    else:
        return False


def open_for_lock(folder: Path) -> int | None:
    """Open a folder in order to lock it. Return None on Windows, where no folder can be locked.

    Raises:
        OSError: the folder cannot be opened.
    """
    if sys.platform == "win32":
        return None
    else:
        return os.open(folder, _READABLE_FOLDER & ~os.O_NOFOLLOW)


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Create a folder in an existing one.

    Raises:
        OSError: the folder exists or cannot be created.
    """
    _require_writable(folder)
    os.mkdir(extend_path(folder), mode)


def remove_folder(folder: Path) -> None:
    """Remove an empty folder.

    Raises:
        OSError: the folder is not empty, or cannot be removed.
    """
    _require_writable(folder)
    os.rmdir(extend_path(folder))


def rename_path(path: Path, to: Path) -> None:
    """Rename a file or folder atomically. A file with the new name is replaced.

    Raises:
        OSError: the file cannot be renamed.
    """
    _require_writable(path)
    _require_writable(to)
    retry_while_open(lambda: os.replace(extend_path(path), extend_path(to)))


def rename_open_file(handle: int, path: Path, to: Path) -> None:
    """Rename a locked file that this process has open, replacing a file with the new name.

    Windows renames no file that is open. There, it is closed before, and opened and locked again
    under the same descriptor.

    Args:
        handle: the descriptor of the file.
        path: the path of the file.
        to: the new path.

    Raises:
        OSError: the file cannot be renamed.
    """
    if sys.platform == "win32":
        os.close(handle)
        try:
            rename_path(path, to)
        except OSError:
            _open_again(path, handle)
            raise
        _open_again(to, handle)
        lock_file(handle)
    else:
        rename_path(path, to)


def _open_again(path: Path, handle: int) -> None:
    """Open a file for appending under a descriptor that was closed."""
    opened = open_file(path, os.O_RDWR | os.O_APPEND)
    if opened != handle:
        os.dup2(opened, handle, inheritable=False)
        os.close(opened)


def add_name(path: Path, name: Path) -> None:
    """Give a file a second name by a hard link.

    Raises:
        OSError: the name is taken, or the file system has no hard links.
    """
    _require_writable(name)
    os.link(extend_path(path), extend_path(name))


def remove_path(file: Path) -> None:
    """Remove a file.

    Raises:
        OSError: the file does not exist, or cannot be removed.
    """
    _require_writable(file)
    retry_while_open(lambda: os.unlink(extend_path(file)))


def remove_open_file(handle: int, path: Path) -> None:
    """Remove a file that this process has open, and close it. Windows removes no open file.

    Raises:
        OSError: the file cannot be removed. It is closed.
    """
    if sys.platform == "win32":
        os.close(handle)
        remove_path(path)
    else:
        try:
            remove_path(path)
        finally:
            os.close(handle)


def retry_while_open(act: Callable[[], None], sleep: Callable[[float], None] = time.sleep) -> None:
    """Repeat an action on a file for about two seconds while another program has the file open.

    Only Windows refuses the action then. A virus scanner or a synchronization program opens each
    new file for a moment.

    Args:
        act: renames or removes a file.
        sleep: waits for some seconds.

    Raises:
        OSError: the action failed for another reason, or the file stayed open.
    """
    wait_s = _FIRST_WAIT_S
    for _ in range(_MOST_TRIES - 1):
        try:
            return act()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _OPEN_ELSEWHERE:
                raise
        sleep(wait_s)
        wait_s *= 2
    return act()


def is_link(info: os.stat_result) -> bool:
    """Return whether a file is a symbolic link, or a folder that Windows mounted elsewhere.

    Other reparse points on Windows, such as those of files that are kept online, are no links.

    Args:
        info: what `os.lstat` returned.
    """
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) in _LINK_TAGS


def _refuse_link_on_windows(name: str) -> None:
    if sys.platform == "win32":
        _refuse_link(name)


def _refuse_link(name: str) -> None:
    """Raise the `OSError` for a link that systems raise which refuse links themselves."""
    try:
        info = os.lstat(name)
    except FileNotFoundError:
        return
    if is_link(info):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)


class Folder:
    """An open folder. What is named relative to it is not reached through a link.

    Linux and macOS keep a descriptor of the folder, so that another folder or a link in its place
    changes nothing. Windows has no such calls: there, links are looked for before each call.
    """

    def __init__(self, path: Path, handle: int | None) -> None:
        """Keep an open folder. Use `open` to open one.

        Args:
            path: the path of the folder.
            handle: its descriptor, or None if files are named by their paths.
        """
        self.path = path
        self._handle = handle

    @classmethod
    def open(cls, path: Path, *, keeps_descriptor: bool | None = None) -> Self:
        """Open a folder. Links in its own path are followed.

        Args:
            path: the path of the folder.
            keeps_descriptor: whether to keep a descriptor, or None if the system has such calls.

        Raises:
            OSError: the folder does not exist or cannot be opened.
        """
        if keeps_descriptor or (keeps_descriptor is None and sys.platform != "win32"):
            return cls(path, os.open(path, _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)))
        if not stat.S_ISDIR(os.stat(extend_path(path)).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        return cls(path, None)

    def open_folder(self, name: str) -> Self:
        """Open a folder in this folder. A link is refused.

        Raises:
            OSError: there is no such folder, it is a link, or it cannot be opened.
        """
        if self._handle is not None:
            return type(self)(self.path / name, os.open(name, _FOLDER, dir_fd=self._handle))
        _refuse_link(self._name(name))
        return self.open(self.path / name, keeps_descriptor=False)

    def open_file(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a file in this folder, and return its descriptor. A link is refused.

        Raises:
            OSError: the file cannot be opened, or is a link.
        """
        if self._handle is None:
            _refuse_link(self._name(name))
        return os.open(self._name(name), flags | _PLAIN, mode, dir_fd=self._handle)

    def stat(self, name: str) -> os.stat_result:
        """Return the attributes of a file in this folder. Links are not followed.

        Raises:
            OSError: there is no such file.
        """
        return os.stat(self._name(name), dir_fd=self._handle, follow_symlinks=False)

    def list_names(self) -> list[str]:
        """Return the names of what is in the folder.

        Raises:
            OSError: the folder cannot be read.
        """
        if self._handle is None:
            return os.listdir(extend_path(self.path))
        readable = os.open(".", _READABLE_FOLDER, dir_fd=self._handle)
        try:
            return os.listdir(readable)
        finally:
            os.close(readable)

    def make_folder(self, name: str) -> None:
        """Create a folder in this folder.

        Raises:
            OSError: the folder exists or cannot be created.
        """
        os.mkdir(self._name(name), dir_fd=self._handle)

    def remove_file(self, name: str) -> None:
        """Remove a file in this folder.

        Raises:
            OSError: the file does not exist, or cannot be removed.
        """
        retry_while_open(lambda: os.unlink(self._name(name), dir_fd=self._handle))

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this folder.

        Raises:
            OSError: the folder is not empty, or cannot be removed.
        """
        os.rmdir(self._name(name), dir_fd=self._handle)

    def rename(self, name: str, folder: "Folder", new_name: str) -> None:
        """Move a file of this folder into a folder atomically, replacing one with the new name.

        Raises:
            OSError: the file cannot be moved.
        """
        source, target = self._name(name), folder._name(new_name)
        retry_while_open(
            lambda: os.replace(source, target, src_dir_fd=self._handle, dst_dir_fd=folder._handle)
        )

    def add_name(self, name: str, folder: "Folder", new_name: str) -> None:
        """Add a hard link to a file of this folder, which gives it a second name in a folder.

        Raises:
            FileExistsError: the new name is taken.
            OSError: the file system has no hard links, or the link cannot be made.
        """
        os.link(
            self._name(name),
            folder._name(new_name),
            src_dir_fd=self._handle,
            dst_dir_fd=folder._handle,
            follow_symlinks=False,
        )

    def sync(self) -> None:
        """Flush the folder to the disk. Do nothing on Windows, which does not support this.

        Raises:
            OSError: the folder cannot be read or flushed.
        """
        if self._handle is not None:
            readable = os.open(".", _READABLE_FOLDER, dir_fd=self._handle)
            try:
                sync_file(readable)
            finally:
                os.close(readable)

    def close(self) -> None:
        """Close the folder."""
        if self._handle is not None:
            os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def _name(self, name: str) -> str:
        """Return how a call names a file of the folder: relative to its descriptor, or by path."""
        return name if self._handle is not None else extend_path(self.path / name)


class _Time(ctypes.Structure):
    _fields_ = (
        ("seconds", ctypes.c_int64),
        ("nanoseconds", ctypes.c_uint32),
        ("_r", ctypes.c_int32),
    )


class _Statx(ctypes.Structure):
    """The result of `statx(2)` up to the time of creation, and as much space as it has."""

    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("_before", ctypes.c_uint8 * 76),
        ("created", _Time),
        ("_after", ctypes.c_uint8 * 160),
    )


def read_creation_s(path: Path) -> float | None:
    """Return when a file was created, in seconds since 1970, or None if the system does not say.

    Python 3.11 says it on macOS and Windows alone, Linux by `statx(2)`.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    if sys.platform == "win32":
        return found.st_ctime
    else:
        born = getattr(found, "st_birthtime", None)
        return _read_by_statx(path) if born is None else float(born)


def _read_by_statx(path: Path) -> float | None:
    statx, result = _load_statx(), _Statx()
    if statx is None:
        return None
    failed = statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, ctypes.byref(result))
    if failed or not result.mask & _STATX_BTIME:
        return None
    return float(result.created.seconds + result.created.nanoseconds / 1e9)


@cache
def _load_statx() -> Any:
    """Return the function of the C library, or None where it has none."""
    try:
        return ctypes.CDLL(None).statx
    except (AttributeError, OSError):
        return None
