"""Homes as earlier versions of Strata left them, each with its notes, in an archive.

An archive is named after the schema of its index. A new schema gets a new archive, made by
`python -m tests.support.stored_homes.make FOLDER` with `/tmp/strata` as the folder, and by
`tar -cJf` of the folders `home` and `notes` without `chroma*`. No archive is ever changed.
"""

import hashlib
import json
import os
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from app.paths import Paths
from resources.system.line_chain import move_line

__all__ = ["NAMES", "StoredHome", "unpack"]

_FOLDER = Path(__file__).parent
NAMES = tuple(sorted(file.name.removesuffix(".tar.xz") for file in _FOLDER.glob("*.tar.xz")))
_OLD_NOTES = "/tmp/strata/notes"
_FOLDER_ID = re.compile(rb'"folder_id": "\d+:\d+"')


@dataclass(frozen=True)
class StoredHome:
    """A home that an earlier version of Strata left.

    Attributes:
        paths: the folders of Strata.
        notes: the folder of notes.
    """

    paths: Paths
    notes: Path

    def list_databases(self) -> Iterator[Path]:
        """Yield the database of the chats, and the index of the notes."""
        yield self.paths.state_db
        yield self.paths.index_folder(self.notes) / "catalog.db"


def unpack(name: str, folder: Path) -> StoredHome:
    """Unpack a stored home, and let it name the folder in which its notes are now.

    Args:
        name: one of `NAMES`.
        folder: the folder to unpack to.
    """
    with tarfile.open(_FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    home = StoredHome(Paths.find({"STRATA_HOME": str(folder / "home")}), folder / "notes")
    old, new = (json.dumps(str(path)).encode() for path in (_OLD_NOTES, home.notes))
    found = home.notes.stat()
    for file in (folder / "home").rglob("*"):
        if file.suffix in (".jsonl", ".toml"):
            content = file.read_bytes().replace(old, new)
            named = _FOLDER_ID.sub(
                f'"folder_id": "{found.st_dev}:{found.st_ino}"'.encode(), content
            )
            file.write_bytes(_hash_lines(named))
    _move_index(home)
    return home


def _hash_lines(content: bytes) -> bytes:
    """Return lines whose hashes fit what they are now, as if they had been written so."""
    lines = [b""]
    for line in content.split(b"\n"):
        lines.append(move_line(line, lines[-1]) if line.startswith(b"{") else line)
    return b"\n".join(lines[1:])


def _move_index(home: StoredHome) -> None:
    """Let the index be that of the notes, as if they had always been in their folder."""
    name = hashlib.sha256(os.fsencode(_OLD_NOTES)).hexdigest()[:16]
    index = home.paths.index_folder(home.notes)
    (home.paths.indexes / name).rename(index)
    found = home.notes.stat()
    with closing(sqlite3.connect(index / "catalog.db")) as db, db:
        db.execute(
            "UPDATE meta SET value = ? WHERE key = 'folders'", [json.dumps([str(home.notes)])]
        )
        root = f"{found.st_dev}:{found.st_ino}"
        db.execute("UPDATE meta SET value = ? WHERE key = 'root'", [root])
