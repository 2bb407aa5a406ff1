"""The catalog's schema, as numbered migrations that never change once released.

SQLite's `user_version` stores the number of applied migrations. A migration may delete derived
data, because updates can rebuild it from the notes. Vectors are kept as long as their text exists.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from vault.database_file import choose_read_mode, is_damage_error
from vault.notes.keywords import TOKENIZER, build_note_words, list_note_names
from vault.notes.links import list_link_names

_NOTES_CHUNKS_VECTORS = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('indexed', 'excluded', 'failed')),
    reason TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT ''
);
CREATE INDEX files_by_version ON files (version);
CREATE TABLE notes (
    file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    aliases TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,
    hash BLOB NOT NULL,
    heading TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_by_file ON chunks (file_id);
CREATE INDEX chunks_by_hash ON chunks (hash);
CREATE TABLE links (
    file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,
    line INTEGER NOT NULL,
    target TEXT NOT NULL,
    heading TEXT NOT NULL,
    label TEXT NOT NULL,
    is_embed INTEGER NOT NULL
);
CREATE INDEX links_by_file ON links (file_id);
CREATE TABLE tags (
    file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,
    tag TEXT NOT NULL
);
CREATE INDEX tags_by_file ON tags (file_id);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    vector BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(
    title, heading, body, content='', tokenize="{TOKENIZER}"
);
"""


def m001_notes_chunks_vectors(connection: sqlite3.Connection) -> None:
    """Create the tables for files, notes, passages, links, tags, keywords and vectors.

    `files` stores the state of every file, so that unchanged files are not read again. `vectors` is
    keyed by text hash and separate from `chunks`, so that vectors survive edits, moves and
    rebuilds. `words` is a full-text index that stores no text. To remove a row, its text must be
    computed again.
    """
    for statement in _NOTES_CHUNKS_VECTORS.split(";\n"):
        connection.execute(statement)


def m002_spare_vectors(connection: sqlite3.Connection) -> None:
    """Add a table for the vectors of a second embedding model.

    When the spare table is complete, the two tables swap names. Searches therefore always use the
    table `vectors`.
    """
    connection.execute(
        "CREATE TABLE spare_vectors ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
    )


def m003_days(connection: sqlite3.Connection) -> None:
    """Add a table for dates in note properties, and schedule all notes for re-reading.

    Until a note is read again, its indexed passages are kept. Searches still find these passages,
    unless the file is of a type that is parsed in a child process.
    """
    connection.execute(
        "CREATE TABLE days ("
        " file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,"
        " day TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX days_by_file ON days (file_id)")
    schedule_reading(connection)


def m004_names(connection: sqlite3.Connection) -> None:
    """Add a table of the names that links can use for notes, to resolve links in SQL."""
    connection.execute(
        "CREATE TABLE names ("
        " file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,"
        " name TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX names_by_name ON names (name)")
    connection.execute("CREATE INDEX names_by_file ON names (file_id)")
    notes = connection.execute(
        "SELECT file_id, path, aliases FROM notes JOIN files ON files.id = file_id"
    ).fetchall()
    for file_id, path, aliases in notes:
        names = list_link_names(path, json.loads(aliases) if _is_list_of_texts(aliases) else ())
        rows = [(file_id, name) for name in sorted(names)]
        connection.executemany("INSERT INTO names VALUES (?, ?)", rows)


def m005_note_words(connection: sqlite3.Connection) -> None:
    """Add a full-text index of whole notes, and fill it from the stored passages.

    The index finds long notes by words that occur in different passages. Like `words`, it stores no
    text.
    """
    connection.execute(
        "CREATE VIRTUAL TABLE note_words USING fts5("
        f"names, body, content='', tokenize=\"{TOKENIZER}\")"
    )
    notes = connection.execute(
        "SELECT file_id, path, title, aliases FROM notes JOIN files ON files.id = file_id"
    ).fetchall()
    for file_id, path, title, aliases in notes:
        rows = connection.execute(
            "SELECT text FROM chunks WHERE file_id = ? ORDER BY id", (file_id,)
        )
        known = json.loads(aliases) if _is_list_of_texts(aliases) else []
        names = list_note_names(path, title, known)
        connection.execute(
            "INSERT INTO note_words (rowid, names, body) VALUES (?, ?, ?)",
            (file_id, *build_note_words(names, [row[0] for row in rows])),
        )


def m006_structure(connection: sqlite3.Connection) -> None:
    """Add a column for what the lines of each passage are: code, headings, comments or text.

    Passages without it are read as if they began outside of all blocks.
    """
    connection.execute("ALTER TABLE chunks ADD COLUMN structure TEXT NOT NULL DEFAULT ''")


def m007_properties(connection: sqlite3.Connection) -> None:
    """Add a table for the properties of notes, and schedule all notes for re-reading.

    Until a note is read again, its indexed passages and their vectors are kept.
    """
    connection.execute(
        "CREATE TABLE properties ("
        " file_id INTEGER NOT NULL REFERENCES notes (file_id) ON DELETE CASCADE,"
        " name TEXT NOT NULL, value TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX properties_by_file ON properties (file_id)")
    connection.execute("CREATE INDEX properties_by_name ON properties (name)")
    schedule_reading(connection)


