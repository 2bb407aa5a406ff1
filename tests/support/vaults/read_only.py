"""A disk that can only be read, also for root, which permissions do not stop."""

import errno
import os
from pathlib import Path

import pytest

from resources.system import calls


def forbid_writes(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let every write below a folder fail as on a disk that is mounted read-only."""
    access, open_file = os.access, calls.open_file

    def refuse(path: Path) -> None:
        if path.is_relative_to(folder):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def open_to_read(path: Path, flags: int, mode: int = 0o600) -> int:
        makes_file = flags & os.O_CREAT and not os.path.lexists(path)
        if makes_file or flags & (os.O_WRONLY | os.O_RDWR):
            refuse(path)
        return open_file(path, flags, mode)

    def allow(path: str | os.PathLike[str], mode: int) -> bool:
        is_below = Path(path).is_relative_to(folder)
        return access(path, mode) and not (is_below and mode & os.W_OK)

    monkeypatch.setattr(os, "access", allow)
    monkeypatch.setattr(calls, "open_file", open_to_read)
    monkeypatch.setattr(calls, "_require_writable", refuse)
