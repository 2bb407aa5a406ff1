"""Write an archive of Strata's files, and read it after all of it was checked.

An archive is a ZIP file. Its last member, `strata-backup.json`, lists the other ones with their
sizes and SHA-256 sums, so an archive that is cut off or was changed is refused as a whole.
"""

import hashlib
import json
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from app.backup.contents import SETTINGS, STATE_DB, BackupFile, is_chat, is_log, list_files
from app.config.settings_file import SettingsStore
from app.errors import (
    AppError,
    InvalidRequest,
    NotFound,
    build_storage_error,
    describe,
    storage_errors,
)
from app.paths import Paths
from app.state_db import StateDB
from chains.cancel import CancelToken
from context.fixes import Command, Fix
from resources.system.files import open_new, read_file

__all__ = ["Archive", "ArchiveWriter", "BackupReport", "FileProgress", "open_archive"]

FORMAT: Final = 1
_LIST: Final = "strata-backup.json"
_BLOCK_BYTES: Final = 1 << 20
# Errors of `zipfile` for a file that is no archive, is cut off or was changed. It raises
# `RuntimeError` for an encrypted member, and `NotImplementedError` for an unknown compression.
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OverflowError),
    *(UnicodeDecodeError, NotImplementedError, RuntimeError),
)
_MOST_LIST_BYTES: Final = 64_000_000


@dataclass(frozen=True)
class FileProgress:
    """How far a backup or a restore is.

    Attributes:
        done: how many files are done.
        total: how many files there are.
    """

    done: int
    total: int

    def to_dict(self) -> dict[str, int]:
        """Return the progress as a JSON object."""
        return {"done": self.done, "total": self.total}


@dataclass(frozen=True)
class BackupReport:
    """What a backup holds.

    Attributes:
        path: the archive.
        files: how many files are in it.
        chats: how many of them are chats.
        size: the size of the archive in bytes.
        left_out: the files and folders that are not in it, each with the reason.
    """

    path: Path
    files: int
    chats: int
    size: int
    left_out: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "path": str(self.path),
            "files": self.files,
            "chats": self.chats,
            "bytes": self.size,
            "left_out": [{"path": name, "reason": reason} for name, reason in self.left_out],
        }


