"""The files that belong in a backup, with the names that they have in the archive.

The names do not depend on the operating system, whose folders for programs differ. Decisions to
trust a program or a file, such as the approval of an MCP server, are not in it: they are asked for
again.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from app.paths import Paths

__all__ = ["SETTINGS", "STATE_DB", "BackupFile", "find_place", "is_chat", "list_files"]

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
    "sent": "sent",
    "sessions": "sessions",
    "pasted": "pasted",
    "pinned": "pinned",
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
_FOLDERS: Final = frozenset(
    (
        "prompts",
        "commands",
        "hooks",
        "projects",
        "project_pages",
        "sent",
        "sessions",
        "pasted",
        "pinned",
        "exports",
        "skills",
        "edits",
        "reviews",
    )
)
# Locks, compiled Python, the temporary files of writes that are under way, and chats that are being
# deleted for good.
_NOT_KEPT: Final = re.compile(
    r"lock|__pycache__|.*\.pyc|\..+\.[a-z0-9_]{8}|.*\.new|\.strata-.*|.*\.gone\.jsonl"
)


@dataclass(frozen=True)
class BackupFile:
    """A file that belongs in a backup.

    Attributes:
        name: the name in the archive, with `/` separators.
        path: where the file lies.
    """

    name: str
    path: Path


def list_files(paths: Paths) -> Iterator[BackupFile]:
    """Yield the files that belong in a backup, without the database, in the order of their names.

    Symbolic links within folders are left out.
    """
    for name in sorted(_PLACES):
        place: Path = getattr(paths, _PLACES[name])
        if name == STATE_DB:
            continue
        if place.is_dir():
            yield from _list_folder(name, place)
        elif place.is_file():
            yield BackupFile(name, place)


def find_place(paths: Paths, name: str) -> Path | None:
    """Return where a file of an archive belongs, or None if this version knows no place for it.

    Args:
        paths: the folders of Strata.
        name: the name in the archive.
    """
    first, *rest = PurePosixPath(name).parts or ("",)
    is_plain = "/".join((first, *rest)) == name and not {"..", "."}.intersection(rest)
    if first not in _PLACES or not is_plain or _has_odd_part(rest):
        return None
    if bool(rest) != (first in _FOLDERS) or any(map(_NOT_KEPT.fullmatch, rest)):
        return None
    place: Path = getattr(paths, _PLACES[first])
    return place.joinpath(*rest)


def is_chat(name: str) -> bool:
    """Return whether a file of an archive is the log of a chat."""
    return name.startswith("sessions/") and name.endswith(".jsonl") and name.count("/") == 1


def _has_odd_part(parts: list[str]) -> bool:
    """Return whether a part of a name would be a drive, a stream or a folder on some system."""
    return any("\\" in part or ":" in part or "\0" in part for part in parts)


def _list_folder(name: str, folder: Path) -> Iterator[BackupFile]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_symlink() or _NOT_KEPT.fullmatch(entry.name):
            continue
        if entry.is_dir():
            yield from _list_folder(f"{name}/{entry.name}", Path(entry.path))
        elif entry.is_file():
            yield BackupFile(f"{name}/{entry.name}", Path(entry.path))
