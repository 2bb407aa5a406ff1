"""The chats on disk: append-only files with one writer at a time."""

import errno
import logging
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from app.errors import (
    AppError,
    InvalidRequest,
    SessionMissing,
    StorageFailed,
    build_storage_error,
    storage_errors,
)
from app.requests.store import SentStore
from app.sessions.bin import BinnedChat, ChatBin
from app.sessions.file import (
    LoadedLog,
    add_header,
    encode_line,
    find_copies,
    keep_original,
    keep_torn,
    list_lines,
    load_log,
    mend_end,
    migrate_file,
    open_locked,
)
from app.sessions.session import Session, now
from app.sessions.session_info import (
    LAST_COUNTS,
    SessionInfo,
    describe_unreadable,
    read_kept_info,
    summarise_log,
)
from app.state_db import StateDB
from context.errors import MalformedEntry
from context.fixes import Command, Fix
from context.log.entries import MessageEntry, parse_entry
from context.log.merge import merge_logs
from context.log.parse import SessionHeader
from resources.system.copies import take_file
from resources.system.files import (
    create_file,
    make_private_folder,
    open_file,
    write_synced,
)

_log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class SessionStore:
    """Creates, opens, lists and deletes chats. Thread-safe.

    Attributes:
        bin: the deleted chats that can still be restored.
        sent: the requests that their answers answer.
    """

    def __init__(
        self,
        folder: Path,
        state: StateDB,
        sent: SentStore | None = None,
        follow: Callable[[str], str] = str,
    ) -> None:
        """Use a folder of chats, which need not exist.

        Args:
            state: the database `state.db`.
            sent: the requests that were sent, or None for the folder `sent` beside the chats.
            follow: returns the present path of a vault or project, given the one in a chat.
        """
        self._folder = folder
        self._state = state
        self._follow = follow
        self.sent = sent or SentStore(folder.with_name("sent"))
        self._lock = threading.Lock()
        self._rescue = threading.Lock()  # a second reader waits until the first one has written
        self._newest: tuple[tuple[str, int, int], LoadedLog] | None = None
        self._unwritten_logs: dict[str, LoadedLog] = {}
        self.bin = ChatBin(folder, state, self.sent, self._describe, self.merge, self._merge_copies)

    def create(
        self, vault: str | None, project: str | None = None, branched_from: str | None = None
    ) -> Session:
        """Create a chat. Its file is created when its first entries are written.

        Args:
            vault: the folder of the chat's vault, or None.
            project: the project of the chat, or None.
            branched_from: the id of the chat that this one was forked from, or None.
        """
        return self._new(self._first_log(vault, project, branched_from))

    def begin(self, vault: str | None, project: str | None = None) -> str:
        """Create a chat in memory, and return its id.

        The file is created when the first entries are written.
        """
        log = self._first_log(vault, project)
        self._unwritten_logs[log.header.id] = log
        return log.header.id

    def has(self, session: str) -> bool:
        """Return whether a chat is there, in a file or begun in this run of the program."""
        return self._unwritten(session) is not None or self.file(session).is_file()

    def open(self, session: str) -> Session:
        """Open a chat for writing. A truncated last line is moved to `<id>.jsonl.torn`.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to, by this or another process.
            InvalidRequest: this program cannot write the chat's version.
            StorageFailed: the file cannot be read or written.
        """
        if (unwritten_log := self._unwritten(session)) is not None:
            return self._new(unwritten_log)
        path = self._find_file(session)
        with self._errors(session):
            handle = open_locked(path)
            try:
                log = self._load(path)
                _check_writable(log)
                if not log.is_outdated:
                    handle = mend_end(handle, path, log)
            except BaseException:
                os.close(handle)
                raise
        chat = Session(path, log, self._state, self.sent, handle, remember=self._remember)
        with ExitStack() as undo:
            undo.callback(chat.close)
            self._append_partial(chat)
            undo.pop_all()
        return chat

    def read(self, session: str) -> Session:
        """Open a chat for reading only. Others may write to it at the same time.

        If a process was killed during an answer, the partial answer is appended to the chat first.

        Raises:
            SessionMissing: the chat does not exist.
            StorageFailed: the file cannot be read.
        """
        if (unwritten_log := self._unwritten(session)) is not None:
            return self._new(unwritten_log)
        path = self._find_file(session)
        self._rescue_partial(session)
        with self._errors(session):
            return Session(path, self._load(path), self._state, self.sent, handle=None)

    def list(self) -> list[SessionInfo]:
        """Return the chats that have a question or a title, most recently used first.

        Copies of chats that a sync program made are merged into their chats first.

        Raises:
            StorageFailed: the folder of chats cannot be read.
        """
        if self._merge_copies():
            try:
                self.bin.reunite()
            except AppError as error:
                _log.warning("The bin of chats cannot be read: %s", error)
        # For chats used in the same millisecond.
        files = sorted(self._list_files(), key=_read_change_time, reverse=True)
        follow = cache(self._follow)
        infos = (_follow_folders(info, follow) for info in self._infos(files))
        found = [info for info in infos if info.turns or info.title]
        return sorted(found, key=lambda info: info.updated, reverse=True)

    def info(self, session: str) -> SessionInfo:
        """Return a chat's list entry.

        Raises:
            SessionMissing: the chat does not exist.
            StorageFailed: the file cannot be read.
        """
        if (unwritten_log := self._unwritten(session)) is not None:
            return summarise_log(unwritten_log)
        path = self._find_file(session)
        with self._errors(session):
            return _follow_folders(self._info(path), self._follow)

    def delete(self, session: str) -> BinnedChat | None:
        """Move a chat to the bin, and return it. A chat without a file is deleted for good.

        Raises:
            SessionMissing: the chat does not exist, or is in the bin already.
            SessionBusy: the chat is being written to, by this or another process.
            StorageFailed: the file cannot be moved.
        """
        if self._unwritten(session) is not None:
            del self._unwritten_logs[session]
            return None
        if not self.is_stored(session):
            self.bin.flush()
        self._find_file(session)
        with self._errors(session):
            return self.bin.put(session)

    def delete_for_good(self, session: str) -> None:
        """Delete a chat, on the list or in the bin, with everything that only it refers to.

        Long texts that were attached as files are removed later, by `LongTexts.sweep`.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to, by this or another process.
            StorageFailed: the file cannot be deleted.
        """
        is_binned = not self.is_stored(session) and self.bin.holds(session)
        if is_binned or self.delete(session) is not None:
            self.bin.remove(session)

    def merge(self, session: str, content: bytes) -> int:
        """Add the entries of another version of a chat, and return how many lines were added.

        The branch that was used last is the active one, and the newest title, labels and marks
        count. If there is no such chat, the version becomes it.

        Args:
            session: the id of the chat.
            content: the content of the other version's file.

        Raises:
            InvalidRequest: a version was written by a newer version of Strata.
            SessionBusy: the chat is being written to, by this or another process.
            StorageFailed: the file cannot be read or written.
        """
        path, other = self.file(session), load_log(session, content)
        _require_known(other)
        if not path.exists():
            with storage_errors(path):
                make_private_folder(self._folder)
                create_file(path, content[: other.whole_bytes])
                keep_torn(path, [other.torn])
            return len(other.entries)
        path = self._find_file(session)
        with self._errors(session):
            handle = open_locked(path)
            try:
                own = self._load(path)
                _require_known(own)
                if other.has_header and not own.has_header:
                    handle = _swap(handle, add_header(path, other.header))
                    own = self._load(path)
                if own.is_outdated:
                    handle = _swap(handle, migrate_file(path, own))
                else:
                    handle = mend_end(handle, path, own)
                _keep_unreadable(path, own, other, content)
                theirs = list_lines(other, content)
                lines = merge_logs(
                    list_lines(own, path.read_bytes()), theirs, own.leaf, LAST_COUNTS
                )
                write_synced(handle, b"".join(map(encode_line, lines)))
            finally:
                os.close(handle)
        return len(lines)

    def _merge_copies(self) -> bool:
        """Merge copies into their chats and remove them, and return whether there were any.

        What is not possible now stays for later, and so does a copy that may still be written. A
        kill leaves a copy or no copy. What was merged before is not merged again.
        """
        copies = list(find_copies(self._list_files()))
        for copy in copies:
            try:
                if take_file(copy.path, partial(self.merge, copy.session)):
                    _log.info("%s was merged into its chat", copy.path.name)
            except (AppError, OSError) as error:
                _log.warning("%s was not merged into its chat: %s", copy.path, error)
        return bool(copies)

    def _list_files(self) -> Sequence[Path]:
        with storage_errors(self._folder):
            return [*self._folder.iterdir()] if self._folder.exists() else []

    def is_stored(self, session: str) -> bool:
        """Return whether a chat has a file on the list, not in the bin."""
        return _ID.fullmatch(session) is not None and self.file(session).is_file()

    def require_kept(self, session: str) -> None:
        """Do nothing if a chat is on the list or in the bin.

        Raises:
            SessionMissing: the chat was deleted for good, with what only it refers to.
        """
        places = (self.is_stored, self.bin.holds, self.is_stored)  # it may be restored in between
        if not any(is_in(session) for is_in in places):
            raise _build_missing(session)

    def newest(self) -> str | None:
        """Return the id of the most recently used chat, or None."""
        return next((info.session for info in self.list()), None)

    def file(self, session: str) -> Path:
        """Return the path of a chat's file. The file need not exist."""
        return self._folder / f"{session}.jsonl"

    @property
    def state(self) -> StateDB:
        """The database with the last requests and large tool results of the chats."""
        return self._state

    def take_warning(self) -> str:
        """Return a warning if `state.db` was damaged. Later calls return an empty string."""
        return self._state.take_warning()

    def close(self) -> None:
        """Close `state.db`. The next use opens it again."""
        self._state.close()

    def _first_log(
        self, vault: str | None, project: str | None, branched_from: str | None = None
    ) -> LoadedLog:
        while self._is_taken(session := secrets.token_hex(4)):
            pass
        return LoadedLog(SessionHeader(session, now(), vault, project, branched_from=branched_from))

    def _is_taken(self, session: str) -> bool:
        return (
            session in self._unwritten_logs
            or self.file(session).exists()
            or self.bin.holds(session)
        )

    def _new(self, log: LoadedLog) -> Session:
        path, claim, remember = self.file(log.header.id), self._claim, self._remember
        return Session(path, log, self._state, self.sent, None, claim, remember)

    def _claim(self, session: str) -> None:
        """Raise `SessionMissing` if a chat was written and deleted since it was opened as new."""
        if self.bin.holds(session):
            raise _in_bin(session)

    def _unwritten(self, session: str) -> LoadedLog | None:
        """Return the log of a chat that has no file yet, or None for any other chat."""
        if session in self._unwritten_logs and self.file(session).exists():
            del self._unwritten_logs[session]
        return self._unwritten_logs.get(session)

    @contextmanager
    def _errors(self, session: str) -> Iterator[None]:
        """Convert errors about the file of a chat, also if another process has just moved it."""
        path = self.file(session)
        try:
            with storage_errors(path):
                yield
        except StorageFailed:
            if not os.path.lexists(path):
                self._find_file(session)
            raise

    def _find_file(self, session: str) -> Path:
        path = self.file(session)
        is_id = _ID.fullmatch(session) is not None
        if is_id and path.is_dir() and not path.is_symlink():
            raise build_storage_error(
                path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            )
        if not is_id or path.is_symlink() or not path.is_file():
            if self.bin.find_files(session):
                raise _in_bin(session)
            raise _build_missing(session)
        return path

    def _load(self, path: Path) -> LoadedLog:
        """Load a chat's file, and cache the log of the chat that was loaded last.

        The cached log is returned until the size or modification time of its file changes.
        """
        with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
            stat = os.fstat(file.fileno())
            key = (_read_id(path), stat.st_size, stat.st_mtime_ns)
            with self._lock:
                if self._newest is not None and self._newest[0] == key:
                    return self._newest[1]
            log = load_log(_read_id(path), file.read())
        for problem in log.problems:
            _log.warning("Chat %s: %s", log.header.id, problem)
        with self._lock:
            self._newest = (key, log)
        return log

    def _remember(self, log: LoadedLog, stat: os.stat_result) -> None:
        """Cache a chat's log after a write, with the status of its file to detect later changes.

        From the first write on, the file says what the chat is, also when it is gone.
        """
        self._unwritten_logs.pop(log.header.id, None)
        with self._lock:
            self._newest = ((log.header.id, stat.st_size, stat.st_mtime_ns), log)

    def _rescue_partial(self, session: str) -> None:
        """Append the partial answer of a killed process to its chat.

        A chat that cannot be written to now stays unchanged, because its answer may still be
        arriving.
        """
        with self._rescue, suppress(AppError):
            if self._state.partial(session) is not None:
                self.open(session).close()

    def _append_partial(self, chat: Session) -> None:
        """Append the partial answer in `state.db` to a locked chat, unless the log contains it."""
        try:
            if (kept := self._state.partial(chat.id)) is None:
                return
            entry = parse_entry(kept)
            is_stored = any(stored.id == entry.id for stored in chat.log.entries)
            if isinstance(entry, MessageEntry) and not is_stored:
                chat.append([entry])
            self._state.forget_partial(chat.id)
        except (AppError, MalformedEntry) as error:
            _log.warning("A partial answer of the chat %s is not restored: %s", chat.id, error)

    def _infos(self, files: Iterable[Path]) -> Iterator[SessionInfo]:
        for path in files:
            is_chat = path.suffix == ".jsonl" and _ID.fullmatch(path.stem)
            if is_chat and (info := self._describe(path)) is not None:
                yield info

    def _describe(self, path: Path) -> SessionInfo | None:
        """Return the list entry of a chat's file, or None if the file is gone or no chat."""
        try:
            return self._info(path)
        except OSError as error:  # deleted meanwhile, or not a chat
            _log.warning("The chat %s cannot be read: %s", path.stem, error)
            is_there = (path.is_file() or path.is_dir()) and not path.is_symlink()
            return describe_unreadable(_read_id(path), path, error) if is_there else None
        except Exception as error:  # noqa: BLE001 - one bad chat never breaks the list
            _log.warning("The chat %s cannot be read: %s", path.stem, error)
            return describe_unreadable(_read_id(path), path, error)

    def _info(self, path: Path) -> SessionInfo:
        stat, session = path.lstat(), _read_id(path)
        try:
            kept = self._state.find_chat_info(session, stat.st_size, stat.st_mtime_ns)
            if kept is not None and (info := read_kept_info(kept)) is not None:
                return info
            info = summarise_log(self._load(path))
            self._state.save_chat_info(session, stat.st_size, stat.st_mtime_ns, info.to_dict())
        except StorageFailed as error:
            _log.warning("The list of chats is made without its database: %s", error)
            return summarise_log(self._load(path))
        return info


