"""The chats on disk: one append-only file each, with one writer at a time."""

import logging
import os
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from app.durable import lock, open_file, sync_folder
from app.errors import InvalidRequest, SessionBusy, SessionMissing, StorageFailed, storage_errors
from app.sessions.file import LoadedLog, load_log, mend_end
from app.sessions.session import Session, now, timestamp, turn_ids
from app.state_db import StateDB
from context.log.entries import Entry, MessageEntry, OtherEntry
from context.log.parse import SessionHeader

_log = logging.getLogger(__name__)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TITLE_CHARS = 80
_RESULT = re.compile(rb"\br[0-9a-f]{20}\b")  # the reference of a tool result in `state.db`
TITLE: Final = "title"  # the custom type of entries with a title that the user gave


@dataclass(frozen=True)
class SessionInfo:
    """The list entry of a chat.

    Attributes:
        title: the title that the user gave; without one, the first question on the active path,
            or else the first in the log; on one line.
        created: ISO 8601, UTC, as is `updated`.
        turns: the number of questions on the active path.
    """

    session: str
    title: str
    created: str
    updated: str
    vault: str | None
    project: str | None
    turns: int

    def to_dict(self) -> dict[str, Any]:
        """Return the list entry as a JSON object."""
        return asdict(self)


class SessionStore:
    """Creates, opens and lists chats; safe to use from several threads."""

    def __init__(self, folder: Path, state: StateDB) -> None:
        self._folder = folder
        self._state = state
        self._lock = threading.Lock()
        self._newest: tuple[tuple[str, int, int], LoadedLog] | None = None
        self._begun: dict[str, LoadedLog] = {}

    def create(
        self, vault: str | None, project: str | None = None, branched_from: str | None = None
    ) -> Session:
        """Create a chat; its file is created with its first entries.

        Args:
            vault: the folder of notes of the chat.
            project: the project of the chat.
            branched_from: the chat that it was forked from.
        """
        return self._new(self._first_log(vault, project, branched_from))

    def begin(self, vault: str | None, project: str | None = None) -> str:
        """Create a chat in memory, and return its id; its file is created with its first entries.

        Args:
            vault: the folder of notes of the chat.
            project: the project of the chat.
        """
        log = self._first_log(vault, project)
        self._begun[log.header.id] = log
        return log.header.id

    def open(self, session: str) -> Session:
        """Open a chat for writing; a line cut off by a crash is moved to `<id>.jsonl.torn`.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: another process, or another part of this one, is writing to the chat.
            InvalidRequest: the chat has a version that this program cannot write.
            StorageFailed: the file cannot be read or written.
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
        """Return a chat for reading only; others may write to it meanwhile.

        Raises:
            SessionMissing: the chat does not exist.
            StorageFailed: the file cannot be read.
        """
        if (begun := self._unwritten(session)) is not None:
            return self._new(begun)
        path = self._find_file(session)
        with storage_errors(path):
            return Session(path, self._load(path), self._state, handle=None)

    def list(self) -> list[SessionInfo]:
        """Return the chats that have a question, the most recently used first.

        Raises:
            StorageFailed: the folder of the chats cannot be read.
        """
        with storage_errors(self._folder):
            files = list(self._folder.iterdir()) if self._folder.exists() else []
        found = [info for info in self._infos(files) if info.turns or info.title]
        return sorted(found, key=lambda info: (info.updated, info.session), reverse=True)

    def info(self, session: str) -> SessionInfo:
        """Return the list entry of a chat.

        Raises:
            SessionMissing: the chat does not exist.
            StorageFailed: the file cannot be read.
        """
        if (begun := self._unwritten(session)) is not None:
            return _summary(begun)
        path = self._find_file(session)
        with storage_errors(path):
            return self._info(path)

    def delete(self, session: str) -> None:
        """Delete a chat with its requests, and the tool results that no other chat refers to.

        Long texts that were attached to it are removed by `LongTexts.sweep`.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: another process, or another part of this one, is writing to the chat.
            StorageFailed: the file cannot be deleted.
        """
        if self._unwritten(session) is not None:
            del self._begun[session]
            return
        path = self._find_file(session)
        with storage_errors(path):
            handle = _open_locked(path)
            try:
                results = _find_results(path)
                for aside in path.parent.glob(f"{path.name}.*"):  # a cut-off line, an older version
                    aside.unlink()
                path.unlink()
                sync_folder(path.parent)
            finally:
                os.close(handle)
        with self._lock:
            if self._newest is not None and self._newest[0][0] == session:
                self._newest = None
        self._forget(session, results)

    def newest(self) -> str | None:
        """Return the most recently used chat; None if there is none."""
        return next((info.session for info in self.list()), None)

    def file(self, session: str) -> Path:
        """Return the path of a chat's file, which need not exist."""
        return self._folder / f"{session}.jsonl"

    def take_warning(self) -> str:
        """Return a warning, once, if `state.db` was damaged; empty otherwise."""
        return self._state.take_warning()

    def close(self) -> None:
        """Close `state.db`; the next use opens it again."""
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
        """Return a chat that was created here and has no file yet; None if there is none."""
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
        """Return the log of a file; an unchanged file is not read again if it was the last one."""
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
        """Keep a log after a write, so that the next turn need not read it again."""
        with self._lock:
            self._newest = ((log.header.id, stat.st_size, stat.st_mtime_ns), log)

    def _forget(self, session: str, results: set[bytes]) -> None:
        """Remove the data of a deleted chat from `state.db`; a failure is only logged."""
        try:
            for file in self._folder.glob("*.jsonl") if results else ():
                results -= _find_results(file)
            self._state.forget_chat(session, [ref.decode("ascii") for ref in results])
        except (OSError, StorageFailed) as error:
            _log.warning("Requests or results of the chat %s were not removed: %s", session, error)

    def _infos(self, files: Iterable[Path]) -> Iterator[SessionInfo]:
        for path in files:
            if path.suffix == ".jsonl" and _ID.fullmatch(path.stem):
                try:
                    yield self._info(path)
                except OSError as error:  # deleted meanwhile, or not a chat
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
    """Return a stored list entry; None if it does not have the expected fields."""
    shown = {"session": str, "title": str, "created": str, "updated": str, "turns": int}
    places = {"vault", "project"}
    is_whole = kept.keys() == shown.keys() | places and all(
        isinstance(kept[name], kind) for name, kind in shown.items()
    )
    if not is_whole or not all(isinstance(kept[name], str | None) for name in places):
        return None
    return SessionInfo(**kept)