def m008_ctime(connection: sqlite3.Connection) -> None:
    """Add the time of the last change of a file or its attributes.

    It is unknown for the files of the catalog, so that the next update reads all of them, but only
    those with another content are parsed.
    """
    connection.execute("ALTER TABLE files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT -1")
    connection.execute("DELETE FROM meta WHERE key = 'fingerprint'")


def m009_more_names(connection: sqlite3.Connection) -> None:
    """Schedule all notes for re-reading.

    Tags of several words, and properties within others, were not read before.
    """
    schedule_reading(connection)


def schedule_reading(connection: sqlite3.Connection) -> None:
    """Let the next update read all notes once more, such as for a table that was added.

    Passages whose text is the same keep their vectors, so nothing is embedded again.
    """
    connection.execute("UPDATE files SET mtime_ns = -1, size = -1, version = ''")
    connection.execute("DELETE FROM meta WHERE key = 'fingerprint'")


def _is_list_of_texts(value: Any) -> bool:
    try:
        found = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return isinstance(found, list) and all(isinstance(item, str) for item in found)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_notes_chunks_vectors,
    m002_spare_vectors,
    m003_days,
    m004_names,
    m005_note_words,
    m006_structure,
    m007_properties,
    m008_ctime,
    m009_more_names,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply all missing migrations to a catalog, each in its own transaction."""
    for number, step in enumerate(MIGRATIONS, start=1):
        if read_schema_version(connection) < number:
            connection.execute("BEGIN IMMEDIATE")
            try:
                step(connection)
                connection.execute(f"PRAGMA user_version = {number}")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # not after a full disk, which has ended it already
                    connection.execute("ROLLBACK")
                raise


def add_vocabulary(reader: sqlite3.Connection) -> sqlite3.Connection:
    """Add a temporary table `vocabulary` with all stems of the full-text index of passages.

    Return the same connection.
    """
    reader.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
    return reader


def read_schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of applied migrations."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


_TYPES: Final[dict[str, type]] = {"INTEGER": int, "TEXT": str, "BLOB": bytes}
_JSON: Final = frozenset({("notes", "aliases"), ("chunks", "heading")})
_MOST_LINES: Final = 1 << 31


def find_damage(connection: sqlite3.Connection) -> str | None:
    """Describe the first damage found in a catalog of the latest schema, or return None.

    This includes damage that SQLite does not detect: missing columns, wrong types, invalid UTF-8 or
    JSON, and vectors of different lengths.

    Raises:
        sqlite3.Error: the catalog cannot be read at all.
    """
    return next(_find_damages(connection), None)


def _find_damages(connection: sqlite3.Connection) -> Iterator[str]:
    for (result,) in connection.execute("PRAGMA integrity_check(1)"):
        if result != "ok":
            yield str(result)
    whole = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(whole)
        tables = whole.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'")
        for (table,) in tables.fetchall():
            columns = [(row[1], row[2]) for row in whole.execute(f"PRAGMA table_info({table})")]
            yield from _find_table_damages(connection, table, columns)
    finally:
        whole.close()
    for table in ("vectors", "spare_vectors"):
        lengths = connection.execute(f"SELECT DISTINCT length(vector) FROM {table}")  # noqa: S608
        found = [length for (length,) in lengths]
        if len(found) > 1 or any(length % 4 for length in found):
            yield f"{table} of unequal length"
    epoch = connection.execute("SELECT value FROM meta WHERE key = 'vectors_epoch'").fetchone()
    if epoch is not None and not epoch[0].isdecimal():
        yield "a counter that is no number"


def _find_table_damages(
    connection: sqlite3.Connection, table: str, columns: list[tuple[str, str]]
) -> Iterator[str]:
    """Yield a description of each damaged value in a table. For vectors, only check the type.

    Args:
        connection: the connection to the catalog.
        table: the name of the table.
        columns: the name and the SQL type of each column.
    """
    wanted = [f"typeof({name})" if name == "vector" else name for name, _ in columns]
    for row in connection.execute(f"SELECT {', '.join(wanted)} FROM {table}"):  # noqa: S608 - ours
        for (name, kind), value in zip(columns, row, strict=True):
            if name == "vector":
                is_sound = value == "blob"
            else:
                is_sound = isinstance(value, _TYPES.get(kind, object))
            if not is_sound or not _is_sensible(table, name, value):
                yield f"{name} of {table} is {value!r:.80}"


def _is_sensible(table: str, name: str, value: Any) -> bool:
    if name in ("first_line", "last_line", "line", "tokens"):
        return 0 <= int(value) < _MOST_LINES
    return (table, name) not in _JSON or _is_list_of_texts(value)


def is_damaged(path: Path) -> bool:
    """Return whether a catalog file is damaged. This takes seconds for large files."""
    try:
        uri = f"{path.absolute().as_uri()}?{choose_read_mode(path)}"
        connection = sqlite3.connect(uri, uri=True)
    except sqlite3.Error:
        return False
    try:
        return find_damage(connection) is not None
    except sqlite3.Error as error:
        return is_damage_error(error, path)
    except (UnicodeDecodeError, OverflowError):
        return True
    finally:
        connection.close()
