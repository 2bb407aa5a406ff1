"""The bin: deleted chats, which can be restored for thirty days.

A chat enters the bin when its file is renamed, and leaves it when the file is renamed back, so a
crash leaves the chat either here or there. What else belongs to the chat (stored requests, tool
results, journal of edits, a cut-off line) stays where it is until the chat is deleted for good.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from app.errors import SessionMissing, StorageFailed, storage_errors
from app.sessions.file import open_locked
from app.sessions.session import timestamp
from app.sessions.session_info import SessionInfo
from app.state_db import StateDB
from resources.system.calls import remove_path, rename_open_file, rename_path, sync_folder
from resources.system.files import make_private_folder, open_file, read_file

__all__ = ["DAYS_IN_BIN", "BinnedChat", "ChatBin"]

_log = logging.getLogger(__name__)
DAYS_IN_BIN: Final = 30
_FOLDER: Final = "bin"
_STAMP: Final = "%Y%m%dT%H%M%S%fZ"
# The file of a chat that is being deleted for good has `.gone` in its name. Nothing lists it.
_NAME: Final = re.compile(r"([A-Za-z0-9][\w-]{0,63})\.(\d{8}T\d{12}Z)(\.gone)?\.jsonl", re.ASCII)
_RESULT: Final = re.compile(rb"\br[0-9a-f]{20}\b")  # the reference of a tool result in `state.db`


@dataclass(frozen=True)
class BinnedChat:
    """A chat in the bin.

    Attributes:
        info: the chat's entry in the list of chats.
        deleted: when the chat was deleted, in ISO 8601 and UTC.
        until: when the chat will be deleted for good.
    """

    info: SessionInfo
    deleted: str
    until: str

    def to_dict(self) -> dict[str, Any]:
        """Return the chat as a JSON object: its list entry with both times."""
        return {**self.info.to_dict(), "deleted": self.deleted, "until": self.until}


@dataclass(frozen=True)
class _BinnedFile:
    """The file of a chat in the bin, and what its name says."""

    path: Path
    session: str
    deleted: datetime
    is_gone: bool


class ChatBin:
    """Keeps deleted chats until they are restored or deleted for good. Thread-safe."""

    def __init__(
        self,
        chats: Path,
        state: StateDB,
        describe: Callable[[Path], SessionInfo | None],
        merge: Callable[[str, bytes], int],
    ) -> None:
        """Use the bin in the folder of chats, which need not exist.

        Args:
            chats: the folder of chats.
            state: the database with the requests and tool results of the chats.
            describe: returns a chat's list entry by its file, or None if the file is gone.
            merge: adds the content of a file to the chat with this id.
        """
        self._chats, self._folder = chats, chats / _FOLDER
        self._state, self._describe, self._merge = state, describe, merge

    def put(self, session: str) -> BinnedChat:
        """Move a chat's file into the bin, and return the chat.

        Raises:
            SessionBusy: the chat is being written to, by this or another process.
            StorageFailed: the file cannot be moved.
        """
        path = self._chats / f"{session}.jsonl"
        with storage_errors(path):
            handle = open_locked(path)
            try:
                make_private_folder(self._folder)
                now = datetime.now(UTC)
                file = _BinnedFile(self._name_file(session, now), session, now, is_gone=False)
                rename_open_file(handle, path, file.path)
            finally:
                os.close(handle)
            self._sync()
            return self._make_entry(file)

    def list_chats(self) -> list[BinnedChat]:
        """Return the chats in the bin, the one deleted last first.

        Raises:
            StorageFailed: the folder of the bin cannot be read.
        """
        newest = {file.session: file for file in self._list_files()}
        files = sorted(newest.values(), key=lambda file: file.deleted, reverse=True)
        with storage_errors(self._folder):
            return [self._make_entry(file) for file in files if file.path.exists()]

    def holds(self, session: str) -> bool:
        """Return whether a chat is in the bin."""
        return bool(self._find(session))

    def list_all_files(self) -> list[Path]:
        """Return the files in the bin, also those that are about to be removed."""
        return [file.path for file in self._scan()]

    def restore(self, session: str) -> None:
        """Put a chat back on the list of chats, with everything that belongs to it.

        If a chat with this id is on the list, because it was restored from a backup, the entries
        are added to it.

        Raises:
            SessionMissing: the chat is not in the bin.
            InvalidRequest: the entries cannot be added to the chat on the list.
            SessionBusy: the chat on the list is being written to.
            StorageFailed: the file cannot be moved.
        """
        target = self._chats / f"{session}.jsonl"
        for file in self._require(session):
            with storage_errors(file.path):
                if os.path.lexists(target):
                    content = read_file(file.path)
                    if content != read_file(target):
                        self._merge(session, content)
                    remove_path(file.path)
                else:
                    rename_path(file.path, target)
                self._sync()

    def remove(self, session: str) -> None:
        """Delete a chat in the bin for good, with everything that only it refers to.

        Raises:
            SessionMissing: the chat is not in the bin.
            StorageFailed: the file cannot be deleted.
        """
        self._remove(self._require(session))

    def empty(self) -> tuple[str, ...]:
        """Delete all chats in the bin for good, and return their ids.

        Raises:
            StorageFailed: a file cannot be deleted.
        """
        return self._remove(self._list_files())

    def remove_expired(self) -> tuple[str, ...]:
        """Delete the chats for good that have been in the bin for thirty days.

        Deletions that a crash interrupted are completed. Failures are only logged.

        Returns:
            The ids of the deleted chats.
        """
        oldest = datetime.now(UTC) - timedelta(days=DAYS_IN_BIN)
        try:
            return self._remove([file for file in self._list_files() if file.deleted < oldest])
        except StorageFailed as error:
            _log.warning("The bin of chats was not cleared: %s", error)
            return ()

    def _remove(self, files: Iterable[_BinnedFile]) -> tuple[str, ...]:
        """Delete files for good. From the first step on, their chats are no longer listed."""
        sessions = dict.fromkeys(file.session for file in files)
        for file in files:
            with storage_errors(file.path):
                rename_path(file.path, file.path.with_suffix(".gone.jsonl"))
        self._finish_removal()
        return tuple(sessions)

    def _finish_removal(self) -> None:
        """Remove the files that are marked as gone, and what only they refer to."""
        gone = [file for file in self._scan() if file.is_gone]
        if not gone:
            return
        self._forget(gone)
        for file in gone:
            with storage_errors(file.path):
                if not self._is_kept(file.session):
                    for aside in self._chats.glob(f"{file.session}.jsonl.*"):
                        remove_path(aside)  # a cut-off line, or an older version
                with suppress(FileNotFoundError):  # another process removed it
                    remove_path(file.path)
        with storage_errors(self._folder):
            self._sync()

    def _forget(self, gone: Iterable[_BinnedFile]) -> None:
        """Remove the data of deleted chats from `state.db`. Failures are only logged."""
        try:
            results = {file.path: _find_results(file.path) for file in gone}
            only_theirs = set().union(*results.values())
            for other in self._list_others(results) if only_theirs else ():
                only_theirs -= _find_results(other)
            for file in gone:
                own = [ref.decode("ascii") for ref in only_theirs & results[file.path]]
                self._state.forget_results(own)
                if not self._is_kept(file.session):
                    self._state.forget_chat(file.session)
        except (OSError, StorageFailed) as error:
            _log.warning("Requests or results of deleted chats were not removed: %s", error)

    def _list_others(self, gone: Iterable[Path]) -> Iterator[Path]:
        yield from self._chats.glob("*.jsonl")
        yield from set(self.list_all_files()).difference(gone)

    def _is_kept(self, session: str) -> bool:
        """Return whether a chat is on the list, or in the bin and not about to be removed."""
        return os.path.lexists(self._chats / f"{session}.jsonl") or self.holds(session)

    def _require(self, session: str) -> list[_BinnedFile]:
        if not (found := self._find(session)):
            raise SessionMissing(
                f"There is no chat {session} in the bin.",
                hint="`strata sessions list --bin` shows those that there are.",
            )
        return found

    def _find(self, session: str) -> list[_BinnedFile]:
        return [file for file in self._list_files() if file.session == session]

    def _list_files(self) -> list[_BinnedFile]:
        """Return the files of the chats in the bin, the one deleted first first."""
        return [file for file in self._scan() if not file.is_gone]

    def _scan(self) -> list[_BinnedFile]:
        with storage_errors(self._folder):
            try:
                names = sorted(os.listdir(self._folder))
            except FileNotFoundError:
                return []
        files = [_read_name(self._folder / name) for name in names]
        found = (file for file in files if file is not None and not file.path.is_symlink())
        return sorted(found, key=lambda file: (file.deleted, file.session))

    def _name_file(self, session: str, deleted: datetime) -> Path:
        return self._folder / f"{session}.{deleted.strftime(_STAMP)}.jsonl"

    def _make_entry(self, file: _BinnedFile) -> BinnedChat:
        info = self._describe(file.path)
        at, until = file.deleted, file.deleted + timedelta(days=DAYS_IN_BIN)
        shown = info or SessionInfo(file.session, "", "", "", vault=None, project=None, turns=0)
        return BinnedChat(shown, timestamp(at.timestamp()), timestamp(until.timestamp()))

    def _sync(self) -> None:
        """Write both folders to disk."""
        sync_folder(self._chats)
        sync_folder(self._folder)


def _read_name(path: Path) -> _BinnedFile | None:
    """Read the name of a file in the bin, or return None for another file."""
    if (match := _NAME.fullmatch(path.name)) is None:
        return None
    session, stamp, gone = match.groups()
    try:
        deleted = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:  # no day of the calendar
        return None
    return _BinnedFile(path, session, deleted, gone is not None)


def _find_results(file: Path) -> set[bytes]:
    """Return the references to tool results in a chat's file, or none if the file is gone."""
    try:
        with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
            return set(_RESULT.findall(opened.read()))
    except FileNotFoundError:
        return set()
