"""Record a crash of this process in a file, which is removed at the normal end of the process.

Only small parts of the standard library are imported at the top of this module, because the module
is loaded before anything else of Strata.
"""

import faulthandler
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = [
    "MAX_FILES",
    "add_to_record",
    "count_crashes",
    "is_in_use",
    "start_recording",
    "stop_recording",
    "write_to_terminal",
]

# Older files are removed when a process starts. Each has a few kilobytes.
MAX_FILES: Final = 20
# When the process started, its number, and what it does.
_FILE_NAMES: Final = f"{'[0-9]' * 8}T{'[0-9]' * 6}Z-*-*.txt"


class _Record:
    """The file of this process, or no file."""

    handle: int | None = None
    path: Path | None = None


_record = _Record()


def write_to_terminal() -> None:
    """Let a crash write the calls of all threads to standard error, until there is a file."""
    if not faulthandler.is_enabled():
        with suppress(RuntimeError, ValueError, OSError):  # there is no standard error
            faulthandler.enable()


def start_recording(folder: Path, kind: str) -> None:
    """Record the call stacks of all threads in a new file if this process crashes.

    If the file cannot be made, they are still written to standard error.

    Args:
        folder: the folder of crash files, which is created if it is missing.
        kind: what the process does: `window`, or the verb of the command line.
    """
    stop_recording()
    write_to_terminal()
    with suppress(OSError):
        _record.path = _make_file(folder, kind)
        assert _record.handle is not None
        faulthandler.enable(_record.handle)


def add_to_record(text: str) -> None:
    """Add a text to the file, because the process will be aborted. It becomes a crash file."""
    if _record.handle is not None:
        from resources.system.files import write_all

        with suppress(OSError):
            write_all(_record.handle, f"{text}\n".encode("utf-8", "replace"))


def stop_recording() -> None:
    """Remove the file of this process, because it ends normally."""
    handle, path = _record.handle, _record.path
    _record.handle = _record.path = None
    if handle is None or path is None:
        return
    faulthandler.disable()
    from resources.system.calls import remove_open_file

    with suppress(OSError):
        remove_open_file(handle, path)


def count_crashes(folder: Path, kind: str, since_s: float) -> int:
    """Return how many processes of a kind have crashed since a time, told or not.

    Args:
        folder: the folder of crash files.
        kind: what the processes did: `window`, or the verb of the command line.
        since_s: the time, in seconds since 1970.
    """
    count = 0
    for file in folder.glob(_FILE_NAMES):
        if file.stem.split("-")[2] == kind:
            with suppress(OSError):  # removed meanwhile
                found = file.stat()
                is_crash = found.st_size > 0 and found.st_mtime > since_s
                count += is_crash and not is_in_use(file)
    return count


def _make_file(folder: Path, kind: str) -> Path:
    """Create, open and lock the file of this process, and remove the oldest files of others.

    Raises:
        OSError: the file cannot be created, or the folder is a link.
    """
    from resources.system.calls import lock_file
    from resources.system.files import make_private_folder, open_file

    make_private_folder(folder)
    if folder.is_symlink():
        raise NotADirectoryError(str(folder))
    _remove_oldest(folder)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = folder / f"{stamp}-{os.getpid()}-{kind}.txt"
    # A new file: a link that has its name is not followed.
    _record.handle = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
    with suppress(OSError):  # a file system without locks
        lock_file(_record.handle)
    return path


def _remove_oldest(folder: Path) -> None:
    """Keep so few crash files that there are not more than `MAX_FILES` with a new one."""
    from resources.system.calls import remove_path

    files = sorted(folder.glob(_FILE_NAMES))
    for path in files[: max(0, len(files) - MAX_FILES + 1)]:
        if not is_in_use(path):
            with suppress(OSError):  # it stays, and is no reason to record no crash
                remove_path(path)


def is_in_use(path: Path) -> bool:
    """Return whether a crash file is that of a process that is still running."""
    from resources.system.files import find_use
    from resources.system.processes import is_process_running

    use = find_use(path)
    if use != "unknown":
        return use == "used"
    number = path.stem.partition("-")[2].partition("-")[0]
    return number.isdecimal() and is_process_running(int(number))
