"""The database `state.db`: last requests, chat summaries, large tool results, partial answers.

A damaged database is renamed and replaced, because requests and summaries can be rebuilt, and chats
can continue without tool results and partial answers. It counts as damaged if SQLite reports
damage, or if it contains unexpected data.
"""

import errno
import hashlib
import json
import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from app.errors import StorageFailed, build_storage_error
from app.migrations import migrate
from app.request_images import (
    StoredRequest,
    compress_text,
    decode_json,
    decode_request,
    decompress_text,
    encode_json,
    encode_request,
)
from resources.system.files import create_empty, make_private_folder
from vault.database_file import (
    choose_read_mode,
    find_denied_write,
    is_damage_error,
    is_full_disk_error,
    set_aside,
    use_write_ahead_log,
)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Row = tuple[Any, ...]
CopyUse = Literal["restored", "merged", "unchanged"]
_MOST_VERSIONS: Final = 10_000
_BUSY_S: Final = 30.0  # other processes write for milliseconds, unless the machine is overloaded
# Raised when bytes that Strata did not write are decoded.
_NOT_OURS: Final = (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)
# A row for each image of the request, or one row if it has none.
_SELECT_REQUEST: Final = """
    SELECT number, report, body, wire, hash, data
    FROM request LEFT JOIN request_image USING (session, turn) LEFT JOIN image USING (hash)
    WHERE session = ? AND turn = ?
"""
_DELETE_UNUSED_IMAGES: Final = (
    "DELETE FROM image WHERE hash NOT IN (SELECT hash FROM request_image)"
)

# What is read from a copy, by table: only rows with values of the types that Strata writes.
_READ_COPY: Final = {
    "tool_result_blobs": "SELECT ref_id, tool, content FROM tool_result_blobs "
    "WHERE typeof(ref_id) = 'text' AND typeof(tool) = 'text' AND typeof(content) = 'blob'",
    "partial_answer": "SELECT session, entry FROM partial_answer "
    "WHERE typeof(session) = 'text' AND typeof(entry) = 'text'",
    "image": "SELECT hash, data FROM image WHERE typeof(hash) = 'text' AND typeof(data) = 'blob'",
    "request": "SELECT session, turn, number, report, body, wire FROM request "
    "WHERE typeof(session) = 'text' AND typeof(turn) = 'text' AND typeof(number) = 'integer' "
    "AND typeof(report) = 'blob' AND typeof(body) = 'blob' AND typeof(wire) IN ('blob', 'null')",
    "request_image": "SELECT session, turn, hash FROM request_image WHERE typeof(session) = 'text' "
    "AND typeof(turn) = 'text' AND typeof(hash) = 'text'",
}

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


