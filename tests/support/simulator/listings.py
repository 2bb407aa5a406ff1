"""Folders whose entries come in an order that chance decides, as no file system promises one."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self
from unittest import mock

__all__ = ["shuffle_listings"]

_SCAN: Final = os.scandir
_LIST: Final = os.listdir


class _Entries:
    """The entries of a folder, shuffled."""

    def __init__(self, path: Any, chance: random.Random) -> None:
        with _SCAN(path) as entries:
            found = sorted(entries, key=lambda entry: os.fspath(entry.name))
        chance.shuffle(found)
        self._entries = iter(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        """Do nothing: all entries were read."""


@contextmanager
def shuffle_listings(root: Path, chance: Callable[[], random.Random]) -> Iterator[None]:
    """List each folder of the simulated disk in another order within a `with` block.

    Folders elsewhere, such as those of libraries, are listed once in a process, and no chance may
    depend on that.

    Args:
        root: the folder of the disk.
        chance: returns what decides the order.
    """

    def is_inside(path: Any) -> bool:
        name = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)
        return str(name).startswith(str(root))

    def list_names(path: Any = ".") -> list[Any]:
        names = _LIST(path)
        if is_inside(path):
            names.sort()
            chance().shuffle(names)
        return names

    def scan(path: Any = ".") -> Any:
        return _Entries(path, chance()) if is_inside(path) else _SCAN(path)

    with mock.patch("os.listdir", list_names), mock.patch("os.scandir", scan):
        yield
