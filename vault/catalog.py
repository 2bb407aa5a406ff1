"""The catalog: a SQLite database of all files, passages, links, tags and vectors.

It is a single file in WAL mode. One connection writes, while any number of threads and processes
can read. All other files of an index can be rebuilt from the catalog.
"""

import json
import sqlite3
import threading
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from resources.system.files import create_empty
from vault.database_file import (
    choose_read_mode,
    is_damage_error,
    is_full_disk_error,
    set_aside,
    use_write_ahead_log,
)
from vault.embedding.chunking import CHUNKER_VERSION, build_embedded_text
from vault.errors import DiskFull, IndexDamaged, IndexOutdated, IndexUnusable
from vault.migrations import (
    MIGRATIONS,
    add_vocabulary,
    is_damaged,
    migrate,
    read_schema_version,
)
from vault.notes.keywords import WORDS_VERSION
from vault.scan import FileStat

State = Literal["indexed", "excluded", "failed"]
Row = tuple[Any, ...]
VectorTable = Literal["vectors", "spare_vectors"]

NEVER_SEEN = FileStat(-1, -1, -1, -1)
CATALOG_FILE = "catalog.db"
FINGERPRINT = "fingerprint"  # of the folder, from the last run that completed all work
UNFINISHED = "unfinished"  # the number of notes in the folder, until all of them were read
VECTORLESS = "vectorless"  # set while passages may lack vectors, also if the run was stopped
DAY_FORMATS = "day_formats"  # of daily notes, as they are set in Obsidian
_BUSY_S = 30.0
_MOST_VERSIONS: Final = 10_000
_STAMP = {"chunker": CHUNKER_VERSION, "words": WORDS_VERSION}


