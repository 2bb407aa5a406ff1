"""Migrate `state.db` to the current version.

Each migration runs once, in order and in its own transaction. SQLite's `user_version` is the number
of migrations that were run. A released migration never changes.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from resources.system.calls import forbid_writes
from vault.database_file import choose_read_mode

HOME_IS_NEWER: Final = (
    "A newer version of Strata has stored data here, so chats, settings and edits are only read. "
    "Update Strata to go on."
)
_MOST_VERSIONS: Final = 10_000  # a higher number is damage


def m001_last_requests(connection: sqlite3.Connection) -> None:
    """Add a table with the last request of each turn."""
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
    """Add a table of chat summaries, so that listing chats reads only changed files."""
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
    """Add a table for large tool results."""
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
    """Add a table of token counts, so that compacted chats open faster."""
    connection.execute(
        """
        CREATE TABLE session_snapshots (
            session TEXT PRIMARY KEY,
            checksum TEXT NOT NULL,
            counts BLOB NOT NULL
        ) WITHOUT ROWID
        """
    )


def m005_images_of_requests(connection: sqlite3.Connection) -> None:
    """Add tables for the images of requests, so that each image is stored only once."""
    connection.execute("CREATE TABLE image (hash TEXT PRIMARY KEY, data BLOB NOT NULL)")
    connection.execute(
        """
        CREATE TABLE request_image (
            session TEXT NOT NULL,
            turn TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (session, turn, hash)
        ) WITHOUT ROWID
        """
    )
    connection.execute("CREATE INDEX request_image_hash ON request_image (hash)")


def m006_partial_answers(connection: sqlite3.Connection) -> None:
    """Add a table of partial answers, so that they are not lost if the process is killed."""
    connection.execute(
        """
        CREATE TABLE partial_answer (
            session TEXT PRIMARY KEY,
            entry TEXT NOT NULL
        ) WITHOUT ROWID
        """
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_last_requests,
    m002_list_of_chats,
    m003_tool_result_blobs,
    m004_session_snapshots,
    m005_images_of_requests,
    m006_partial_answers,
)


def keep_newer_home(database: Path, folders: tuple[Path, ...], but: Path) -> bool:
    """Let this process change nothing of a home that a newer version of Strata has written.

    Return whether it is such a home. A version that stores anything in another way has more
    migrations, if only an empty one.

    Args:
        database: the path of `state.db`, which need not exist.
        folders: the folders of the home.
        but: a folder in one of them that may be changed.
    """
    with suppress(sqlite3.Error):  # it does not exist or is damaged
        uri = f"{database.absolute().as_uri()}?{choose_read_mode(database)}"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            if len(MIGRATIONS) < _version(connection) <= _MOST_VERSIONS:
                for folder in folders:
                    forbid_writes(folder, HOME_IS_NEWER, but=but)
                return True
    return False


def migrate(connection: sqlite3.Connection) -> None:
    """Run the pending migrations.

    Raises:
        sqlite3.Error: a migration failed and was rolled back. Earlier ones stay in effect.
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
