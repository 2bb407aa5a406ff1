"""Catalogs of earlier versions, as an update finds them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from vault.embedding.chunking import CHUNKER_VERSION
from vault.migrations import MIGRATIONS
from vault.notes.keywords import WORDS_VERSION


@contextmanager
def create_old_catalog(path: Path, version: int) -> Iterator[sqlite3.Connection]:
    """Create an empty catalog as an earlier version made it, for the rows that a test adds."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _apply(connection, version)
        stamp = {"chunker": CHUNKER_VERSION, "words": WORDS_VERSION}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", stamp.items())
        yield connection


def age_catalog(path: Path, version: int) -> None:
    """Take everything from a catalog that the schema of an earlier version did not have."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as old:
        _apply(old, version)
        known = _list_columns(old)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table, columns in _list_columns(connection).items():
            if table not in known:
                connection.execute(f"DROP TABLE {table}")
                continue
            for column in columns - known[table]:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute(f"PRAGMA user_version = {version}")


def _apply(connection: sqlite3.Connection, version: int) -> None:
    for migration in MIGRATIONS[:version]:
        migration(connection)
    connection.execute(f"PRAGMA user_version = {version}")


def _list_columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the columns of each table but those that a full-text index keeps for itself."""
    tables = connection.execute("PRAGMA main.table_list").fetchall()
    return {
        name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        for _, name, kind, *_ in tables
        if kind in ("table", "virtual") and not name.startswith("sqlite_")
    }