class StateDB:
    """The database `state.db`, which threads and processes can share."""

    def __init__(self, path: Path) -> None:
        """Create the object. The database file is opened on first use."""
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._was_damaged = False

    def take_warning(self) -> str:
        """Return a warning if the database was damaged. Later calls return an empty string."""
        with self._lock:
            was_damaged, self._was_damaged = self._was_damaged, False
        return STATE_DAMAGED if was_damaged else ""

    def save_request(self, request: StoredRequest) -> None:
        """Store a turn's latest request, replacing the previous one.

        Each image is stored only once, even if many requests contain it.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row, images = encode_request(request)

        def write(db: sqlite3.Connection) -> None:
            with db:  # one transaction
                db.execute("BEGIN IMMEDIATE")
                db.execute("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?)", row)
                _replace_images(db, row[:2], images)

        self._run(write)

    def save_report(self, session: str, turn: str, number: int, report: Mapping[str, Any]) -> bool:
        """Replace the report of a stored request, and return whether the request exists.

        Raises:
            StorageFailed: the database cannot be written.
        """
        row = (encode_json(report), session, turn, number)
        statement = "UPDATE request SET report = ? WHERE session = ? AND turn = ? AND number = ?"
        return self._write(statement, row) > 0

    def request(self, session: str, turn: str) -> StoredRequest | None:
        """Return a turn's last request, or None if no request is stored.

        Raises:
            StorageFailed: the database cannot be read.
        """
        return self._read(
            _SELECT_REQUEST,
            (session, turn),
            lambda rows: decode_request(session, turn, rows) if rows else None,
        )

    def list_kept_turns(self, session: str) -> frozenset[str]:
        """Return the ids of a chat's turns for which a request is stored.

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

    def find_chat_info(self, session: str, size: int, mtime_ns: int) -> dict[str, Any] | None:
        """Return a chat's stored list entry, or None if the chat's file has changed since.

        Args:
            session: the id of the chat.
            size: the current size of the chat's file in bytes.
            mtime_ns: the current modification time of the file, in nanoseconds.

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
        data = encode_json(counts)
        row = (session, hashlib.sha256(data).hexdigest(), data)
        self._write("INSERT OR REPLACE INTO session_snapshots VALUES (?, ?, ?)", row)

    def snapshot(self, session: str) -> Snapshot:
        """Return the stored token counts of a chat's messages.

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
        return decode_json(data) if hashlib.sha256(data).hexdigest() == checksum else {}

    def keep_result(self, tool: str, content: str) -> str:
        """Store a tool result, and return a reference to it.

        Equal results share a reference, even between chats.

        Raises:
            StorageFailed: the database cannot be written.
        """
        data = content.encode("utf-8", "surrogatepass")
        ref_id = _name_result(data)
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
            lambda row: decompress_text(row[0]),
        )

    def save_partial(self, session: str, entry: Mapping[str, Any]) -> None:
        """Store a chat's partial answer as a log entry, replacing the one that was stored before.

        Raises:
            StorageFailed: the database cannot be written.
        """
        self._write(
            "INSERT OR REPLACE INTO partial_answer VALUES (?, ?)", (session, json.dumps(entry))
        )

    def partial(self, session: str) -> dict[str, Any] | None:
        """Return the log entry of a chat's partial answer, or None.

        Raises:
            StorageFailed: the database cannot be read.
        """
        return self._one(
            "SELECT entry FROM partial_answer WHERE session = ?",
            (session,),
            lambda row: dict(json.loads(_of_type(str, row[0]))),
        )

    def forget_partial(self, session: str) -> None:
        """Remove a chat's partial answer, because the log now contains the answer.

        Raises:
            StorageFailed: the database cannot be written.
        """
        self._write("DELETE FROM partial_answer WHERE session = ?", (session,))

    def forget_chat(self, session: str) -> None:
        """Remove all data of a chat except tool results. The deleted bytes are overwritten.

        Raises:
            StorageFailed: the database cannot be written.
        """
        self._write("DELETE FROM request WHERE session = ?", (session,))
        self._write("DELETE FROM request_image WHERE session = ?", (session,))
        self._write(_DELETE_UNUSED_IMAGES, ())
        self._write("DELETE FROM chat WHERE session = ?", (session,))
        self._write("DELETE FROM session_snapshots WHERE session = ?", (session,))
        self.forget_partial(session)
        self._empty_wal()

    def forget_results(self, results: Iterable[str]) -> None:
        """Remove tool results by their references. The deleted bytes are overwritten.

        Raises:
            StorageFailed: the database cannot be written.
        """
        for ref_id in results:
            self._write("DELETE FROM tool_result_blobs WHERE ref_id = ?", (ref_id,))
        self._empty_wal()

    def copy_to(self, path: Path) -> None:
        """Copy the database to a new file, while other processes may write to it.

        Raises:
            StorageFailed: the database cannot be read or is damaged, or the file cannot be written.
            FileNotFoundError: there is no database, and none can be made.
        """

        def copy(db: sqlite3.Connection) -> None:
            with closing(sqlite3.connect(path)) as target:
                db.backup(target)

        folder = self._path.parent
        if folder.is_dir() and not os.access(folder, os.W_OK):
            self._read_only(copy)
        else:
            self._run(copy)
        with _open_copy(path) as connection:
            _require_sound(connection)

    def _read_only(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with a database that cannot be written, and may be of an older version."""
        uri = f"{self._path.absolute().as_uri()}?{choose_read_mode(self._path)}"
        try:
            self._path.stat()
            with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S)) as connection:
                work(connection)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise build_storage_error(self._path, error) from error
        except (sqlite3.Error, *_UNREADABLE) as error:
            raise StorageFailed(f"{self._path} cannot be used: {error}.") from error

    def merge_from(self, path: Path, is_stored: Callable[[str], bool]) -> CopyUse:
        """Add the tool results, requests and partial answers of a copy that are not here yet.

        The copy is read before anything is written, so a damaged one changes nothing here.
        Return "restored" if there was nothing here, "merged" if rows were added to others, and
        "unchanged" if none were added.

        Args:
            path: the copy, which is migrated to the current version.
            is_stored: returns whether a chat is stored here. Its partial answer stays as it is.

        Raises:
            StorageFailed: the copy cannot be read, or the database cannot be written.
        """
        copy = StateDB(path)
        copy._run(lambda _db: None)
        copy.close()
        if copy.take_warning():
            raise _refuse_copy("it was damaged")
        with _open_copy(path) as connection:
            _require_sound(connection)
            rows = {table: connection.execute(_READ_COPY[table]).fetchall() for table in _READ_COPY}
        rows["tool_result_blobs"] = [row for row in rows["tool_result_blobs"] if _is_result(row)]
        rows["partial_answer"] = [row for row in rows["partial_answer"] if not is_stored(row[0])]
        return self._run(lambda db: _add_rows(db, rows))

    def close(self) -> None:
        """Close the database. The next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _empty_wal(self) -> None:
        """Truncate the write-ahead log, which still contains deleted rows."""
        self._run(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    def _one(
        self, statement: str, parameters: Sequence[Any], decode: Callable[[_Row], _T]
    ) -> _T | None:
        return next(iter(self._all(statement, parameters, decode)), None)

    def _all(
        self, statement: str, parameters: Sequence[Any], decode: Callable[[_Row], _T]
    ) -> list[_T]:
        return self._read(statement, parameters, lambda rows: [decode(row) for row in rows])

    def _read(
        self, statement: str, parameters: Sequence[Any], decode: Callable[[list[_Row]], _T]
    ) -> _T:
        def read(db: sqlite3.Connection) -> _T:
            rows = db.execute(statement, parameters).fetchall()
            try:
                return decode(rows)
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
                if isinstance(error, sqlite3.Error) and is_full_disk_error(error, self._path):
                    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    raise build_storage_error(self._path, full) from error
                denied = error if isinstance(error, OSError) else find_denied_write(self._path)
                if denied is not None:
                    raise build_storage_error(self._path, denied) from error
                raise StorageFailed(f"{self._path} cannot be used: {error}.") from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_folder(self._path.parent)
            create_empty(self._path)
            self._identity = self._identity_now()
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                use_write_ahead_log(connection, _BUSY_S)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")  # deleted chats leave no text
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


@contextmanager
def _open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of the database. Its errors are not those of the database itself."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            yield connection
    except (sqlite3.Error, *_UNREADABLE) as error:
        raise _refuse_copy(str(error)) from error


def _require_sound(connection: sqlite3.Connection) -> None:
    (check_result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if check_result != "ok" or not _READ_COPY.keys() <= {name for (name,) in tables}:
        raise _refuse_copy("it is damaged")


def _refuse_copy(reason: str) -> StorageFailed:
    return StorageFailed(f"The copy of the database cannot be used: {reason}.")


def _is_result(row: _Row) -> bool:
    """Return whether a row has the tool result that its reference, a hash, names."""
    try:
        data = zlib.decompress(row[2])
    except zlib.error:
        return False
    return bool(row[0] == _name_result(data))


def _name_result(data: bytes) -> str:
    return f"r{hashlib.sha256(data).hexdigest()[:20]}"


def _add_rows(db: sqlite3.Connection, rows: Mapping[str, Sequence[_Row]]) -> CopyUse:
    """Add the rows of a copy that the database has not got, and return what was done."""
    added = 0
    with db:
        db.execute("BEGIN IMMEDIATE")
        selects = (f"SELECT 1 FROM {table} LIMIT 1" for table in _READ_COPY)  # noqa: S608 - ours
        was_empty = not any(db.execute(select).fetchone() for select in selects)
        known = set(db.execute("SELECT session, turn FROM request"))
        images = [row for row in rows["request_image"] if row[:2] not in known]
        for table, found in {**rows, "request_image": images}.items():
            marks = ", ".join("?" * len(found[0])) if found else ""
            if found:
                done = db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", found)  # noqa: S608 - a name of ours
                added += 0 if table == "image" else done.rowcount  # an unused one is removed below
        db.execute(_DELETE_UNUSED_IMAGES)
    if not added:
        return "unchanged"
    return "restored" if was_empty else "merged"


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


def _replace_images(
    db: sqlite3.Connection, place: Sequence[Any], images: Mapping[str, str]
) -> None:
    """Store which images a turn's request contains, and store the images that are new.

    Args:
        db: the open database.
        place: the chat id and the turn id.
        images: the images in base64, by hash.
    """
    removed = db.execute("DELETE FROM request_image WHERE session = ? AND turn = ?", place)
    for key, image in images.items():
        db.execute("INSERT INTO request_image VALUES (?, ?, ?)", (*place, key))
        if not db.execute("SELECT 1 FROM image WHERE hash = ?", (key,)).fetchone():
            db.execute("INSERT INTO image VALUES (?, ?)", (key, compress_text(image)))
    if removed.rowcount:
        db.execute(_DELETE_UNUSED_IMAGES)
