"""The database `state.db`: last requests, chat summaries, large tool results.

Requests and summaries can be rebuilt, and chats can continue without tool results. A damaged
database is therefore renamed and replaced. It counts as damaged if SQLite reports damage, or if it
contains unexpected data.
"""

import hashlib
import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from app.errors import StorageFailed
from app.migrations import migrate
from app.paths import make_private_folder
from context.envelope import EncodedJson
from vault.catalog import is_damage_error, set_aside

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Row = tuple[Any, ...]
_MOST_VERSIONS: Final = 10_000
# Raised when bytes that Strata did not write are decoded.
_NOT_OURS: Final = (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)


STATE_DAMAGED: Final = (
    "The list of chats and the last requests were damaged and are being rebuilt. "
    "Your chats are untouched."
)


# The token counts of messages by their hashes, for each token counter.
Snapshot = Mapping[str, Mapping[str, int]]


class _Damaged(Exception):
    """The database contains data that Strata never wrote."""


# A message of SQLite about a schema may contain bytes that are not UTF-8; Python then raises a
# `UnicodeDecodeError` instead of an error of sqlite3.
_UNREADABLE: Final = (_Damaged, UnicodeDecodeError, OverflowError)


@dataclass(frozen=True)
class StoredRequest:
    """A request as sent to a model.

    Attributes:
        session: the chat id.
        turn: the turn id.
        number: the number of the request within its turn, counted from 1.
        report: the context report.
        body: the request in provider-neutral form.
        wire: the data sent to the provider, or None.
    """

    session: str
    turn: str
    number: int
    report: Mapping[str, Any]
    body: Mapping[str, Any]
    wire: Mapping[str, Any] | None


