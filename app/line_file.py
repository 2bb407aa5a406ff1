"""A file of JSON lines that several processes append to, each line completely or not at all.

Each line is a JSON object with a text `id`, and carries a hash of the line before and of itself.
Only the owner can read the file. A damaged file is renamed, and its valid lines are kept. A line
that was cut off by a crash is skipped.
"""

import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from app.errors import StorageFailed, storage_errors
from resources.system.calls import read_at, shorten_file
from resources.system.files import (
    acquire_lock,
    create_empty,
    make_private_folder,
    open_file,
    read_file,
    write_all,
    write_atomically,
)
from resources.system.line_chain import CHAIN, encode_chain, find_breaks, read_last_line
from vault.database_file import set_aside

__all__ = ["LineFile", "describe_failure"]

LOCK_WAIT_S: Final = 5.0
_LINE_START: Final = b'{"id"'

_log = logging.getLogger(__name__)


class LineFile:
    """A file of JSON lines. It can be shared by threads and processes."""

    def __init__(self, path: Path) -> None:
        """Create the object. The file is created with the first line."""
        self.path = path
        self._lock = threading.Lock()
        self._is_checked = False

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Keep other threads and processes from the file in a `with` block.

        Raises:
            StorageFailed: the lock cannot be acquired.
        """
        with self._lock:
            make_private_folder(self.path.parent)
            name = self.path.with_suffix(".lock")
            with storage_errors(name):
                handle = open_file(name, os.O_RDONLY | os.O_CREAT)
            try:
                try:
                    acquire_lock(handle, name, LOCK_WAIT_S)
                except TimeoutError:
                    raise StorageFailed(f"{name} is held by another process.") from None
                yield
            finally:
                os.close(handle)

    def list_lines(self) -> list[dict[str, Any]]:
        """Return the valid lines. In a folder that cannot be written, the file is not repaired.

        Raises:
            OSError, StorageFailed: the file cannot be read.
        """
        if not self.path.exists():
            return []
        if os.access(self.path.parent, os.W_OK):
            with self.hold_lock():
                return self.read()
        lines = read_file(self.path).split(b"\n")
        return [line for line in map(_decode, lines) if line is not None]

    def append(self, line: Mapping[str, Any]) -> int:
        """Append a line, and return the new size of the file. The lock must be held.

        Raises:
            OSError: the file cannot be written.
        """
        if not self._is_checked:
            self.read()  # renames the file if it is damaged
            if breaks := self.find_breaks():
                _log.warning("%s: line %d does not follow the one before", self.path, breaks[0])
        self._is_checked = True
        return self._write(line)

    def read(self) -> list[dict[str, Any]]:
        """Return the valid lines. The lock must be held.

        Raises:
            OSError: the file cannot be read.
        """
        raw = self._read_content()
        lines = [(line, _decode(line)) for line in raw.split(b"\n") if line]
        good = [line for _, line in lines if line is not None]
        if any(line is None and not text.startswith(_LINE_START) for text, line in lines):
            aside = set_aside(self.path)
            _log.warning("%s was damaged and is kept as %s", self.path, aside)
            self.replace(good)
        return good

    def find_breaks(self) -> list[int]:
        """Return the numbers of the lines that do not follow theirs. The lock must be held.

        Lines were lost or changed there, by a disk or by another program.

        Raises:
            OSError: the file cannot be read.
        """
        return find_breaks(self._read_content())

    def replace(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Replace all lines. The lock must be held."""
        write_atomically(self.path, encode_chain(lines))

    def _read_content(self) -> bytes:
        return read_file(self.path) if self.path.exists() else b""

    def _write(self, line: Mapping[str, Any]) -> int:
        """Append a line completely or not at all, and return the new size of the file."""
        if not os.path.lexists(self.path):
            create_empty(self.path)
        handle = open_file(self.path, os.O_RDWR | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            is_cut_off = bool(size) and read_at(handle, 1, size - 1) != b"\n"  # by a crash
            content = encode_chain([line], read_last_line(handle), is_cut_off=is_cut_off)
            content = b"\n" + content if is_cut_off else content
            try:
                write_all(handle, content)
            except OSError:
                shorten_file(handle, size)
                raise
            return size + len(content)
        finally:
            os.close(handle)


def describe_failure(path: Path, error: Exception) -> str:
    """Return a sentence that says why a file cannot be written."""
    if isinstance(error, OSError):
        return f"{path} cannot be written ({(error.strerror or str(error)).lower()})."
    return str(error)


def _decode(line: bytes) -> dict[str, Any] | None:
    """Decode a line, or return None if the line is damaged.

    Zeros may stand before it: a file system shows them for a line that was never written.
    """
    try:
        found = json.loads(line.lstrip(b"\0"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("id"), str):
        return None
    found.pop(CHAIN, None)
    return found
