"""The files in the bin, whose names say which chat they are, and when it was deleted."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from app.errors import StorageFailed, storage_errors
from resources.system.calls import rename_path
from resources.system.files import make_private_folder

__all__ = ["DAYS_IN_BIN", "BinFolder", "BinnedFile", "is_regular"]

DAYS_IN_BIN: Final = 30
_KEPT_FOR: Final = timedelta(days=DAYS_IN_BIN)
_PUT_OFF_FOR: Final = timedelta(days=7)
# The calendar of Python ends with the thirty days of a chat that is deleted then.
_LAST_DELETION: Final = datetime(9999, 12, 31, tzinfo=UTC) - _KEPT_FOR

_STAMP: Final = "%Y%m%dT%H%M%S%fZ"
# The second time, if there is one, is the end of the days by which the removal was put off. The
# file of a chat that is being deleted for good has `.gone` in its name. Nothing lists it.
_NAME: Final = re.compile(
    r"([A-Za-z0-9][\w-]{0,63})\.(\d{8}T\d{12}Z)(?:\.(\d{8}T\d{12}Z))?(\.gone)?\.jsonl", re.ASCII
)

# The start of the name of such a file, and of the copies of it that sync programs make.
_COPY: Final = re.compile(
    r"([A-Za-z0-9][\w-]{0,63})\.(\d{8}T\d{12}Z)(?:\.\d{8}T\d{12}Z)?(\.gone(?!\w))?[^\w]", re.ASCII
)


@dataclass(frozen=True)
class BinnedFile:
    """The file of a chat in the bin, and what its name says.

    Attributes:
        path: where the file lies.
        session: the id of the chat.
        deleted: when the chat was deleted.
        is_gone: whether the chat is being deleted for good.
        put_off_until: the time until which its removal was put off, or None if it never was.
    """

    path: Path
    session: str
    deleted: datetime
    is_gone: bool
    put_off_until: datetime | None = None

    @property
    def until(self) -> datetime:
        """Return when the chat will be deleted for good."""
        return self.put_off_until or min(self.deleted, _LAST_DELETION) + _KEPT_FOR

    @property
    def begun(self) -> datetime:
        """Return the start of the period that ends at `until`."""
        if self.put_off_until is None:
            return self.deleted
        return self.put_off_until - min(_PUT_OFF_FOR, self.put_off_until - self.deleted)


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

    def adopt_copies(self) -> None:
        """Give the copies that a sync program made here names of their own, so that they count.

        Raises:
            OSError: a file cannot be renamed.
        """
        for path in sorted(self.path.glob("*.jsonl")):
            found = _COPY.match(path.name)
            if found is None or _read_name(path) is not None or not is_regular(path):
                continue
            with suppress(ValueError):  # no day of the calendar
                file = self._name(found[1], _read_stamp(found[2]), found[3] or "")
                with suppress(FileNotFoundError):  # another process has renamed it
                    rename_path(path, file.path)

    def name_file(self, session: str) -> BinnedFile:
        """Return the file, with an unused name, of a chat that is deleted now."""
        return self._name(session, datetime.now(UTC))

    def _name(self, session: str, deleted: datetime, gone: str = "") -> BinnedFile:
        def make_path() -> Path:
            return self.path / f"{session}.{deleted.strftime(_STAMP)}{gone}.jsonl"

        while os.path.lexists(path := make_path()):
            deleted += timedelta(microseconds=1)
        return BinnedFile(path, session, deleted, is_gone=bool(gone))

    def name_put_off(self, file: BinnedFile) -> BinnedFile:
        """Return a file with an unused name that puts its removal off by seven days from now."""
        until = min(datetime.now(UTC), _LAST_DELETION) + _PUT_OFF_FOR
        name = file.path.name.removesuffix(".jsonl")
        while os.path.lexists(path := self.path / f"{name}.{until.strftime(_STAMP)}.jsonl"):
            until += timedelta(microseconds=1)
        return replace(file, path=path, put_off_until=until)

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
    session, stamp, second, gone = match.groups()
    try:
        deleted, until = _read_stamp(stamp), _read_stamp(second) if second else None
    except ValueError:  # no day of the calendar
        return None
    return BinnedFile(path, session, deleted, gone is not None, until)


def _read_stamp(stamp: str) -> datetime:
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