class Catalog:
    """The catalog of one vault.

    Methods that change the catalog must be called within `with catalog.transaction():`. The changes
    of a transaction are committed together or not at all.

    Attributes:
        was_damaged: whether the file was damaged and has been replaced.
    """

    def __init__(self, path: Path, *, is_writable: bool):
        """Open the catalog. If it is writable, create a missing file and replace a damaged one.

        Raises:
            IndexOutdated: it is read-only, and an earlier version of Strata made it.
            IndexUnusable: the catalog cannot be opened, or was made by another version of Strata.
        """
        self.path = path
        self.is_writable = is_writable
        self.was_damaged = False
        self._writing_lock = threading.RLock()
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        try:
            self._begin()
        except IndexDamaged:
            if not is_writable:
                raise
            self.close()
            set_aside(path)
            self.was_damaged, self._is_closed = True, False
            self._begin()

    @property
    def is_new(self) -> bool:
        """Whether the catalog is new, and its tables or metadata have not been written yet."""
        if self.rows("PRAGMA user_version")[0][0] == 0:
            return True
        return not self.rows("SELECT 1 FROM meta LIMIT 1")

    # -- reading

    def rows(self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Run an SQL query on the committed data, and return all rows. Thread-safe.

        Raises:
            IndexUnusable: the file cannot be read.
        """
        with self._translate_errors():
            reader = self._borrow()
            try:
                return reader.execute(statement, parameters).fetchall()
            finally:
                self._give_back(reader)

    def meta(self, key: str) -> str | None:
        """Read a value from the table `meta`, or return None if it is missing."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    def list_unembedded(self, table: VectorTable = "vectors") -> list[Row]:
        """Return the passage id, token count and file id of each text without a vector."""
        return self.rows(
            "SELECT min(id), tokens, file_id FROM chunks"  # noqa: S608 - a name of ours
            f" WHERE hash NOT IN (SELECT hash FROM {table}) GROUP BY hash ORDER BY 1"
        )

    def list_unembedded_among(
        self, paths: Collection[str], table: VectorTable = "vectors"
    ) -> list[Row]:
        """List texts without a vector, like `list_unembedded`, but only from the given notes."""
        return self.rows(
            "SELECT min(chunks.id), tokens, file_id"  # noqa: S608 - a name of ours
            " FROM chunks JOIN files ON files.id = file_id"
            " WHERE path IN (SELECT value FROM json_each(?))"
            f" AND NOT EXISTS (SELECT 1 FROM {table} AS v"
            " WHERE v.hash = chunks.hash)"
            " GROUP BY chunks.hash ORDER BY 1",
            (json.dumps(list(paths)),),
        )

    def count_unembedded(self, table: VectorTable = "vectors") -> int:
        """Count the passages without a vector in the given table."""
        missing = f"hash NOT IN (SELECT hash FROM {table})"  # noqa: S608 - a name of ours
        return int(self.rows(f"SELECT count(*) FROM chunks WHERE {missing}")[0][0])  # noqa: S608

    def texts(self, chunk_ids: Sequence[int]) -> list[tuple[bytes, str]]:
        """Return the text hash and the embedded text of each passage, skipping unknown ids."""
        return [
            (bytes(row[0]), build_embedded_text(row[1], row[2]))
            for row in self.rows(
                "SELECT hash, context, text FROM chunks"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(chunk_ids),),
            )
        ]

    def read_vector_hashes(self) -> set[bytes]:
        """Return the hashes of all texts with a vector."""
        return {bytes(row[0]) for row in self.rows("SELECT hash FROM vectors")}

    def vector(self, text_hash: bytes) -> bytes | None:
        """Return the vector of a text as float32 bytes, or None if it has no vector."""
        found = self.rows("SELECT vector FROM vectors WHERE hash = ?", (text_hash,))
        return bytes(found[0][0]) if found else None

    def vectors(self, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        """Map the hashes of texts to their vectors. Texts without a vector are skipped."""
        marks = ", ".join("?" * len(hashes))
        rows = self.rows(
            f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})",  # noqa: S608 - marks
            tuple(hashes),
        )
        return {bytes(row[0]): bytes(row[1]) for row in rows}

    # -- writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes made in the block, or roll them back after an exception."""
        with self._writing_lock, self._translate_errors():
            writer = self._require_writer()
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:  # not after a full disk, which has ended it already
                    writer.execute("ROLLBACK")
                raise

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run an SQL statement within the current transaction."""
        return self._require_writer().execute(statement, parameters)

    def run_many(self, statement: str, rows: Sequence[Row]) -> None:
        """Run an SQL statement once for each row, within the current transaction."""
        if rows:
            self._require_writer().executemany(statement, rows)

    def set_meta(self, key: str, value: str) -> None:
        """Write a value to the table `meta`."""
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def add_vectors(
        self, hashes: Sequence[bytes], vectors: Sequence[bytes], table: VectorTable = "vectors"
    ) -> None:
        """Store float32 vectors in `table`, each under the hash of its text."""
        pairs = list(zip(hashes, vectors, strict=True))
        statement = f"INSERT OR IGNORE INTO {table} (hash, vector) VALUES (?, ?)"  # noqa: S608
        self.run_many(statement, pairs)

    def drop_unused_vectors(self) -> int:
        """Delete vectors whose text no longer occurs in any note. Return how many were deleted."""
        unused = "WHERE hash NOT IN (SELECT hash FROM chunks)"
        self.run(f"DELETE FROM spare_vectors {unused}")  # noqa: S608 - words of ours
        dropped = self.run(f"DELETE FROM vectors {unused}").rowcount  # noqa: S608
        if dropped:
            self.mark_vectors_changed()
        return dropped

    def mark_vectors_changed(self) -> None:
        """Make all processes discard the vectors that they have cached in memory."""
        self.set_meta("vectors_epoch", str(int(self.meta("vectors_epoch") or 0) + 1))

    def clear(self) -> None:
        """Delete all files and vectors from the catalog."""
        self._forget_files()
        for table in ("vectors", "spare_vectors"):
            self.run(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
        self.mark_vectors_changed()
        self.set_meta(FINGERPRINT, "")

    def read_state(self) -> tuple[tuple[int, int, int], ...]:
        """Return a value that is another one after each transaction of any process.

        It is made from the attributes of the database and its write-ahead log, so no row is read.
        """
        files = self.path, self.path.with_name(f"{self.path.name}-wal")
        stats = [file.stat() for file in files if file.exists()]
        return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)

    def close(self) -> None:
        """Close all connections to the database."""
        with self._writing_lock, self._lock:
            for connection in [*self._idle, *([self._writer] if self._writer else [])]:
                connection.close()
            self._idle, self._writer, self._is_closed = [], None, True

    # -- inside

    def _forget_files(self) -> None:
        self.run("DELETE FROM files")
        self.run("INSERT INTO words (words) VALUES ('delete-all')")
        self.run("INSERT INTO note_words (note_words) VALUES ('delete-all')")
        self.run("DELETE FROM meta WHERE key = 'ranking'")

    def _require_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            raise IndexUnusable("The index was closed, or opened for reading only.")
        return self._writer

    def _begin(self) -> None:
        with self._translate_errors():
            if self.is_writable:
                self._writer = self._prepare(self._connect())
            self._check_stamp()

    def _connect(self) -> sqlite3.Connection:
        if self.is_writable and not self.path.exists():
            create_empty(self.path)  # SQLite gives its other files the same permissions
        mode = "mode=rwc" if self.is_writable else choose_read_mode(self.path)
        uri = f"{self.path.absolute().as_uri()}?{mode}"
        return sqlite3.connect(
            uri, _BUSY_S, uri=True, isolation_level=None, check_same_thread=False
        )

    def _prepare(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            self._refuse_newer(connection)
            use_write_ahead_log(connection, _BUSY_S)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_newer(self, connection: sqlite3.Connection) -> None:
        version = read_schema_version(connection)
        if not 0 <= version <= _MOST_VERSIONS:
            raise self._damage_error(f"it claims to have {version:,} versions")
        if version > len(MIGRATIONS):
            self._refuse_damaged(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            raise IndexUnusable(
                f"The index in {self.path.parent} was made by a newer version of Strata; "
                "update Strata, or delete that folder to build the index anew."
            )

    def _check_stamp(self) -> None:
        """Clear a catalog in another version's format. Raise `IndexUnusable` if it is read-only."""
        if self.is_new and not self.is_writable:
            return
        version = self.rows("PRAGMA user_version")[0][0]
        if not self.is_writable and version != len(MIGRATIONS):
            is_one = 0 <= version <= _MOST_VERSIONS
            check_result = self.rows("PRAGMA quick_check(1)")[0][0] if is_one else "a version"
            self._refuse_damaged(check_result)
            is_outdated = version < len(MIGRATIONS) and not self._list_differing()
            raise (IndexOutdated if is_outdated else IndexUnusable)(self._other_version)
        differing = self._list_differing()
        if not differing:
            return
        if not self.is_writable:
            raise IndexUnusable(self._other_version)
        with self.transaction():
            self._forget_files()
            for key, value in {**_STAMP, FINGERPRINT: ""}.items():
                self.set_meta(key, value)

    def _list_differing(self) -> set[str]:
        """Return what of the format is that of another version, so that all notes are read anew."""
        return {key for key, value in _STAMP.items() if self.meta(key) != value}

    @property
    def _other_version(self) -> str:
        return (
            f"The index in {self.path.parent} was made by another version of Strata. "
            "Index these notes again, and close the other version if it still runs."
        )

    def _refuse_damaged(self, check_result: str) -> None:
        """Raise `IndexDamaged` unless the result of SQLite's damage check is "ok".

        Damage is checked before the version, because the stored version itself may be damaged.
        """
        if check_result != "ok":
            raise self._damage_error(check_result)

    def _damage_error(self, how: str) -> IndexDamaged:
        return IndexDamaged(
            f"The index in {self.path.parent} is damaged ({how}). "
            "It is made anew from the notes when they are indexed again."
        )

    def _borrow(self) -> sqlite3.Connection:
        with self._lock:
            if self._is_closed:
                raise IndexUnusable("The index was closed while it was in use.")
            return self._idle.pop() if self._idle else add_vocabulary(self._connect())

    def _give_back(self, reader: sqlite3.Connection) -> None:
        with self._lock:
            if self._is_closed:
                reader.close()
            else:
                self._idle.append(reader)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if is_damage_error(error, self.path) or (
                isinstance(error, sqlite3.IntegrityError) and is_damaged(self.path)
            ):
                raise self._damage_error(str(error)) from error
            if is_full_disk_error(error, self.path):
                raise DiskFull(
                    f"The disk is full: {self.path.parent} could not be written. Nothing that was "
                    "saved is lost."
                ) from error
            raise IndexUnusable(
                f"The index in {self.path.parent} cannot be used ({error}); "
                "make it writable, free some space or delete that folder, then index again."
            ) from error
        except (UnicodeDecodeError, OverflowError) as error:  # perhaps from a message of SQLite
            if not is_damaged(self.path):
                raise
            raise self._damage_error("it holds what is no text") from error


class MemoryCatalog(Catalog):
    """A catalog that no file contains, so that nothing of it is left when the process ends."""

    def __init__(self) -> None:
        """Create an empty catalog."""
        super().__init__(Path(f"strata-{uuid.uuid4().hex}"), is_writable=True)

    def _connect(self) -> sqlite3.Connection:
        uri = f"file:{self.path.name}?mode=memory&cache=shared"
        return sqlite3.connect(
            uri, _BUSY_S, uri=True, isolation_level=None, check_same_thread=False
        )
