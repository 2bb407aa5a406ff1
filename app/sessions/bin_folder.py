"""The files in the bin, whose names say which chat they are, and when it was deleted."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from app.errors import StorageFailed, storage_errors
from resources.system.files import make_private_folder

__all__ = ["BinFolder", "BinnedFile", "is_regular"]

_STAMP: Final = "%Y%m%dT%H%M%S%fZ"
# The file of a chat that is being deleted for good has `.gone` in its name. Nothing lists it.
_NAME: Final = re.compile(r"([A-Za-z0-9][\w-]{0,63})\.(\d{8}T\d{12}Z)(\.gone)?\.jsonl", re.ASCII)


@dataclass(frozen=True)
class BinnedFile:
    """The file of a chat in the bin, and what its name says.

    Attributes:
        path: where the file lies.
        session: the id of the chat.
        deleted: when the chat was deleted.
        is_gone: whether the chat is being deleted for good.
    """

    path: Path
    session: str
    deleted: datetime
    is_gone: bool


class BinFolder:
    """The folder of the bin, which need not exist.

    Attributes:
        path: where the folder is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Create the folder if it does not exist.

        Raises:
            StorageFailed: the folder cannot be created, or something else has its name.
        """
        with self._errors():
            make_private_folder(self.path)

    def list_files(self) -> list[BinnedFile]:
        """Return the files of chats, the one deleted first first. Other files are left out.

        Raises:
            StorageFailed: the folder cannot be read.
        """
        with self._errors():
            try:
                names = sorted(os.listdir(self.path))
            except FileNotFoundError:
                return []
        files = [_read_name(self.path / name) for name in names]
        found = (file for file in files if file is not None and is_regular(file.path))
        return sorted(found, key=lambda file: (file.deleted, file.session))

    def name_file(self, session: str) -> BinnedFile:
        """Return an unused name for the file of a chat that is deleted now."""
        now = datetime.now(UTC)
        while os.path.lexists(path := self.path / f"{session}.{now.strftime(_STAMP)}.jsonl"):
            now += timedelta(microseconds=1)
        return BinnedFile(path, session, now, is_gone=False)

    def find_id(self, path: Path) -> str | None:
        """Return the id of the chat to which a path in the folder belongs, or None for another one.

        There need not be such a file.
        """
        file = _read_name(path) if path.parent == self.path else None
        return None if file is None else file.session

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert errors about the folder, also if something else has its name."""
        try:
            with storage_errors(self.path):
                yield
        except StorageFailed:
            if self.path.is_dir() or not os.path.lexists(self.path):
                raise
            raise StorageFailed(
                f"{self.path} is no folder, and Strata keeps deleted chats in a folder with that "
                "name. What is in it stays.",
                hint="Move it away or rename it, and try again.",
            ) from None


def is_regular(path: Path) -> bool:
    """Return whether a path is a file, and no symbolic link."""
    return path.is_file() and not path.is_symlink()


def _read_name(path: Path) -> BinnedFile | None:
    """Read the name of a file in the bin, or return None for another file."""
    if (match := _NAME.fullmatch(path.name)) is None:
        return None
    session, stamp, gone = match.groups()
    try:
        deleted = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:  # no day of the calendar
        return None
    return BinnedFile(path, session, deleted, gone is not None)
