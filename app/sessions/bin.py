"""The bin: deleted chats, which can be restored for thirty days.

A chat enters the bin when its file is renamed, and leaves it when the file is renamed back, so a
crash leaves the chat either here or there. What else belongs to the chat (stored requests, tool
results, journal of edits, a cut-off line) stays where it is until the chat is deleted for good.

The name of a file in the bin says when its chat was deleted. A clock that was or is wrong never
ends the thirty days at once: where the times contradict each other, they begin again, and where
they may have passed only on the clock, the removal is put off by seven days, once.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from app.errors import AppError, SessionMissing, StorageFailed, storage_errors
from app.requests.store import SentStore
from app.sessions.bin_folder import DAYS_IN_BIN, BinFolder, BinnedFile, is_regular
from app.sessions.file import ChatCopy, find_copies, open_locked
from app.sessions.session import timestamp
from app.sessions.session_info import SessionInfo
from app.state_db import StateDB
from context.fixes import Command, Fix
from context.json_codec import Record
from resources.system.calls import remove_path, rename_open_file, rename_path, sync_folder
from resources.system.files import (
    open_file,
    read_file,
    remove_if_there,
    remove_leftovers,
    write_atomically,
)

__all__ = ["DAYS_IN_BIN", "BinnedChat", "ChatBin"]

_log = logging.getLogger(__name__)
# Between two checks. After a longer one, the clock may have gone forward without the time.
_LONGEST_BREAK: Final = timedelta(days=14)
_CHECKED: Final = ".strata-checked"  # changed at each check of the bin; no backup has it
# The reference of a tool result in `state.db`, or of a request that was sent.
_REFERENCE: Final = re.compile(rb'\br[0-9a-f]{20}\b|(?<="sent":")[0-9a-f]{32}(?=")')
_RESULT_CHARS: Final = 21


@dataclass(frozen=True)
class BinnedChat(Record):
    """A chat in the bin.

    Attributes:
        info: the chat's entry in the list of chats.
        deleted: when the chat was deleted, in ISO 8601 and UTC.
        until: when the chat will be deleted for good.
    """

    info: SessionInfo
    deleted: str
    until: str

    json_shape = (
        "session = info.session",
        "title = info.title",
        "created = info.created",
        "updated = info.updated",
        "vault = info.vault",
        "project = info.project",
        "turns = info.turns",
        "pinned = info.pinned",
        "archived = info.archived",
        "deleted",
        "until",
    )


class ChatBin:
    """Keeps deleted chats until they are restored or deleted for good. Thread-safe.

    Attributes:
        folder: the folder with their files.
    """

    def __init__(
        self,
        chats: Path,
        state: StateDB,
        sent: SentStore,
        describe: Callable[[Path], SessionInfo | None],
        merge: Callable[[str, bytes], int],
        merge_copies: Callable[[], object],
    ) -> None:
        """Use the bin in the folder of chats, which need not exist.

        Args:
            chats: the folder of chats.
            state: the database with the last requests and tool results of the chats.
            sent: the requests that were sent.
            describe: returns a chat's list entry by its file, or None if the file is gone.
            merge: adds the content of a file to the chat with this id.
            merge_copies: merges what sync programs made beside the chats, where this is possible.
        """
        self._chats, self.folder = chats, BinFolder(chats / "bin")
        self._state, self._sent = state, sent
        self._describe, self._merge, self._merge_copies = describe, merge, merge_copies

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
                self.folder.make()
                file = self.folder.name_file(session)
                rename_open_file(handle, path, file.path)
            finally:
                os.close(handle)
            self._sync()
            return self._make_entry(file)

    def flush(self) -> None:
        """Flush which chats are on the list and in the bin: who moved one may have failed to.

        Raises:
            StorageFailed: a folder cannot be flushed.
        """
        with storage_errors(self.folder.path), suppress(FileNotFoundError):
            self._sync()

    def list_chats(self) -> list[BinnedChat]:
        """Return the chats in the bin, the one deleted last first.

        Raises:
            StorageFailed: the folder of the bin cannot be read.
        """
        newest = {file.session: file for file in self._list_files()}
        files = sorted(newest.values(), key=lambda file: file.deleted, reverse=True)
        with storage_errors(self.folder.path):
            return [self._make_entry(file) for file in files if file.path.exists()]

    def holds(self, session: str) -> bool:
        """Return whether a chat is in the bin. A bin that cannot be read holds none."""
        try:
            return bool(self._find(session))
        except StorageFailed as error:
            _log.warning("The bin of chats cannot be read: %s", error)
            return False

    def find_files(self, session: str) -> list[Path]:
        """Return the files of a chat in the bin, the one deleted first first.

        Raises:
            StorageFailed: the folder of the bin cannot be read.
        """
        return [file.path for file in self._find(session)]

    def list_all_files(self) -> list[Path]:
        """Return the files in the bin, also those that are about to be removed."""
        return [file.path for file in self.folder.list_files()]

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
                with suppress(FileNotFoundError):  # another process has restored or deleted it
                    self._put_back(file.path, target)
                self._sync()
        if not os.path.lexists(target):
            raise _build_missing(session)

    def _put_back(self, file: Path, target: Path) -> None:
        """Move a file to the list of chats, or add its entries to the chat that is there."""
        if not os.path.lexists(target):
            rename_path(file, target)
            return
        content = read_file(file)
        if content != read_file(target):
            self._merge(file.name.partition(".")[0], content)
        remove_path(file)

    def remove(self, session: str) -> None:
        """Delete a chat in the bin for good, with everything that only it refers to.

        Raises:
            SessionMissing: the chat is not in the bin.
            StorageFailed: not everything can be deleted now. The chat is no longer listed.
        """
        with storage_errors(self.folder.path):
            self.folder.adopt_copies()
        self._mark_as_gone(self._require(session))
        self._finish_removal()

    def empty(self) -> tuple[str, ...]:
        """Delete all chats in the bin for good, and return their ids.

        Where a chat with the same id is on the list, the entries are added to it instead. A chat
        comes back if a copy of it, which a sync program made, was used after it was deleted.

        Raises:
            StorageFailed: not everything can be deleted now. The chats are no longer listed.
        """
        listed = {file.session for file in self._list_files() if self._is_listed(file.session)}
        self._merge_copies()
        self._reunite(listed)
        sessions = self._mark_as_gone(self._list_files())
        self._finish_removal()
        return sessions

    def remove_expired(self) -> tuple[str, ...]:
        """Delete the chats for good that have been in the bin for thirty days.

        The thirty days of a chat begin again if its deletion is in the future or before its last
        change. If they are over after a time in which nobody checked the bin, perhaps only the
        clock went forward: then the chat stays for seven more days, but only once, and so it does
        if its last change is in the future. Deletions that a crash or a failure interrupted are
        completed. A chat of which there is a copy that cannot be merged now waits. Failures are
        only logged.

        Returns:
            The ids of the deleted chats.
        """
        sessions: tuple[str, ...] = ()
        try:
            self._merge_copies()
            if not os.path.lexists(self.folder.path):
                return sessions  # no chat was ever deleted
            self.reunite()
            waiting = {copy.session for copy in self._find_copies()}
            expired = [file for file in self._find_expired() if file.session not in waiting]
            sessions = self._mark_as_gone(expired)
            self._finish_removal()
        except StorageFailed as error:
            _log.warning("The bin of chats was not cleared: %s", error)
        return sessions

    def reunite(self) -> None:
        """Let each chat be only on the list or only in the bin, as was decided last.

        A chat is in both places if it was deleted on one machine and changed on another, and a sync
        program keeps their folders alike. It stays in the bin if it was deleted after its last use.
        Then its thirty days begin again. Otherwise its entries in the bin are added to those on the
        list.

        Raises:
            StorageFailed: the folder of the bin cannot be read.
        """
        self._reunite(frozenset())

    def _reunite(self, preferred: Set[str]) -> None:
        """Reunite the chats. Those with the preferred ids come on the list in any case."""
        with storage_errors(self.folder.path):
            self.folder.adopt_copies()
        deleted = {file.session: file.deleted for file in self._list_files()}
        for session, when in deleted.items():
            path = self._chats / f"{session}.jsonl"
            if not self._is_listed(session):
                continue
            try:
                info = None if session in preferred else self._describe(path)
                if info is not None and _read_time(info.updated) < when.timestamp():
                    self.put(session)
                else:
                    self.restore(session)
            except AppError as error:
                _log.warning("The chat %s stays on the list and in the bin: %s", session, error)

    def _find_expired(self) -> list[BinnedFile]:
        """Return the files whose time is over, and let those in doubt stay.

        The bin counts as checked only when all those in doubt have their new names: a check that
        is interrupted is made again. The files are listed before the last check is looked up, so
        a check by another process in between has renamed those in doubt.
        """
        if not (files := self._list_files()):
            return []
        expired, now = list[BinnedFile](), datetime.now(UTC)
        with storage_errors(self.folder.path):
            is_checked = self._is_lately_checked(now)
            for file in files:
                if (named := self._name_longer(file, now, is_checked)) is not None:
                    self._keep(file, named)
                elif file.until < now and os.path.lexists(file.path):
                    expired.append(file)
            write_atomically(self.folder.path / _CHECKED, b"")
        return expired

    def _is_lately_checked(self, now: datetime) -> bool:
        try:
            since_s = now.timestamp() - (self.folder.path / _CHECKED).lstat().st_mtime
        except FileNotFoundError:
            return False
        return 0 <= since_s <= _LONGEST_BREAK.total_seconds()

    def _name_longer(self, file: BinnedFile, now: datetime, is_checked: bool) -> BinnedFile | None:
        """Return the name with which a file stays longer if its time is in doubt, or None."""
        if file.begun > now:
            return self.folder.name_file(file.session)
        changes_s = self._find_changes(file) if file.until < now else ()
        if any(file.begun.timestamp() < at_s <= now.timestamp() for at_s in changes_s):
            # Also one that was restored from a backup a moment ago.
            return self.folder.name_file(file.session)
        if file.put_off_until is not None or not changes_s:
            return None
        is_doubtful = not is_checked or max(changes_s) > now.timestamp()
        return self.folder.name_put_off(file) if is_doubtful else None

    def _find_changes(self, file: BinnedFile) -> tuple[float, ...]:
        """Return when a chat and its file were changed last, or nothing if the file is gone."""
        if (info := self._describe(file.path)) is None:
            return ()
        with suppress(FileNotFoundError):  # another process renamed it
            return file.path.lstat().st_mtime, _read_time(info.updated)
        return ()

    def _keep(self, file: BinnedFile, named: BinnedFile) -> None:
        """Give a file the name that lets it stay longer."""
        _log.warning("The chat %s stays in the bin until %s.", file.session, named.until.date())
        with suppress(FileNotFoundError):  # another process restored or renamed it
            rename_path(file.path, named.path)

    def _mark_as_gone(self, files: Iterable[BinnedFile]) -> tuple[str, ...]:
        """Begin to delete files for good, and return the ids of the chats that are gone with them.

        From now on, no list has the files.
        """
        sessions = dict.fromkeys(file.session for file in files)
        for file in files:
            # Another process may have restored or removed it.
            with storage_errors(file.path), suppress(FileNotFoundError):
                rename_path(file.path, file.path.with_suffix(".gone.jsonl"))
        return tuple(session for session in sessions if not self._is_kept(session))

    def _finish_removal(self) -> None:
        """Remove the files that are marked as gone, after what only they refer to.

        A file stays until everything else of its chat is removed, so that the next removal goes on.

        Raises:
            StorageFailed: something could not be removed. Everything else is.
        """
        gone = [file for file in self.folder.list_files() if file.is_gone]
        if not gone:
            return
        with storage_errors(self.folder.path):
            self._sync()  # a chat whose new name was lost would come back without its requests
        problems: list[StorageFailed] = []
        rest = [file for file in gone if _attempt(problems, file, self._forget_chat)]
        own: dict[BinnedFile, set[bytes]] = {}
        for file in rest:
            _attempt(problems, file, lambda one: own.update({one: _find_references(one.path)}))
        strays: dict[str, list[Path]] = {}
        try:
            strays = self._find_strays(own)
            for file in own:
                own[file] |= _find_all_references(strays.get(file.session, ()))
            kept = self._find_kept({file.path for file in own}.union(*strays.values()))
            self._remove_requests(set[bytes]().union(*own.values()), kept)
        except (OSError, StorageFailed) as error:
            problems.append(_not_removed(error))
            own = {}
        for file, references in own.items():
            results = {one for one in references - kept if len(one) == _RESULT_CHARS}
            beside = strays.get(file.session, ())
            _attempt(problems, file, partial(self._remove_file, results=results, beside=beside))
        with storage_errors(self.folder.path):
            self.remove_leftovers()
            self._sync()
        if problems:
            raise problems[0]

    def _forget_chat(self, file: BinnedFile) -> None:
        if not self._is_kept(file.session):
            self._state.forget_chat(file.session)

    def _find_strays(self, gone: Iterable[BinnedFile]) -> dict[str, list[Path]]:
        """Return what lies beside the chats that are gone, by their ids.

        These are cut-off lines, older versions, and copies that a sync program made.
        """
        sessions = {file.session for file in gone}
        found: dict[str, list[Path]] = {one: [] for one in sessions if not self._is_kept(one)}
        with storage_errors(self._chats):
            for copy in self._find_copies():
                found.get(copy.session, []).append(copy.path)
            for path in filter(is_regular, self._chats.glob("*.jsonl?*")):
                found.get(path.name.partition(".jsonl")[0], []).append(path)
        return found

    def _find_copies(self) -> list[ChatCopy]:
        with storage_errors(self._chats):
            return list(find_copies(self._chats.glob("*.jsonl")))

    def _find_kept(self, gone: Set[Path]) -> set[bytes]:
        """Return what the other chats refer to."""
        return _find_all_references(self._list_others(gone))

    def _remove_requests(self, own: Set[bytes], kept: Set[bytes]) -> None:
        """Remove the requests that were sent for answers in chats that are gone."""
        gone, others = ({one.decode() for one in some} for some in (own, kept))
        self._sent.remove(gone, others)

    def _remove_file(
        self, file: BinnedFile, results: Iterable[bytes], beside: Iterable[Path]
    ) -> None:
        """Remove a file with its tool results, and what lies beside the chat if it is gone."""
        self._state.forget_results(ref.decode("ascii") for ref in results)
        if not self._is_kept(file.session):
            for path in beside:
                remove_if_there(path)
        with suppress(FileNotFoundError):  # another process removed it
            remove_path(file.path)

    def _list_others(self, gone: Set[Path]) -> Iterator[Path]:
        """Yield the files of the other chats. The bin is listed twice, as one may be moved."""
        yield from (file for file in self.list_all_files() if file not in gone)
        yield from (
            file for file in self._chats.glob("*.jsonl") if file not in gone and is_regular(file)
        )
        yield from (file for file in self.list_all_files() if file not in gone)

    def _is_kept(self, session: str) -> bool:
        """Return whether a chat is on the list, or in the bin and not about to be removed."""
        return self._is_listed(session) or bool(self._find(session))

    def _is_listed(self, session: str) -> bool:
        return os.path.lexists(self._chats / f"{session}.jsonl")

    def remove_leftovers(self) -> None:
        """Remove the temporary files of chats that killed processes left behind."""
        for folder in (self._chats, self.folder.path):
            remove_leftovers(folder)

    def _require(self, session: str) -> list[BinnedFile]:
        if not (found := self._find(session)):
            self.flush()
            raise _build_missing(session)
        return found

    def _find(self, session: str) -> list[BinnedFile]:
        return [file for file in self._list_files() if file.session == session]

    def _list_files(self) -> list[BinnedFile]:
        """Return the files of the chats in the bin, the one deleted first first."""
        return [file for file in self.folder.list_files() if not file.is_gone]

    def _make_entry(self, file: BinnedFile) -> BinnedChat:
        info = self._describe(file.path)
        at, until = file.deleted, file.until
        shown = info or SessionInfo(file.session, "", "", "", vault=None, project=None, turns=0)
        return BinnedChat(shown, timestamp(at.timestamp()), timestamp(until.timestamp()))

    def _sync(self) -> None:
        """Write both folders to disk."""
        sync_folder(self._chats)
        sync_folder(self.folder.path)


def _attempt(
    problems: list[StorageFailed], file: BinnedFile, act: Callable[[BinnedFile], object]
) -> bool:
    """Do something with a file, and return whether it succeeded. Failures are added to a list."""
    try:
        with storage_errors(file.path):
            act(file)
    except StorageFailed as error:
        problems.append(_not_removed(error))
        return False
    return True


def _build_missing(session: str) -> SessionMissing:
    return SessionMissing(
        f"There is no chat {session} in the bin.",
        hint=Fix("{} shows those that there are.", Command("sessions list --bin")),
    )


def _not_removed(error: OSError | StorageFailed) -> StorageFailed:
    return StorageFailed(
        f"The deleted chats are no longer listed, but some of their data is still stored: {error}",
        hint="It will be removed at the next start. Repair what is in the way.",
    )


def _read_time(written: str) -> float:
    """Convert ISO 8601 to a Unix time. Return 0 for anything else."""
    try:
        return datetime.fromisoformat(written).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _find_all_references(files: Iterable[Path]) -> set[bytes]:
    return set[bytes]().union(*map(_find_references, files))


def _find_references(file: Path) -> set[bytes]:
    """Return the references in a chat's file to results and requests, or none without the file."""
    try:
        with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
            return set(_REFERENCE.findall(opened.read()))
    except FileNotFoundError:
        return set()
