"""The migrations of `state.db` from any earlier version to the current one.

Each migration is named after its change. Each runs once, in order and in its own transaction.
SQLite's `user_version` counts the migrations that have run. A released migration is never changed.
"""

import sqlite3
from collections.abc import Callable


def m001_last_requests(connection: sqlite3.Connection) -> None:
    """Add the table of each turn's last request: its report, its body, and the data sent."""
    connection.execute(
        """
        CREATE TABLE request (
            session TEXT NOT NULL,
            turn TEXT NOT NULL,
            number INTEGER NOT NULL,
            report BLOB NOT NULL,
            body BLOB NOT NULL,
            wire BLOB,
            PRIMARY KEY (session, turn)
        ) WITHOUT ROWID
        """
    )


def m002_list_of_chats(connection: sqlite3.Connection) -> None:
    """Add the table of the chats' list entries, so that listing chats reads only changed files."""
    connection.execute(
        """
        CREATE TABLE chat (
            session TEXT PRIMARY KEY,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            info TEXT NOT NULL
        ) WITHOUT ROWID
        """
    )


def m003_tool_result_blobs(connection: sqlite3.Connection) -> None:
    """Add the table of tool results that are too large for a request."""
    connection.execute(
        """
        CREATE TABLE tool_result_blobs (
            ref_id TEXT PRIMARY KEY,
            tool TEXT NOT NULL,
            content BLOB NOT NULL
        ) WITHOUT ROWID
        """
    )


def m004_session_snapshots(connection: sqlite3.Connection) -> None:
    """Add the table of compacted chats' token counts, so that these chats open faster."""
    connection.execute(
        """
        CREATE TABLE session_snapshots (
            session TEXT PRIMARY KEY,
            checksum TEXT NOT NULL,
            counts BLOB NOT NULL
        ) WITHOUT ROWID
        """
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_last_requests,
    m002_list_of_chats,
    m003_tool_result_blobs,
    m004_session_snapshots,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Run the migrations that have not been run yet.

    Raises:
        sqlite3.Error: a migration failed and was rolled back; earlier migrations stay in effect.
    """
    while _version(connection) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = _version(connection)  # another process may have run it meanwhile
            if done < len(MIGRATIONS):
                MIGRATIONS[done](connection)
                connection.execute(f"PRAGMA user_version = {done + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
