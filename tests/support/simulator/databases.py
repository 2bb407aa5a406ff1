"""SQLite over the disk of a simulation: atomic at its commits, and it fails as the disk does.

Nothing is flushed: a power failure leaves what a kill leaves.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unittest import mock

if TYPE_CHECKING:
    from tests.support.simulator.disk import Disk

__all__ = ["install_databases"]

_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE", "COMMIT", "CREATE")
_CONNECT: Final[Callable[..., sqlite3.Connection]] = sqlite3.connect
T = TypeVar("T")


@contextmanager
def install_databases(disk: "Disk") -> Iterator[None]:
    """Open the databases below the folder of a disk as `_Connection` within a `with` block."""

    def connect(path: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        if disk.observes_database(str(path)):
            options["factory"] = partial(_Connection, disk)
        return _CONNECT(path, *arguments, **options)

    with mock.patch("sqlite3.connect", connect):
        yield


class _Connection(sqlite3.Connection):
    """A connection whose writes may fail."""

    def __init__(self, disk: "Disk", *arguments: Any, **options: Any) -> None:
        self._disk = disk
        super().__init__(*arguments, **options)

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement.startswith("PRAGMA synchronous"):
            statement = "PRAGMA synchronous = OFF"
        return self._do(statement, super().execute, statement, *arguments)

    def executemany(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        return self._do(statement, super().executemany, statement, *arguments)

    def commit(self) -> None:
        self._do("COMMIT", super().commit)

    def _do(self, statement: str, do: Callable[..., T], *arguments: Any) -> T:
        if statement.lstrip().upper().startswith(_WRITES):
            self._disk.write_database()
        return do(*arguments)
