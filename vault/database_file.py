"""The files of an SQLite database: how they are opened, and what their failures mean.

Damage and a full disk are told here from other failures of SQLite, and a damaged database is set
aside. What the database holds is known elsewhere.
"""

import errno
import os
import re
import sqlite3
import time
from itertools import count
from pathlib import Path
from typing import Final

from resources.system.calls import rename_path
from resources.system.files import open_file, probe_space, remove_if_there

__all__ = [
    "choose_read_mode",
    "find_denied_write",
    "is_damage_error",
    "is_full_disk_error",
    "set_aside",
    "use_write_ahead_log",
]

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG})
# SQLite's errors for a damaged schema; errors beginning with `fts5:` are about a query.
_BAD_SCHEMA: Final = re.compile(
    r"(?!fts5:).*(no such|no column|already exists|malformed|constructor failed|unsupported file"
    r"|unrecognized token|syntax error|incomplete input|duplicate column|foreign key mismatch"
    r"|error in )"
)
_MOST_KEPT: Final = 3
_PROBE_BYTES: Final = 1_000_000
_SWITCH_PAUSE_S: Final = 0.01


def choose_read_mode(path: Path) -> str:
    """Return the URI options for reading a database. In a read-only folder, nothing is locked."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    return "mode=ro" if has_log or os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"


def is_damage_error(error: sqlite3.Error, path: Path) -> bool:
    """Return whether an SQLite error means that the database file is damaged.

    Return False for other errors, such as a full disk, a locked file or missing permissions.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python: text is not UTF-8; a closed connection is another class
        return isinstance(error, sqlite3.OperationalError)
    if code == sqlite3.SQLITE_READONLY:  # from the file's content, if permissions allow writing
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    primary = code & 0xFF
    if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return any(file.is_dir() for file in _list_files(path))
    if primary == sqlite3.SQLITE_ERROR:
        return _BAD_SCHEMA.match(str(error)) is not None
    return primary in _DAMAGE


def use_write_ahead_log(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switch a database to a write-ahead log, waiting for connections that write meanwhile.

    SQLite itself does not wait for this: if several processes create a database at once, one fails.

    Raises:
        sqlite3.OperationalError: another connection still writes after `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= deadline:
                raise
            time.sleep(_SWITCH_PAUSE_S)
        else:
            return


def is_full_disk_error(error: sqlite3.Error, path: Path) -> bool:
    """Return whether an SQLite error means that there is no space left for the database.

    SQLite reports a quota, or a limit for the size of files, like a broken disk. To tell them
    apart, some space is allocated beside the database for a moment.
    """
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code & 0xFF == sqlite3.SQLITE_FULL:
        return True
    if code & 0xFF not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return False
    try:
        probe_space(path.parent, _PROBE_BYTES)
    except OSError as failure:
        return failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return False


def find_denied_write(path: Path) -> OSError | None:
    """Return why a database cannot be written, such as a read-only disk, or None if it can be.

    SQLite says only that the file cannot be opened.
    """
    try:
        os.close(open_file(path, os.O_RDWR))
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    if not os.access(path.parent, os.W_OK):
        return PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return None


def set_aside(path: Path) -> Path:
    """Rename a damaged database, its WAL file and its journal, and return the new path.

    The new name ends with `.damaged`, `.damaged-2` or `.damaged-3`. If all three files exist, the
    last one is replaced, with its WAL file and journal. A folder in the place of a file is renamed
    too, and never replaced.
    """
    names = (f"{path.name}.damaged{f'-{number}' if number > 1 else ''}" for number in count(1))
    has_folder = any(file.is_dir() for file in _list_files(path))
    aside = next(
        file
        for number, file in enumerate(map(path.with_name, names), start=1)
        if _is_free(file, may_replace=number >= _MOST_KEPT and not has_folder)
    )
    pairs = zip(_list_files(path), _list_files(aside), strict=True)
    moved = [(file, new) for file, new in pairs if os.path.lexists(file)]
    for old in _list_files(aside) if moved else ():  # an older WAL file would change the database
        remove_if_there(old)
    for file, new in moved:
        if file.name.endswith("-shm") and not file.is_dir():
            remove_if_there(file)
        else:
            rename_path(file, new)
    return aside


def _is_free(path: Path, *, may_replace: bool) -> bool:
    """Return whether a database can be renamed to a path.

    Args:
        path: the new path.
        may_replace: whether an older file may be replaced. A folder never is.
    """
    files = [file for file in _list_files(path) if os.path.lexists(file)]
    return not files or (may_replace and not any(file.is_dir() for file in files))


def _list_files(path: Path) -> tuple[Path, ...]:
    """Return a database, its shared memory, its WAL file and its journal."""
    return path, *(path.with_name(f"{path.name}-{end}") for end in ("shm", "wal", "journal"))
