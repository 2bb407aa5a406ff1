"""Beside the chats: the last request of each turn, their list, large results of tools.

Requests and list can be made again, and without a result a chat goes on. So a damaged database is
set aside and begun anew.
"""

import contextlib
import hashlib
import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.errors import StorageFailed
from app.migrations import migrate
from app.paths import make_private_folder
from app.snapshots import Snapshot

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclass(frozen=True)
class StoredRequest:
    """A request as it was sent.

    Attributes:
        number: which request of its turn it was, from 1.
        report: the *Context* as it turned out.
        body: the request in its neutral form.
        wire: what was handed to the provider; None where no provider was called.
    """

    session: str
    turn: str
    number: int
    report: Mapping[str, Any]
    body: Mapping[str, Any]
    wire: Mapping[str, Any] | None


class StateDB:
    """A small database beside the log; safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is opened when it is first used."""
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def save_request(self, request: StoredRequest) -> None:
        """Keep a request in place of the turn's earlier one.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (
            request.session,
            request.turn,
            request.number,
            _packed(request.report),
            _packed(request.body),
            None if request.wire is None else _packed(request.wire),
        )
        self._run(
            lambda db: db.execute("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?)", row)
        )

    def request(self, session: str, turn: str) -> StoredRequest | None:
        """Return the last request of a turn; None where it is not kept.

        Raises:
            StorageFailed: the database cannot be read.
        """
        row = self._run(
            lambda db: db.execute(
                "SELECT number, report, body, wire FROM request WHERE session = ? AND turn = ?",
                (session, turn),
            ).fetchone()
        )
        if row is None:
            return None
        number, report, body, wire = row
        return StoredRequest(
            session=session,
            turn=turn,
            number=number,
            report=_unpacked(report),
            body=_unpacked(body),
            wire=None if wire is None else _unpacked(wire),
        )

    def kept_turns(self, session: str) -> frozenset[str]:
        """Return the turns of a chat whose last request is kept.

        Raises:
            StorageFailed: the database cannot be read.
        """
        rows = self._run(
            lambda db: db.execute(
                "SELECT turn FROM request WHERE session = ?", (session,)
            ).fetchall()
        )
        return frozenset(turn for (turn,) in rows)

    def chat_info(self, session: str, size: int, mtime_ns: int) -> dict[str, Any] | None:
        """Return what the list showed of a chat's file of that size and time.

        Raises:
            StorageFailed: the database cannot be read.
        """
        row = self._run(
            lambda db: db.execute(
                "SELECT info FROM chat WHERE session = ? AND size = ? AND mtime_ns = ?",
                (session, size, mtime_ns),
            ).fetchone()
        )
        return None if row is None else dict(json.loads(row[0]))

    def save_chat_info(
        self, session: str, size: int, mtime_ns: int, info: Mapping[str, Any]
    ) -> None:
        """Remember what the list shows of a chat.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (session, size, mtime_ns, json.dumps(info, ensure_ascii=False))
        self._run(lambda db: db.execute("INSERT OR REPLACE INTO chat VALUES (?, ?, ?, ?)", row))

    def save_snapshot(self, session: str, counts: Snapshot) -> None:
        """Remember what was counted of a chat.

        Raises:
            StorageFailed: the database cannot be written.
        """
        data = _packed(counts)
        row = (session, hashlib.sha256(data).hexdigest(), data)
        self._run(
            lambda db: db.execute("INSERT OR REPLACE INTO session_snapshots VALUES (?, ?, ?)", row)
        )

    def snapshot(self, session: str) -> Snapshot:
        """Return what was counted of a chat; nothing where that is not known, or was tampered with.

        Raises:
            StorageFailed: the database cannot be read.
        """
        row = self._run(
            lambda db: db.execute(
                "SELECT checksum, counts FROM session_snapshots WHERE session = ?", (session,)
            ).fetchone()
        )
        if row is None or not isinstance(row[1], bytes):
            return {}
        checksum, data = row
        return _unpacked(data) if hashlib.sha256(data).hexdigest() == checksum else {}

    def keep_result(self, tool: str, content: str) -> str:
        """Keep a tool's result, and return the reference that it is read by; it is on disk then.

        The same result has the same reference, in whatever chat.

        Raises:
            StorageFailed: the database cannot be written.
        """
        data = content.encode("utf-8", "surrogatepass")
        ref_id = f"r{hashlib.sha256(data).hexdigest()[:20]}"
        row = (ref_id, tool, zlib.compress(data))
        self._run(
            lambda db: db.execute("INSERT OR IGNORE INTO tool_result_blobs VALUES (?, ?, ?)", row)
        )
        return ref_id

    def result(self, ref_id: str) -> str | None:
        """Return a tool's result; None where none has that reference.

        Raises:
            StorageFailed: the database cannot be read.
        """
        row = self._run(
            lambda db: db.execute(
                "SELECT content FROM tool_result_blobs WHERE ref_id = ?", (ref_id,)
            ).fetchone()
        )
        return None if row is None else zlib.decompress(row[0]).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the file; it is opened again when it is used again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                try:
                    return work(self._opened())
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(error)
                    return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                raise StorageFailed(f"{self._path} cannot be used: {error}.") from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_folder(self._path.parent)
            self._path.touch(mode=0o600)
            connection = sqlite3.connect(
                self._path, timeout=10, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        self.close()
        _log.warning("%s was damaged (%s) and is begun anew", self._path, error)
        self._path.replace(self._path.with_suffix(".db.damaged"))
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):  # they exist only after a crash
                self._path.with_name(self._path.name + suffix).unlink()


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return error.sqlite_errorcode in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _packed(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False)
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpacked(blob: bytes) -> dict[str, Any]:
    return dict(json.loads(zlib.decompress(blob).decode("utf-8", "surrogatepass")))
