"""A disk with the rules of macOS or of Windows, over a folder of this system.

macOS: names that differ in case or in the composition of accents are one name, and names are stored
decomposed. Windows: names that differ in case are one name; reserved names are devices; dots and
blanks at the end of a name are left out; paths longer than 259 characters fail without the prefix
`\\\\?\\`; an open file is neither replaced nor removed; folders have no descriptors.

```
disk = OtherDisk("windows", Path("C:\\vault"), tmp_path)
disk.mount(monkeypatch)
write_atomically(disk.root / "a.md", b"text")
```
"""

import errno
import fcntl
import ntpath
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import vault.paths
from resources.system.names import is_reserved_name

LONGEST_PATH = 259
SHARING_VIOLATION = 32
_NOT_IN_NAMES = frozenset('<>:"|?*')
_EXTENDED = "\\\\?\\"
_CALLS = ("open", "stat", "lstat", "unlink", "mkdir", "rmdir", "listdir", "scandir", "replace")
_REAL: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in (*_CALLS, "link")}


class FakeMsvcrt:
    """The lock of Windows for files, by the number of the file's inode."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.held: dict[int, int] = {}

    def locking(self, handle: int, _mode: int, _count: int) -> None:
        inode = os.fstat(handle).st_ino
        if self.held.setdefault(inode, handle) != handle:
            raise PermissionError(errno.EACCES, "locked")


class OtherDisk:
    """A disk of another system.

    Attributes:
        root: the folder as the other system names it, such as `C:\\vault`.
        busy: how many more times another program has a file open, by the file's name.

    Args:
        system: the other system.
        root: how the folder is named. On macOS it is the folder itself.
        folder: the folder of this system that has the files.
    """

    def __init__(self, system: Literal["macos", "windows"], root: Path, folder: Path) -> None:
        self.root = root
        self.busy: dict[str, int] = {}
        self._is_windows = system == "windows"
        self._folder = folder

    def mount(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the calls for files of this process follow the rules, and say it is that system."""
        for name in ("open", "stat", "lstat", "unlink", "mkdir", "rmdir", "listdir", "scandir"):
            monkeypatch.setattr(os, name, self._wrap(name))
        monkeypatch.setattr(os, "replace", self._replace)
        monkeypatch.setattr(os, "link", self._link)
        if self._is_windows:
            monkeypatch.setattr(os.path, "realpath", lambda path, **_named: os.fspath(path))
            monkeypatch.setattr(shutil, "_use_fd_functions", False)
            monkeypatch.setattr(vault.paths, "SYSTEM", "windows")
            monkeypatch.setitem(sys.modules, "msvcrt", FakeMsvcrt())
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", fcntl.F_GETFD, raising=False)
        monkeypatch.setattr(sys, "platform", "win32" if self._is_windows else "darwin")

    def list_names(self, folder: str = "") -> list[str]:
        """Return the names that are stored in a folder."""
        return sorted(_REAL["listdir"](self._folder / folder))

    def _wrap(self, name: str) -> Callable[..., Any]:
        real = _REAL[name]

        def call(path: Any = ".", *more: Any, dir_fd: int | None = None, **named: Any) -> Any:
            if isinstance(path, int):
                return real(path, *more, **named)
            found = self._find(path, dir_fd)
            if name == "unlink":
                self._refuse_open(found)
            if name == "open" and self._is_windows and os.path.isdir(found):
                raise PermissionError(errno.EACCES, "a folder", found)
            if dir_fd is not None:
                named["dir_fd"] = dir_fd
            return real(found, *more, **named)

        return call

    def _replace(
        self,
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        old, new = self._find(source, src_dir_fd), self._find(target, dst_dir_fd)
        for name in (old, new):
            self._refuse_open(name)
        if old != new:
            _REAL["replace"](old, new)
        # The name is stored as it is said last, also if only its case is new.
        stored = os.path.join(os.path.dirname(new), self._store(os.path.basename(str(target))))
        _REAL["replace"](new, stored)

    def _link(
        self,
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        old, new = self._find(source, src_dir_fd), self._find(target, dst_dir_fd)
        _REAL["link"](old, new, follow_symlinks=follow_symlinks)

    def _refuse_open(self, file: str) -> None:
        """Raise what Windows raises for a file that this or another program has open."""
        if not self._is_windows or not os.path.lexists(file):
            return
        name = os.path.basename(file)
        if self.busy.get(name, 0) or file in map(_read_link, _REAL["listdir"]("/proc/self/fd")):
            self.busy[name] = self.busy.get(name, 0) - 1
            error = PermissionError(errno.EACCES, "in use", file)
            error.winerror = SHARING_VIOLATION  # type: ignore[attr-defined]
            raise error

    def _find(self, path: Any, dir_fd: int | None) -> str:
        """Return the path of this system at which a file of the disk is, or would be created."""
        name = os.fsdecode(path)
        if dir_fd is not None:
            if self._is_windows:
                raise NotImplementedError("dir_fd unavailable on this platform")
            name = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), name)
        rest = self._find_rest(name)
        if rest is None:
            return name
        found = str(self._folder)
        for part in filter(None, rest.replace("\\", "/").split("/")):
            wanted = part
            if self._is_windows and not name.startswith(_EXTENDED):
                if is_reserved_name(part):
                    return os.devnull
                wanted = part.rstrip(". ")
            if self._is_windows and _NOT_IN_NAMES & set(part):
                raise OSError(errno.EINVAL, "not a name", name)
            found = os.path.join(found, self._match(found, wanted))
        return found

    def _find_rest(self, name: str) -> str | None:
        """Return the part of a path below the root, or None if it is elsewhere."""
        mark = os.fspath(self.root).lstrip("\\")
        head, found, rest = name.partition(mark)
        if not found:
            return None
        is_extended = name.startswith(_EXTENDED)
        if self._is_windows and not is_extended and len(name) > LONGEST_PATH:
            raise FileNotFoundError(errno.ENOENT, "the path is too long", name)
        if is_extended and ("/" in name or ntpath.normpath(name) != name):
            raise OSError(errno.EINVAL, "not a path with the prefix", name)
        return rest if self._is_windows or not head else None

    def _match(self, folder: str, name: str) -> str:
        """Return the stored name that a name of a folder stands for."""
        try:
            stored = _REAL["listdir"](folder)
        except OSError:
            stored = []
        same = (other for other in stored if self._fold(other) == self._fold(name))
        return next(same, self._store(name))

    def _store(self, name: str) -> str:
        name = name.replace("\\", "/").rpartition("/")[2]
        return name if self._is_windows else unicodedata.normalize("NFD", name)

    def _fold(self, name: str) -> str:
        if self._is_windows:
            return name.upper()
        return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def _read_link(number: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:  # it was closed meanwhile
        return ""
