"""How the file of a database is opened while other connections use it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from vault.database_file import use_write_ahead_log


def begin_writing(path: Path) -> sqlite3.Connection:
    """Open a database without a write-ahead log, and hold its lock for writing."""
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE notes (path TEXT)")
    writer.execute("BEGIN IMMEDIATE")
    return writer


def test_the_switch_waits_for_a_connection_that_writes(tmp_path: Path) -> None:
    refusals = []

    class Waiting(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            try:
                return super().execute(*args)
            except sqlite3.OperationalError:
                refusals.append(args)
                if len(refusals) == 3:
                    writer.execute("COMMIT")
                raise

    path = tmp_path / "state.db"
    with (
        closing(begin_writing(path)) as writer,
        closing(sqlite3.connect(path, factory=Waiting)) as connection,
    ):
        use_write_ahead_log(connection, timeout_s=600)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert len(refusals) == 3


def test_the_switch_gives_up_after_its_time(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with (
        closing(begin_writing(path)),
        closing(sqlite3.connect(path, timeout=0)) as connection,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        use_write_ahead_log(connection, timeout_s=0)
