"""Folders whose entries come in an order that chance decides, as no file system promises one."""

import os
import random
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Self
from unittest import mock

__all__ = ["list_tree", "shuffle_listings"]

_SCAN: Final = os.scandir
_LIST: Final = os.listdir
_NAME: Final = attrgetter("name")


def list_tree(
    root: str, left_out: Collection[str] = ()
) -> tuple[list["os.DirEntry[str]"], list[str]]:
    """Return the files in a folder and below it, and all folders. Chance changes no order here.

    Args:
        root: the path of the folder, which need not be there.
        left_out: the names of the folders to leave out.
    """
    files: list[os.DirEntry[str]] = []
    folders, at = [root], 0
    while at < len(folders):
        with suppress(FileNotFoundError), _SCAN(folders[at]) as entries:
            for entry in sorted(entries, key=_NAME):
                if not entry.is_dir(follow_symlinks=False):
                    files.append(entry)
                elif entry.name not in left_out:
                    folders.append(entry.path)
        at += 1
    return files, folders


class _Entries:
    """The entries of a folder, shuffled."""

    def __init__(self, path: Any, chance: random.Random) -> None:
        with _SCAN(path) as entries:
            found = sorted(entries, key=_NAME)
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

    start = str(root)

    def is_inside(path: Any) -> bool:
        name = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)
        return str(name).startswith(start)

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