class ArchiveWriter:
    """Writes everything that Strata has stored into a new archive, while Strata runs."""

    def __init__(self, paths: Paths, settings: SettingsStore, state: StateDB) -> None:
        self._paths = paths
        self._settings = settings
        self._state = state

    def write(self, target: Path, cancel: CancelToken) -> Iterator[FileProgress | BackupReport]:
        """Write an archive, and yield the progress after each file, and the report at the end.

        The archive gets its name when it is complete and on disk, right before the report.

        A file or folder that cannot be read is left out, and the report names it.

        Args:
            target: the path of the archive. It must not exist.
            cancel: stops the backup. Nothing is left of it.

        Raises:
            InvalidRequest: a file of this name exists.
            StorageFailed: the archive cannot be written.
            Cancelled: the backup was stopped.
        """
        files, members = list(list_files(self._paths)), _Members()
        with storage_errors(target), _refuse_taken(target), open_new(target) as opened:
            with zipfile.ZipFile(opened, "w", zipfile.ZIP_DEFLATED) as archive:
                for done, file in enumerate(files, 1):
                    cancel.raise_if_cancelled()
                    if file.problem:
                        members.left_out.append((file.name, file.problem))
                    else:
                        members.write(archive, file.name, partial(self._read, file))
                    yield FileProgress(done, len(files) + 1)
                cancel.raise_if_cancelled()
                members.write(archive, STATE_DB, self._copy_database)
                archive.writestr(_LIST, members.describe())
            size = opened.tell()
        yield FileProgress(len(files) + 1, len(files) + 1)
        chats = sum(map(is_chat, members.sums))
        yield BackupReport(target, len(members.sums), chats, size, tuple(members.left_out))

    def _read(self, file: BackupFile) -> bytes:
        """Read a file. A chat that is being written to ends with its last complete line."""
        if file.name == SETTINGS:
            return self._settings.read_without_secrets().encode()
        try:
            content = read_file(file.path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise build_storage_error(file.path, error) from error
        if is_log(file.name) and not content.endswith(b"\n"):
            last = content.rfind(b"\n") + 1
            return content + b"\n" if _is_object(content[last:]) else content[:last]
        return content

    def _copy_database(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="strata-") as folder:
            copy = Path(folder) / STATE_DB
            self._state.copy_to(copy)
            return copy.read_bytes()


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


@dataclass
class _Members:
    """The files that were written to an archive.

    Attributes:
        sums: the size and SHA-256 sum of each file.
        left_out: the files that could not be read, each with the reason.
    """

    sums: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def write(self, archive: zipfile.ZipFile, name: str, read: Callable[[], bytes]) -> None:
        """Write a file to the archive, unless it cannot be read."""
        try:
            content = read()
        except FileNotFoundError:  # deleted meanwhile
            return
        except (OSError, AppError) as error:
            self.left_out.append((name, describe(error).message))
            return
        archive.writestr(name, content)
        self.sums[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def describe(self) -> str:
        """Return the list of the files as JSON."""
        made = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return json.dumps({"format": FORMAT, "made": made, "files": self.sums})


class Archive:
    """An archive that was checked and is open for reading."""

    def __init__(self, archive: zipfile.ZipFile, files: Mapping[str, Mapping[str, Any]]) -> None:
        self._archive = archive
        self._files = files

    @property
    def names(self) -> list[str]:
        """The names of the files, in order."""
        return sorted(self._files)

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            InvalidRequest: the content differs from what the archive's list says of it.
        """
        wanted = self._files[name]
        hashed, blocks = hashlib.sha256(), []
        with self._archive.open(name) as member:
            while block := member.read(_BLOCK_BYTES):
                hashed.update(block)
                blocks.append(block)
                if sum(map(len, blocks)) > wanted["bytes"]:
                    break
        if hashed.hexdigest() != wanted["sha256"]:
            raise _refuse(f"{name} in it was changed")
        return b"".join(blocks)


@contextmanager
def open_archive(path: Path, cancel: CancelToken | None = None) -> Iterator[Archive]:
    """Open an archive for reading, after each file in it was compared with its sum.

    Args:
        path: the archive.
        cancel: stops the comparison, or None.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: the file is no archive of Strata, is incomplete, or was changed.
        StorageFailed: the file cannot be read.
        Cancelled: the comparison was stopped.
    """
    if not path.is_file():
        raise NotFound(
            f"There is no file {path}.", hint=Fix("Give the file that {} made.", Command("backup"))
        )
    with storage_errors(path):
        try:
            with zipfile.ZipFile(path) as opened:
                archive = Archive(opened, _read_list(opened))
                for name in archive.names:
                    if cancel is not None:
                        cancel.raise_if_cancelled()
                    archive.read(name)
                yield archive
        except _BROKEN as error:
            raise _refuse("it is damaged or incomplete") from error


@contextmanager
def _refuse_taken(target: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise InvalidRequest(
            f"{target} exists already, and a backup overwrites nothing.", hint="Give another name."
        ) from error


def _read_list(opened: zipfile.ZipFile) -> dict[str, Mapping[str, Any]]:
    try:
        if opened.getinfo(_LIST).file_size > _MOST_LIST_BYTES:
            raise _refuse("its list of files is too large")
        found = json.loads(opened.read(_LIST))
        version, files = found["format"], dict(found["files"])
        is_whole = set(opened.namelist()) >= set(files) and all(
            isinstance(file["bytes"], int) and isinstance(file["sha256"], str)
            for file in files.values()
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _refuse("it has no list of its files") from error
    if type(version) is not int or version < 1:
        raise _refuse("it has no list of its files")
    if version > FORMAT:
        raise _refuse("it was made by a newer version of Strata")
    if not is_whole:
        raise _refuse("files are missing in it")
    return files


def _refuse(reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"This is no backup that can be restored: {reason}. Nothing was changed.",
        hint=(
            Fix("Use another backup."),
            Fix("{} makes one.", Command("backup", ("FILE",))),
        ),
    )
