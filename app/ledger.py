"""The ledger: a file that lists every outgoing call, written before the call is made.

Each call is a line of JSON in `ledger.log`, and its result is a second line with the same id. Only
the owner can read the file. Several processes can append to it. When it exceeds `MAX_BYTES`, its
older half is removed.
"""

import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from app.errors import StorageFailed, storage_errors
from chains.errors import LedgerFailed
from chains.ledger import OutgoingCall
from resources.system.calls import read_at, shorten_file
from resources.system.files import (
    acquire_lock,
    create_empty,
    make_private_folder,
    open_file,
    write_all,
    write_atomically,
)
from vault.database_file import set_aside

__all__ = ["Ledger"]

MAX_BYTES: Final = 4_000_000
LOCK_WAIT_S: Final = 5.0
_LINE_START: Final = b'{"id"'

_log = logging.getLogger(__name__)


class Ledger:
    """The ledger of outgoing calls. It can be shared by threads and processes."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        """Create the ledger. Its file is created when the first call is recorded.

        Args:
            path: the path of the file.
            max_bytes: the size above which the older half of the file is removed.
        """
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._is_checked = False

    def record(self, call: OutgoingCall) -> "LedgerRecord":
        """Record a call before it is made. See `chains.ledger.LedgerPort`.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        id = token_hex(8)
        try:
            self._append({"id": id, "at": at, **asdict(call)})
        except (OSError, StorageFailed) as error:
            raise LedgerFailed(call.host, _describe(self._path, error)) from error
        return LedgerRecord(self, id)

    def list_calls(self) -> list[dict[str, Any]]:
        """Return the recorded calls with their results, oldest first.

        Raises:
            StorageFailed: the ledger cannot be read.
        """
        with storage_errors(self._path), self._hold_lock():
            if not self._path.exists():
                return []
            return _join_results(self._read_lines())

    def add_result(self, id: str, bytes_in: int, tokens: int | None) -> None:
        """Add the result of an outgoing call to the ledger. Failures are only logged.

        Args:
            id: the id of the call in the ledger.
            bytes_in: the number of received bytes.
            tokens: the token count that the service reported, or None.
        """
        try:
            self._append({"id": id, "bytes_in": bytes_in, "tokens": tokens})
        except (OSError, StorageFailed) as error:
            _log.warning("The result of a call is not in the ledger: %s", error)

    def _append(self, line: Mapping[str, Any]) -> None:
        content = _encode(line)
        with self._hold_lock():
            if not self._is_checked and self._path.exists():
                self._read_lines()  # renames the file if it is damaged
            self._is_checked = True
            size = self._write(content)
            if size > self._max_bytes:
                self._remove_older_half()

    def _write(self, content: bytes) -> int:
        """Append a line completely or not at all, and return the new size of the file."""
        if not os.path.lexists(self._path):
            create_empty(self._path)
        handle = open_file(self._path, os.O_RDWR | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            if size and read_at(handle, 1, size - 1) != b"\n":
                content = b"\n" + content  # after a line that a crash cut off
            try:
                write_all(handle, content)
            except OSError:
                shorten_file(handle, size)
                raise
            return size + len(content)
        finally:
            os.close(handle)

    def _read_lines(self) -> list[dict[str, Any]]:
        """Read the valid lines of the ledger.

        A damaged file is renamed, and its valid lines are copied to a new one. A line that was cut
        off by a crash is skipped.
        """
        handle = open_file(self._path, os.O_RDONLY)
        with os.fdopen(handle, "rb") as file:
            raw = file.read()
        lines = [(line, _decode(line)) for line in raw.split(b"\n") if line]
        good = [line for _, line in lines if line is not None]
        if any(line is None and not text.startswith(_LINE_START) for text, line in lines):
            aside = set_aside(self._path)
            _log.warning("%s was damaged and is kept as %s", self._path, aside)
            write_atomically(self._path, b"".join(map(_encode, good)))
        return good

    def _remove_older_half(self) -> None:
        kept: list[bytes] = []
        size = 0
        for line in reversed(self._read_lines()):
            encoded = _encode(line)
            size += len(encoded)
            if size > self._max_bytes // 2 and kept:
                break
            kept.append(encoded)
        write_atomically(self._path, b"".join(reversed(kept)))

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        with self._lock:
            make_private_folder(self._path.parent)
            name = self._path.with_suffix(".lock")
            with storage_errors(name):
                # Only read, so that the ledger can be listed in a folder that cannot be written.
                handle = open_file(name, os.O_RDONLY | os.O_CREAT)
            try:
                try:
                    acquire_lock(handle, name, LOCK_WAIT_S)
                except TimeoutError:
                    raise StorageFailed(f"{name} is held by another process.") from None
                yield
            finally:
                os.close(handle)


class LedgerRecord:
    """The ledger's record of an outgoing call in progress."""

    def __init__(self, ledger: Ledger, id: str) -> None:
        self._ledger = ledger
        self._id = id

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Add the call's result to the ledger. See `chains.ledger.OpenRecord`."""
        self._ledger.add_result(self._id, bytes_in, tokens)


def _encode(line: Mapping[str, Any]) -> bytes:
    # A path that is not UTF-8 contains surrogates, which only ASCII-escaped JSON can hold.
    return json.dumps(line).encode() + b"\n"


def _decode(line: bytes) -> dict[str, Any] | None:
    """Decode a line of the ledger, or return None if the line is damaged."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("id"), str) else None


def _join_results(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one dict for each outgoing call and its result. Missing values are None."""
    calls: dict[str, dict[str, Any]] = {}
    for line in lines:
        id, tokens = line["id"], _read_count(line, "tokens")
        if "host" in line:
            notes = line.get("notes")
            calls[id] = {
                "at": str(line.get("at", "")),
                "host": str(line["host"]),
                "kind": str(line.get("kind", "")),
                "session": line.get("session"),
                "turn": line.get("turn"),
                "bytes_out": _read_count(line, "bytes_out"),
                "bytes_in": None,
                "tokens": tokens,
                "notes": [str(note) for note in notes] if isinstance(notes, list) else [],
            }
        elif id in calls:
            calls[id]["bytes_in"] = _read_count(line, "bytes_in")
            calls[id]["tokens"] = calls[id]["tokens"] if tokens is None else tokens
    return list(calls.values())


def _read_count(line: Mapping[str, Any], key: str) -> int | None:
    """Return a number by its key in a line of the ledger, or None if it is missing or damaged."""
    value = line.get(key)
    return value if isinstance(value, int) else None


def _describe(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path} cannot be written ({(error.strerror or str(error)).lower()})."
    return str(error)
