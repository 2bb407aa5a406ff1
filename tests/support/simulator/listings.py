"""Folders whose entries come in an order that chance decides, as no file system promises one."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
def shuffle_listings(chance: Callable[[], random.Random]) -> Iterator[None]:
    """List each folder in another order within a `with` block.

    Args:
        chance: returns what decides the order.
    """

    def list_names(path: Any = ".") -> list[Any]:
        names = sorted(_LIST(path))
        chance().shuffle(names)
        return names

    def scan(path: Any = ".") -> _Entries:
        return _Entries(path, chance())

    with mock.patch("os.listdir", list_names), mock.patch("os.scandir", scan):
        yield