def one_line(text: str, max_chars: int) -> str:
    """Return a text on one line; a text that is too long is cut at a word."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > max_chars // 2 else cut).rstrip() + "…"


def _open_locked(path: Path) -> int:
    """Open and lock a chat's file, and return its descriptor."""
    while True:
        handle = open_file(path, os.O_RDWR | os.O_APPEND)
        try:
            _take(handle, path.stem)
            if os.path.samestat(os.fstat(handle), path.lstat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process has replaced the file meanwhile


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


def find_title(log: LoadedLog) -> tuple[OtherEntry | None, str]:
    """Return the entry of the title that the user gave a chat, and the title; None and "" if none.

    The last title entry counts; an empty title in it removes the earlier ones.
    """
    named = next(filter(_is_title, reversed(log.index.others)), None)
    title = "" if named is None else named.data.get("content")
    return (named, title) if isinstance(title, str) and title else (None, "")


def _is_title(entry: Entry) -> bool:
    return isinstance(entry, OtherEntry) and entry.data.get("customType") == TITLE


def _find_results(file: Path) -> set[bytes]:
    """Return the references of stored tool results that occur in a chat's file."""
    with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
        return set(_RESULT.findall(opened.read()))


def _summary(log: LoadedLog) -> SessionInfo:
    path = log.index.path
    asked = (entry.message for entry in (*path, *log.entries) if _asks(entry))
    first = next(asked, None)
    title = find_title(log)[1] or ("" if first is None else first.text)
    used = next((entry for entry in reversed(log.entries) if not _is_title(entry)), log.header)
    return SessionInfo(
        session=log.header.id,
        title=one_line(title, _TITLE_CHARS),
        created=log.header.timestamp,
        updated=used.timestamp,
        vault=log.header.vault,
        project=log.header.project,
        turns=len(turn_ids(path)),
    )


def _unreadable(path: Path, error: Exception) -> SessionInfo:
    """Return the list entry of a chat whose file cannot be read."""
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    title = one_line(f"This chat cannot be read: {reason}", _TITLE_CHARS)
    try:
        when = timestamp(path.lstat().st_mtime)
    except OSError:
        when = ""
    return SessionInfo(path.stem, title, when, when, vault=None, project=None, turns=0)


def _asks(entry: Entry) -> TypeGuard[MessageEntry]:
    return isinstance(entry, MessageEntry) and entry.message.role == "user"
