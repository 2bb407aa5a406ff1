"""Take over files that another program put here, without losing what it still writes to them.

A sync program may write a file in several steps, and a file that is read between two of them looks
whole. It is left alone until nothing has changed it for a minute.
"""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from resources.system.files import read_file, remove_if_there

__all__ = ["ARRIVES_WITHIN_S", "take_file"]

# A file that was changed later than this may still be written. A time in the future counts as now.
ARRIVES_WITHIN_S: Final = 60.0


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