def _follow_folders(info: SessionInfo, follow: Callable[[str], str]) -> SessionInfo:
    """Return a list entry with the present paths of the chat's vault and project."""
    vault, project = info.vault, info.project
    vault = vault and follow(vault)
    project = follow(project) if project and os.path.isabs(project) else project
    same = (vault, project) == (info.vault, info.project)
    return info if same else replace(info, vault=vault, project=project)


def _build_missing(session: str) -> SessionMissing:
    return SessionMissing(
        f"There is no chat {session}.",
        hint=Fix("{} shows those that there are.", Command("sessions list")),
    )


def _in_bin(session: str) -> SessionMissing:
    back = Fix("{} brings it back.", Command("sessions restore", (session,)))
    return SessionMissing(f"The chat {session} is in the bin.", hint=back)


def _read_id(path: Path) -> str:
    """Return the id of the chat in a file, whose name in the bin has more parts."""
    return path.name.partition(".")[0]


def _read_change_time(path: Path) -> int:
    """Return when a file was last changed, in nanoseconds; 0 if it cannot be read."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _require_known(log: LoadedLog) -> None:
    """Raise `InvalidRequest` unless the lines of a log can be added to another one."""
    if log.why_read_only is not None:
        raise InvalidRequest(log.why_read_only)


def _swap(handle: int, other: int) -> int:
    """Close a descriptor, and return the one of the file that replaced its file."""
    os.close(handle)
    return other


def _keep_unreadable(path: Path, own: LoadedLog, other: LoadedLog, content: bytes) -> None:
    """Keep what cannot be read of another version of a chat, beside the chat's file."""
    keep_torn(
        path, [line for line in (*other.unreadable, other.torn) if line not in own.unreadable]
    )
    if other.is_outdated and other.problems:
        keep_original(path, content)  # its entries are converted, without those that are damaged


def _check_writable(log: LoadedLog) -> None:
    if log.why_read_only is not None:
        copy = Command("sessions fork", (log.header.id,))
        raise InvalidRequest(
            log.why_read_only, hint=Fix("Continue a copy of it: {} makes one.", copy)
        )
