"""The chats on disk: one append-only file each, one writer at a time."""

import logging
import os
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from app.durable import lock, open_file
from app.errors import InvalidRequest, SessionBusy, SessionMissing, StorageFailed, storage_errors
from app.sessions.file import LoadedLog, load_log, mend_end
from app.sessions.session import Session, now, timestamp, turn_ids
from app.state_db import StateDB
from context.log.entries import Entry, MessageEntry
from context.log.parse import SessionHeader

_log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TITLE_CHARS = 80


@dataclass(frozen=True)
class SessionInfo:
    """What a list shows of a chat.

    Attributes:
        title: the first question, on one line; where none is on the active path, of the log.
        created: ISO 8601, UTC, as is `updated`.
        turns: questions on the active path.
    """

    session: str
    title: str
    created: str
    updated: str
    vault: str | None
    project: str | None
    turns: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


class SessionStore:
    """Makes, opens and lists chats; safe to use from several threads."""

    def __init__(self, folder: Path, state: StateDB) -> None:
        self._folder = folder
        self._state = state
        self._lock = threading.Lock()
        self._newest: tuple[tuple[str, int, int], LoadedLog] | None = None
        self._begun: dict[str, LoadedLog] = {}

    def create(
        self, vault: str | None, project: str | None = None, branched_from: str | None = None
    ) -> Session:
        """Begin a chat; its file is made with its first entries.

        Args:
            vault: the folder of notes that it is about.
            project: the project that it belongs to.
            branched_from: the chat that it continues in its own way.
        """
        return self._new(self._first_log(vault, project, branched_from))

    def begin(self, vault: str | None, project: str | None = None) -> str:
        """Begin a chat, and return its id; until its first entries it is known here alone.

        Args:
            vault: the folder of notes that it is about.
            project: the project that it belongs to.
        """
        log = self._first_log(vault, project)
        self._begun[log.header.id] = log
        return log.header.id

    def open(self, session: str) -> Session:
        """Open a chat for writing; what a crash cut off is set aside as `<id>.jsonl.torn`.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: another process, or another part of this one, is writing to it.
            InvalidRequest: it is of a version that this program cannot write.
            StorageFailed: it cannot be read or written.
        """
        if (begun := self._unwritten(session)) is not None:
            return self._new(begun)
        path = self._find_file(session)
        with storage_errors(path):
            handle = _open_locked(path)
            try:
                log = self._load(path)
                _check_writable(log)
                if not log.is_outdated:
                    mend_end(handle, path, log)
            except BaseException:
                os.close(handle)
                raise
        return Session(path, log, self._state, handle, remember=self._remember)

    def read(self, session: str) -> Session:
        """Return a chat as its file stands, to be read only; it may be in use elsewhere.

        Raises:
            SessionMissing: there is no such chat.
            StorageFailed: it cannot be read.
        """
        if (begun := self._unwritten(session)) is not None:
            return self._new(begun)
        path = self._find_file(session)
        with storage_errors(path):
            return Session(path, self._load(path), self._state, handle=None)

    def list(self) -> list[SessionInfo]:
        """Return the chats that hold a question, the one used last first.

        Raises:
            StorageFailed: the folder of the chats cannot be read.
        """
        with storage_errors(self._folder):
            files = list(self._folder.iterdir()) if self._folder.exists() else []
        found = [info for info in self._infos(files) if info.turns or info.title]
        return sorted(found, key=lambda info: (info.updated, info.session), reverse=True)

    def info(self, session: str) -> SessionInfo:
        """Return what a list shows of one chat.

        Raises:
            SessionMissing: there is no such chat.
            StorageFailed: it cannot be read.
        """
        if (begun := self._unwritten(session)) is not None:
            return _summary(begun)
        path = self._find_file(session)
        with storage_errors(path):
            return self._info(path)

    def newest(self) -> str | None:
        """Return the chat that was used last; None where there is none."""
        return next((info.session for info in self.list()), None)

    def file(self, session: str) -> Path:
        """Return where a chat lies, or would lie."""
        return self._folder / f"{session}.jsonl"

    def take_warning(self) -> str:
        """Return, once, that the database beside the chats was damaged; empty where it was not."""
        return self._state.take_warning()

    def close(self) -> None:
        """Close the database beside the chats; it is opened again when it is needed."""
        self._state.close()

    def _first_log(
        self, vault: str | None, project: str | None, branched_from: str | None = None
    ) -> LoadedLog:
        while self.file(session := secrets.token_hex(4)).exists() or session in self._begun:
            pass
        return LoadedLog(SessionHeader(session, now(), vault, project, branched_from=branched_from))

    def _new(self, log: LoadedLog) -> Session:
        path, remember = self.file(log.header.id), self._remember
        return Session(path, log, self._state, handle=None, is_new=True, remember=remember)

    def _unwritten(self, session: str) -> LoadedLog | None:
        """Return a chat that was begun here and has no file yet."""
        if session in self._begun and self.file(session).exists():
            del self._begun[session]
        return self._begun.get(session)

    def _find_file(self, session: str) -> Path:
        path = self.file(session)
        if not _ID.fullmatch(session) or path.is_symlink() or not path.is_file():
            raise SessionMissing(
                f"There is no chat {session}.",
                hint="`strata sessions list` shows those that there are.",
            )
        return path

    def _load(self, path: Path) -> LoadedLog:
        """Read a file, unless it is the one read last and has not changed since."""
        with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
            stat = os.fstat(file.fileno())
            key = (path.stem, stat.st_size, stat.st_mtime_ns)
            with self._lock:
                if self._newest is not None and self._newest[0] == key:
                    return self._newest[1]
            log = load_log(path.stem, file.read())
        for problem in log.problems:
            _log.warning("Chat %s: %s", path.stem, problem)
        with self._lock:
            self._newest = (key, log)
        return log

    def _remember(self, log: LoadedLog, stat: os.stat_result) -> None:
        """Take a log as this program wrote it, so that the next turn need not read it again."""
        with self._lock:
            self._newest = ((log.header.id, stat.st_size, stat.st_mtime_ns), log)

    def _infos(self, files: Iterable[Path]) -> Iterator[SessionInfo]:
        for path in files:
            if path.suffix == ".jsonl" and _ID.fullmatch(path.stem):
                try:
                    yield self._info(path)
                except OSError as error:  # deleted meanwhile, or no chat at all
                    _log.warning("The chat %s cannot be read: %s", path.stem, error)
                    if path.is_file() and not path.is_symlink():
                        yield _unreadable(path, error)
                except Exception as error:  # noqa: BLE001 - one bad chat never breaks the list
                    _log.warning("The chat %s cannot be read: %s", path.stem, error)
                    yield _unreadable(path, error)

    def _info(self, path: Path) -> SessionInfo:
        stat = path.lstat()
        try:
            kept = self._state.chat_info(path.stem, stat.st_size, stat.st_mtime_ns)
            if kept is not None and (info := _kept_info(kept)) is not None:
                return info
            info = _summary(self._load(path))
            self._state.save_chat_info(path.stem, stat.st_size, stat.st_mtime_ns, info.to_dict())
        except StorageFailed as error:
            _log.warning("The list of chats is made without its database: %s", error)
            return _summary(self._load(path))
        return info


