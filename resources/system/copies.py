"""Find the copies of files that sync programs make, and take them over without losing anything.

A sync program makes a copy if two machines wrote to one file. It may write the copy in several
steps, and what is read between two of them looks whole. So a copy is left alone until nothing has
changed it for a minute.

The names of copies depend on the program, the language and the computer. All put something behind
the name of the file, such as ` (Ada's conflicted copy 2026-11-27)`, `.sync-conflict-20261127`,
`-ADAS-PC` or ` 2`. Names such as `-old`, ` (mine)`, `_v2` or `-2026-11-27` are given by people to
files of their own.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from resources.system.files import read_file, remove_if_there

__all__ = ["ARRIVES_WITHIN_S", "find_copies", "is_copy_name", "take_file"]

# A file that was changed later than this may still be written. A time in the future counts as now.
ARRIVES_WITHIN_S: Final = 60.0
_BEHIND_NAME: Final = frozenset(" .-_([~,")
_CONFLICT: Final = re.compile("[ck]onfl", re.IGNORECASE)
# Words in small letters, version numbers and dates.
_END_OF_PEOPLE: Final = re.compile(
    r"_.*|[-.~,][a-z\d\W_]*|[ (\[][a-z\W_]*|\W*\d{4}[\d\W]*", re.ASCII
)


def find_copies(place: Path) -> Iterator[Path]:
    """Yield the copies of a file, in the order of their names. The file must exist."""
    if not place.is_file():
        return
    for path in sorted(place.parent.iterdir()):
        is_alike = path.suffix == place.suffix and is_copy_name(path.stem, place.stem)
        if is_alike and path.is_file() and not path.is_symlink():
            yield path


def is_copy_name(name: str, original: str) -> bool:
    """Return whether a sync program may have given a name to a copy of a file.

    Args:
        name: the name, without its extension.
        original: the name of the file, without its extension.
    """
    end = name.removeprefix(original)
    if end == name or end[:1] not in _BEHIND_NAME:
        return False
    is_of_people = end.isascii() and _END_OF_PEOPLE.fullmatch(end) is not None
    return _CONFLICT.search(end) is not None or not is_of_people


def take_file(path: Path, use: Callable[[bytes], object]) -> bool:
    """Use the content of a file and remove it, and return whether it was removed.

    A file that may still be written, or a symbolic link, is neither used nor removed. A file that
    was changed while it was used stays, so that the rest can be used later. It also stays if `use`
    raises an exception.

    Args:
        path: the file.
        use: takes the content. It may be called again with the same content, or with more of it.

    Raises:
        OSError: the file cannot be read or removed.
    """
    before = path.lstat()
    if not stat.S_ISREG(before.st_mode) or time.time() - before.st_mtime < ARRIVES_WITHIN_S:
        return False
    content = read_file(path)
    if _read_state(path) != _get_state(before):
        return False
    use(content)
    if _read_state(path) != _get_state(before):
        return False
    remove_if_there(path)
    return True


def _read_state(path: Path) -> tuple[int, int, int]:
    return _get_state(path.lstat())


def _get_state(info: os.stat_result) -> tuple[int, int, int]:
    return info.st_ino, info.st_mtime_ns, info.st_size
