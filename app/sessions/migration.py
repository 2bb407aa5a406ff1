"""A chat of an older kind, brought up to the present one where it lies.

The new file is whole and on the disk before it takes the place of the old one, which stays beside
it as `<id>.jsonl.v1`. A crash leaves one of the two under the chat's name, and both can be opened.
"""

import os
from itertools import count
from pathlib import Path

from app.durable import open_file, replace_synced, sync_folder, write_atomically
from app.sessions.file import LoadedLog, encode_line
from context.log.parse import log_lines


def migrate_file(path: Path, log: LoadedLog) -> int:
    """Rewrite a chat's file, and return the new one, open and locked.

    Args:
        path: the file, whose lock is held.
        log: what it holds.

    Raises:
        OSError: it could not be done; the file is as it was.
    """
    lines = log_lines(log.header, log.entries)
    _keep_original(path)
    return replace_synced(path, b"".join(encode_line(line) for line in lines))


def _keep_original(path: Path) -> None:
    """Give the file a second name that it keeps; one that is taken already is left alone."""
    names = (f"{path.name}.v1{f'-{number}' if number > 1 else ''}" for number in count(1))
    content = _read(path)
    aside = next(file for file in map(path.with_name, names) if _is_free(file, content))
    if aside.exists():
        return
    try:
        aside.hardlink_to(path)
    except OSError:  # a file system without links
        write_atomically(aside, content)
    sync_folder(path.parent)


def _is_free(file: Path, content: bytes) -> bool:
    """Return whether a file may hold the original; after a crash it may do so already."""
    return not os.path.lexists(file) or (not file.is_symlink() and _read(file) == content)


def _read(file: Path) -> bytes:
    with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
        return opened.read()
