"""The files that belong in a backup, with the names that they have in the archive.

The names do not depend on the operating system, whose folders for programs differ. Decisions to
trust a program or a file, such as the approval of an MCP server, are not in it: they are asked for
again.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from app.errors import build_storage_error
from app.paths import Paths
from resources.system.calls import SYSTEM, list_entries
from resources.system.names import find_windows_problem
from vault.paths import printable

__all__ = [
    "SETTINGS",
    "STATE_DB",
    "BackupFile",
    "find_place",
    "is_chat",
    "is_log",
    "list_files",
    "list_folders",
]

# The database is copied by SQLite, because a file copied while it is written may be damaged.
STATE_DB: Final = "state.db"
SETTINGS: Final = "settings.toml"
# The first part of a name in the archive, and the property of `Paths` with its file or folder.
_PLACES: Final = {
    SETTINGS: "settings_file",
    "instructions.md": "user_instructions",
    "memories.md": "memories",
    "prompts": "prompts",
    "commands": "commands",
    "hooks": "hooks",
    "projects": "projects",
    "project_pages": "kept_pages",
    "moved_folders.json": "moved_folders",
    "sent": "sent",
    "sessions": "sessions",
    "pasted": "pasted",
    "pinned": "pinned",
    "judged": "judged",
    "exports": "exports",
    "skills": "skills",
    "ledger.log": "ledger",
    "limits.json": "learned_models",
    "model_files.json": "model_files",
    "edits": "edits",
    "reviews": "reviews",
    "spending.log": "spending",
    STATE_DB: "state_db",
}
# The folders whose files the user writes, so that their names say nothing but to Python.
_COMPILED: Final = re.compile(r"__pycache__")
# The temporary files of writes that are under way.
_TEMPORARY: Final = r"\..+\.[0-9a-f]{8}"
_MADE: Final = re.compile(_TEMPORARY)
# Each folder, and the names in it that Strata or Python makes anew: also the marks of the bin with
# the chats that are being deleted for good, the lock of the journal, and what a computer knows to
# be forgotten.
_FOLDERS: Final = {
    "prompts": _COMPILED,
    "commands": _COMPILED,
    "hooks": _COMPILED,
    "projects": re.compile(rf"{_TEMPORARY}|memory\.forgotten-.*"),
    "project_pages": _MADE,
    "sent": _MADE,
    "sessions": re.compile(rf"{_TEMPORARY}|.*\.new|\.strata-.*|.*\.gone\.jsonl"),
    "pasted": _MADE,
    "pinned": _MADE,
    "judged": re.compile(rf"{_TEMPORARY}|.*\.(?:lock|running)"),
    "exports": _MADE,
    "skills": _COMPILED,
    "edits": re.compile(rf"{_TEMPORARY}|lock"),
    "reviews": _MADE,
}


@dataclass(frozen=True)
class BackupFile:
    """A file that belongs in a backup, or a folder that cannot be listed.

    Attributes:
        name: the name in the archive, with `/` separators. If it is not UTF-8, it is escaped.
        path: where the file lies.
        problem: why it cannot be in a backup, or an empty string.
    """

    name: str
    path: Path
    problem: str = ""


def list_files(paths: Paths) -> Iterator[BackupFile]:
    """Yield the files that belong in a backup, without the database, in the order of their names.

    Each of them has a place that `find_place` finds, unless it has a problem.
    """
    for name in sorted(_PLACES.keys() - {STATE_DB}):
        place: Path = getattr(paths, _PLACES[name])
        yield from _list_folder(name, place) if name in _FOLDERS else _list_file(name, place)


def list_folders(paths: Paths) -> Iterator[Path]:
    """Yield the folders of Strata itself that a backup is restored to, and the folders in them."""
    for name in sorted(_FOLDERS):
        place: Path = getattr(paths, _PLACES[name])
        with suppress(OSError):  # it does not exist, or cannot be read
            inner = [Path(entry.path) for entry in list_entries(place) if entry.is_dir()]
            yield from (place, *inner)


def find_place(paths: Paths, name: str) -> Path | None:
    """Return where a file of an archive belongs, or None if this version knows no place for it.

    Args:
        paths: the folders of Strata.
        name: the name in the archive.
    """
    first, *rest = PurePosixPath(name).parts or ("",)
    is_plain = "/".join((first, *rest)) == name and not {"..", "."}.intersection(rest)
    if first not in _PLACES or not is_plain or _leads_elsewhere(rest):
        return None
    if bool(rest) != (first in _FOLDERS) or any(_is_made_anew(first, part) for part in rest):
        return None
    place: Path = getattr(paths, _PLACES[first])
    return place.joinpath(*rest)


def is_chat(name: str) -> bool:
    """Return whether a file of an archive is the log of a chat."""
    return name.startswith("sessions/") and name.endswith(".jsonl") and name.count("/") == 1


def is_log(name: str) -> bool:
    """Return whether Strata appends lines to a file of an archive, so that its end may be cut."""
    return name.startswith(("sessions/", "edits/")) and name.endswith(".jsonl")


def _leads_elsewhere(parts: list[str]) -> bool:
    """Return whether a part of a name would be a drive, a stream or a folder on this system."""
    if any("\0" in part for part in parts):
        return True
    if SYSTEM != "windows":
        return False
    whole = "/".join(parts)
    return "\\" in whole or find_windows_problem(whole) is not None


def _is_made_anew(name: str, entry: str) -> bool:
    """Return whether Strata or Python makes a file or folder of this name anew.

    Args:
        name: the name in the archive of the folder that contains it.
        entry: the last part of its own name.
    """
    return _FOLDERS[name.partition("/")[0]].fullmatch(entry) is not None


def _list_file(name: str, file: Path) -> Iterator[BackupFile]:
    try:
        is_folder = stat.S_ISDIR(file.stat().st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        yield BackupFile(name, file, str(build_storage_error(file, error)))
        return
    yield BackupFile(name, file, "It is a folder." if is_folder else "")


def _list_folder(name: str, folder: Path) -> Iterator[BackupFile]:
    try:
        entries = sorted(list_entries(folder), key=lambda entry: entry.name)
    except FileNotFoundError:  # there is none, or it was deleted meanwhile
        return
    except OSError as error:
        yield BackupFile(printable(name), folder, str(build_storage_error(folder, error)))
        return
    for entry in entries:
        if _is_made_anew(name, entry.name):
            continue
        path, inner = folder / entry.name, f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _list_folder(inner, path)
        else:
            yield BackupFile(printable(inner), path, _find_problem(entry, inner))


def _find_problem(entry: "os.DirEntry[str]", name: str) -> str:
    """Return why a backup cannot hold what is in a folder, or an empty string.

    Args:
        entry: a file, a link or something else, but no folder.
        name: the name in the archive.
    """
    if entry.is_symlink():
        return "It is a link, and a backup holds only files."
    if not entry.is_file():
        return "It is no file."
    if printable(name) != name:
        return "Its name is not UTF-8. Rename it, and make another backup."
    return ""