class StateDB:
    """The database `state.db`, which threads and processes can share."""

    def __init__(self, path: Path) -> None:
        """Set the path. The file is opened on first use."""
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._was_damaged = False

    def take_warning(self) -> str:
        """Return the warning about a damaged database, or an empty string on later calls."""
        with self._lock:
            was_damaged, self._was_damaged = self._was_damaged, False
        return STATE_DAMAGED if was_damaged else ""

    def save_request(self, request: StoredRequest) -> None:
        """Store a turn's latest request, replacing the previous one.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (
            request.session,
            request.turn,
            request.number,
            _pack(request.report),
            _pack(request.body),
            None if request.wire is None else _pack(request.wire),
        )
        self._write("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?)", row)

    def save_report(self, session: str, turn: str, number: int, report: Mapping[str, Any]) -> bool:
        """Replace the report of a stored request. Returns whether the request exists.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (_pack(report), session, turn, number)
        statement = "UPDATE request SET report = ? WHERE session = ? AND turn = ? AND number = ?"
        return self._write(statement, row) > 0

    def request(self, session: str, turn: str) -> StoredRequest | None:
        """Return a turn's last request, or None.

        Raises:
            StorageFailed: the database cannot be read.
        """

        def read_row(row: _Row) -> StoredRequest:
            number, report, body, wire = row
            return StoredRequest(
                session=session,
                turn=turn,
                number=_of_type(int, number),
                report=_unpack(report),
                body=_unpack(body),
                wire=None if wire is None else _unpack(wire),
            )

        return self._one(
            "SELECT number, report, body, wire FROM request WHERE session = ? AND turn = ?",
            (session, turn),
            read_row,
        )

    def kept_turns(self, session: str) -> frozenset[str]:
        """Return the turns of a chat whose last request is stored.

        Raises:
            StorageFailed: the database cannot be read.
        """
        return frozenset(
            self._all(
                "SELECT turn FROM request WHERE session = ?",
                (session,),
                lambda row: _of_type(str, row[0]),
            )
        )

    def chat_info(self, session: str, size: int, mtime_ns: int) -> dict[str, Any] | None:
        """Return a chat's list entry, or None if none is stored for this file size and time.

        Raises:
            StorageFailed: the database cannot be read.
        """
        return self._one(
            "SELECT info FROM chat WHERE session = ? AND size = ? AND mtime_ns = ?",
            (session, size, mtime_ns),
            lambda row: dict(json.loads(_of_type(str, row[0]))),
        )

    def save_chat_info(
        self, session: str, size: int, mtime_ns: int, info: Mapping[str, Any]
    ) -> None:
        """Store a chat's list entry with its file's size and modification time.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (session, size, mtime_ns, json.dumps(info))
        self._write("INSERT OR REPLACE INTO chat VALUES (?, ?, ?, ?)", row)

    def save_snapshot(self, session: str, counts: Snapshot) -> None:
        """Store the token counts of a chat's messages.

        Raises:
            StorageFailed: the database cannot be written.
        """
        data = _pack(counts)
        row = (session, hashlib.sha256(data).hexdigest(), data)
        self._write("INSERT OR REPLACE INTO session_snapshots VALUES (?, ?, ?)", row)

    def snapshot(self, session: str) -> Snapshot:
        """Return the token counts of a chat's messages.

        The result is empty if none are stored or the checksum is wrong.

        Raises:
            StorageFailed: the database cannot be read.
        """
        row = self._one(
            "SELECT checksum, counts FROM session_snapshots WHERE session = ?", (session,), tuple
        )
        if row is None or not isinstance(row[1], bytes):
            return {}
        checksum, data = row
        return _unpack(data) if hashlib.sha256(data).hexdigest() == checksum else {}

    def keep_result(self, tool: str, content: str) -> str:
        """Store a tool result, and return a reference to it.

        Equal results share a reference, even between chats.

        Raises:
            StorageFailed: the database cannot be written.
        """
        data = content.encode("utf-8", "surrogatepass")
        ref_id = f"r{hashlib.sha256(data).hexdigest()[:20]}"
        row = (ref_id, tool, zlib.compress(data))
        self._write("INSERT OR IGNORE INTO tool_result_blobs VALUES (?, ?, ?)", row)
        return ref_id

    def result(self, ref_id: str) -> str | None:
        """Return a stored tool result, or None.

        Raises:
            StorageFailed: the database cannot be read.
        """
        return self._one(
            "SELECT content FROM tool_result_blobs WHERE ref_id = ?",
            (ref_id,),
            lambda row: zlib.decompress(row[0]).decode("utf-8", "surrogatepass"),
        )

    def forget_chat(self, session: str, results: Sequence[str]) -> None:
        """Remove a chat's requests, list entry and token counts, and the given tool results.

        Args:
            session: the chat.
            results: the references of the tool results to remove.

        Raises:
            StorageFailed: the database cannot be written.
        """
        self._write("DELETE FROM request WHERE session = ?", (session,))
        self._write("DELETE FROM chat WHERE session = ?", (session,))
        self._write("DELETE FROM session_snapshots WHERE session = ?", (session,))
        for ref_id in results:
            self._write("DELETE FROM tool_result_blobs WHERE ref_id = ?", (ref_id,))

    def close(self) -> None:
        """Close the database. The next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _one(
        self, statement: str, parameters: Sequence[Any], decode: Callable[[_Row], _T]
    ) -> _T | None:
        return next(iter(self._all(statement, parameters, decode)), None)

    def _all(
        self, statement: str, parameters: Sequence[Any], decode: Callable[[_Row], _T]
    ) -> list[_T]:
        def read(db: sqlite3.Connection) -> list[_T]:
            rows = db.execute(statement, parameters).fetchall()
            try:
                return [decode(row) for row in rows]
            except _NOT_OURS as error:
                raise _Damaged(f"a row cannot be read: {error}") from error

        return self._run(read)

    def _write(self, statement: str, row: _Row) -> int:
        return self._run(lambda db: db.execute(statement, row)).rowcount

    def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                try:
                    return work(self._open())
                except (sqlite3.Error, *_UNREADABLE) as error:
                    if not (_is_damaged(error, self._path) or self._was_replaced()):
                        raise
                    self._set_aside(error)
                    return work(self._open())
            except (sqlite3.Error, OSError, *_UNREADABLE) as error:
                raise StorageFailed(f"{self._path} cannot be used: {error}.") from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_folder(self._path.parent)
            self._path.touch(mode=0o600)
            self._identity = self._identity_now()
            connection = sqlite3.connect(
                self._path, timeout=10, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                _check_version(connection)
                migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _identity_now(self) -> tuple[int, int] | None:
        try:
            info = self._path.stat()
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _was_replaced(self) -> bool:
        """Return whether another process has replaced the file because it was damaged."""
        return self._connection is not None and self._identity != self._identity_now()

    def _set_aside(self, error: Exception) -> None:
        was_replaced = self._was_replaced()
        self.close()
        if was_replaced:
            return
        aside = set_aside(self._path)
        self._was_damaged = True
        _log.warning("%s was damaged (%s), is kept as %s and begun anew", self._path, error, aside)


def _check_version(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not 0 <= version <= _MOST_VERSIONS:
        raise _Damaged(f"it claims to have {version:,} versions")


def _is_damaged(error: Exception, path: Path) -> bool:
    if isinstance(error, _UNREADABLE):
        return True
    is_contradiction = isinstance(error, sqlite3.IntegrityError)
    return isinstance(error, sqlite3.Error) and (is_contradiction or is_damage_error(error, path))


def _of_type(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is not of the type that is kept there")
    return value


def _pack(value: Mapping[str, Any]) -> bytes:
    text = (
        json.dumps(value, ensure_ascii=False) if not isinstance(value, EncodedJson) else value.text
    )
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpack(blob: bytes) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(blob).decode("utf-8", "surrogatepass")))