def _kept_info(kept: Mapping[str, Any]) -> SessionInfo | None:
    """Return what was kept for the list; None where it has not the shape that was written."""
    shown = {"session": str, "title": str, "created": str, "updated": str, "turns": int}
    places = {"vault", "project"}
    is_whole = kept.keys() == shown.keys() | places and all(
        isinstance(kept[name], kind) for name, kind in shown.items()
    )
    if not is_whole or not all(isinstance(kept[name], str | None) for name in places):
        return None
    return SessionInfo(**kept)


def one_line(text: str, max_chars: int) -> str:
    """Return a text on one line, shortened at a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > max_chars // 2 else cut).rstrip() + "…"


def _open_locked(path: Path) -> int:
    """Open a chat's file and take its lock."""
    while True:
        handle = open_file(path, os.O_RDWR | os.O_APPEND)
        try:
            _take(handle, path.stem)
            if os.path.samestat(os.fstat(handle), path.lstat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process has put a new file in its place meanwhile


def _take(handle: int, session: str) -> None:
    try:
        lock(handle)
    except BlockingIOError as error:
        raise SessionBusy(
            f"The chat {session} is in use by another Strata.",
            hint="Wait until its answer is finished, or stop it there.",
        ) from error


def _check_writable(log: LoadedLog) -> None:
    if log.why_read_only is not None:
        copy = f"`strata sessions fork {log.header.id}` makes one."
        raise InvalidRequest(log.why_read_only, hint=f"Continue a copy of it: {copy}")


def _summary(log: LoadedLog) -> SessionInfo:
    path = log.index.path
    asked = (entry.message for entry in (*path, *log.entries) if _asks(entry))
    first = next(asked, None)
    return SessionInfo(
        session=log.header.id,
        title="" if first is None else one_line(first.text, _TITLE_CHARS),
        created=log.header.timestamp,
        updated=log.entries[-1].timestamp if log.entries else log.header.timestamp,
        vault=log.header.vault,
        project=log.header.project,
        turns=len(turn_ids(path)),
    )


def _unreadable(path: Path, error: Exception) -> SessionInfo:
    """Return what a list shows of a chat whose file cannot be read."""
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    title = one_line(f"This chat cannot be read: {reason}", _TITLE_CHARS)
    try:
        when = timestamp(path.lstat().st_mtime)
    except OSError:
        when = ""
    return SessionInfo(path.stem, title, when, when, vault=None, project=None, turns=0)


def _asks(entry: Entry) -> TypeGuard[MessageEntry]:
    return isinstance(entry, MessageEntry) and entry.message.role == "user"
