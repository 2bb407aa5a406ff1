"""One chat: its log in memory, and the file that it is appended to."""

import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.durable import create_synced, write_synced
from app.errors import InvalidRequest, NotFound, SessionBusy, StorageFailed, storage_errors
from app.paths import make_private_folder
from app.sessions.file import LoadedLog, encode_line, extend_path, migrate_file
from app.state_db import Snapshot, StateDB, StoredRequest
from context.errors import UnknownEntry
from context.history.replay import replay_path
from context.log.entries import (
    Entry,
    LeafEntry,
    MessageEntry,
    OtherEntry,
    TransformEntry,
    UsageEntry,
)
from context.log.parse import SessionHeader
from context.log.tree import EntryTree
from context.tokens import TokenCounter, count_message

_log = logging.getLogger(__name__)

# Takes a log as it was written, and what the system says of its file then.
Remember = Callable[[LoadedLog, os.stat_result], None]
COMPACTION = "compaction"


class Session:
    """One chat. It is written through the handle that holds its lock, or only read.

    A new chat gets its file with its first entries, so that a question that is refused leaves none.
    """

    def __init__(
        self,
        path: Path,
        log: LoadedLog,
        state: StateDB,
        handle: int | None,
        is_new: bool = False,
        remember: Remember | None = None,
    ) -> None:
        """Open a chat whose file was read.

        Args:
            path: its file.
            log: what was read of it.
            state: the database beside the chats.
            handle: the open file that holds the lock; None where it is only read.
            is_new: whether the file is made with the first entries.
            remember: takes the log as it was written, so that it need not be read again.
        """
        self._file = path
        self._log = log
        self._state = state
        self._handle = handle
        self._is_new = is_new
        self._remember = remember
        self._has_written = False
        self._active: tuple[Entry, ...] | None = None  # where it is not that of the log
        self._is_compacted = False
        self._degraded: dict[str, None] = {}

    @property
    def id(self) -> str:
        """The chat's id, which is the name of its file."""
        return self._log.header.id

    @property
    def header(self) -> SessionHeader:
        """What the first line says: when, and over which notes."""
        return self._log.header

    @property
    def is_stored(self) -> bool:
        """Whether there is a file of it."""
        return not self._is_new

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the file was skipped or mended, one sentence each."""
        return self._log.problems

    @property
    def log(self) -> LoadedLog:
        """Everything that is in the file."""
        return self._log

    @property
    def tree(self) -> EntryTree:
        """All paths of the chat."""
        return self._log.index.tree

    def path(self) -> tuple[Entry, ...]:
        """Return the active path, from the root to the active leaf."""
        return self._log.index.path if self._active is None else self._active

    def path_to(self, entry: str) -> tuple[Entry, ...]:
        """Return the path from the root to an entry.

        Raises:
            NotFound: the chat has no such entry in its tree.
        """
        try:
            return self.tree.path(entry)
        except UnknownEntry as error:
            raise NotFound(
                f"There is no entry {entry} in the chat {self.id}.",
                hint=f"`strata sessions show {self.id}` shows those that there are.",
            ) from error

    def continue_from(self, entry: str | None) -> None:
        """Take the path to an entry for the active one, until something is added to it.

        Nothing is written by this.

        Args:
            entry: what is added next follows it; None for the beginning.

        Raises:
            NotFound: the chat has no such entry in its tree.
        """
        self._active = () if entry is None else self.path_to(entry)

    def usage(self) -> tuple[UsageEntry, ...]:
        """Return what services counted in this chat, oldest first."""
        return self._log.index.usage

    def custom(self, custom_type: str) -> tuple[OtherEntry, ...]:
        """Return the custom entries of a kind in this chat, oldest first."""
        others = self._log.index.others
        return tuple(entry for entry in others if entry.data.get("customType") == custom_type)

    def list_degraded(self) -> tuple[str, ...]:
        """Return the failures of the database beside the log, one sentence each."""
        return tuple(self._degraded)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries in one write, and return once they are on the disk.

        Raises:
            InvalidRequest: the chat was opened for reading.
            SessionBusy: somebody else has begun the same chat meanwhile.
            StorageFailed: they could not be written; the file is as it was.
        """
        lines = b"".join(encode_line(entry.to_dict()) for entry in entries)
        with storage_errors(self._file):
            if self._is_new:
                self._create(lines)
            elif self._handle is None:
                raise InvalidRequest(f"The chat {self.id} was opened for reading only.")
            else:
                self._handle = self._up_to_date(self._handle)
                write_synced(self._handle, lines)
        self._log = self._log.with_entries(entries)
        self._has_written = True
        self._active = None if self._active is None else extend_path(self._active, entries)
        self._is_compacted |= _find_last_compaction(entries) is not None

    def take_back(self, leaf: str | None) -> bool:
        """Go on from an earlier leaf; what was added behind it stays in the log beside the path.

        Returns:
            Whether the chat goes on there; not where it does so anyway, or the disk is full.
        """
        if self.tree.leaf == leaf:
            return False
        try:
            self.append([LeafEntry(self.new_id(), leaf, self.now(), leaf)])
        except StorageFailed as error:
            _log.warning("The chat %s goes on behind its last question: %s", self.id, error)
            return False
        return True

    def recall_counts(self, counter: Callable[[], TokenCounter]) -> None:
        """Let the messages of the path know what was counted of them before the last compaction.

        Args:
            counter: returns who counts; it is called only where anything is known.
        """
        try:
            snapshot = self._state.snapshot(self.id)
        except StorageFailed as error:
            _log.warning("The chat %s is counted anew: %s", self.id, error)
            self._degrade(error)
            return
        if snapshot:
            _recall_counts(self.path(), snapshot, counter())

    def keep_counts(self, counter: Callable[[], TokenCounter]) -> None:
        """Keep what was counted before the last compaction, if one was stored by this session."""
        if not self._is_compacted or (at := _find_last_compaction(self.path())) is None:
            return
        try:
            self._state.save_snapshot(self.id, _count_messages(self.path()[:at], counter()))
        except StorageFailed as error:
            _log.warning("What was counted of the chat %s is not kept: %s", self.id, error)
            self._degrade(error)

    def new_id(self) -> str:
        """Return an entry id that is not in use, eight hexadecimal digits."""
        ids = self._log.index.ids
        while (candidate := secrets.token_hex(4)) in ids:
            pass
        ids.add(candidate)
        return candidate

    def now(self) -> str:
        """Return the time, ISO 8601, UTC."""
        return now()

    def previous_body(self) -> Mapping[str, Any] | None:
        """Return the neutral body of the newest request of this path that is kept.

        Of a turn without an answer on this path the request led to another branch.
        """
        said = (entry for entry in self.path() if isinstance(entry, MessageEntry))
        answered = {entry.turn_id for entry in said if entry.message.role == "assistant"}
        try:
            sent = answered & self._state.kept_turns(self.id)
        except StorageFailed as error:
            _log.warning("No request can be looked up: %s", error)
            self._degrade(error)
            return None
        last = next((turn for turn in reversed(turn_ids(self.path())) if turn in sent), None)
        kept = None if last is None else self.kept_request(last)
        return None if kept is None else kept.body

    def last_request(self) -> StoredRequest | None:
        """Return the last request of this path's last turn; None where it is not kept."""
        asked = turn_ids(self.path())
        return self.kept_request(asked[-1]) if asked else None

    def kept_request(self, turn: str) -> StoredRequest | None:
        """Return the last request of a turn; None where it is not kept."""
        try:
            return self._state.request(self.id, turn)
        except StorageFailed as error:
            _log.warning("No request can be looked up: %s", error)
            self._degrade(error)
            return None

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: Mapping[str, Any],
        wire: Mapping[str, Any] | None,
    ) -> None:
        """Keep what was sent; where that fails the turn goes on, since it can be built again."""
        try:
            self._state.save_request(StoredRequest(self.id, turn, request, report, body, wire))
        except StorageFailed as error:
            _log.warning("The request of turn %s is not kept: %s", turn, error)
            self._degrade(error)

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:
        """Keep how a request turned out; return whether the request itself is kept."""
        try:
            return self._state.save_report(self.id, turn, request, report)
        except StorageFailed as error:
            _log.warning("The report of turn %s is not kept: %s", turn, error)
            self._degrade(error)
            return False

    def keep_result(self, tool: str, content: str) -> str | None:
        """Keep a tool's large result, and return its reference; None where it cannot be kept."""
        try:
            return self._state.keep_result(tool, content)
        except StorageFailed as error:
            _log.warning("A result of %s stays in the chat itself: %s", tool, error)
            self._degrade(error)
            return None

    def load_result(self, ref_id: str) -> str | None:
        """Return a tool's result that was kept; None where it is not."""
        try:
            return self._state.result(ref_id)
        except StorageFailed as error:
            _log.warning("The result %s cannot be read: %s", ref_id, error)
            self._degrade(error)
            return None

    def _degrade(self, error: StorageFailed) -> None:
        """Take note that the database beside the chats fails; the chat goes on without it."""
        self._degraded[
            "The database beside the chats cannot be used, so requests are not kept for a later "
            f"look and large tool results stay in the chat: {error}"
        ] = None

    def _up_to_date(self, handle: int) -> int:
        """Return the file that is written to, brought up to the present version."""
        if not self._log.is_outdated:
            return handle
        new = migrate_file(self._file, self._log)
        os.close(handle)
        self._log = self._log.with_entries(())
        return new

    def _create(self, lines: bytes) -> None:
        make_private_folder(self._file.parent)
        try:
            self._handle = create_synced(self._file, encode_line(self.header.to_dict()) + lines)
        except FileExistsError as error:
            raise SessionBusy(f"The chat {self.id} was begun elsewhere.") from error
        self._is_new = False

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._handle is not None:
            if self._has_written and not self.problems and self._remember is not None:
                self._remember(self._log, os.fstat(self._handle))
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def turn_ids(path: Sequence[Entry]) -> tuple[str, ...]:
    """Return the turns of a path, each once, in the order in which they were asked."""
    asked = (e for e in path if isinstance(e, MessageEntry) and e.message.role == "user")
    return tuple(dict.fromkeys(entry.turn_id for entry in asked))


def now() -> str:
    """Return the time, ISO 8601, UTC, to the millisecond."""
    return timestamp(time.time())


def timestamp(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601, UTC, to the millisecond."""
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _find_last_compaction(path: Sequence[Entry]) -> int | None:
    """Return the position of the last compaction in a path; None where there is none."""
    places = [
        at
        for at, entry in enumerate(path)
        if isinstance(entry, TransformEntry) and entry.transformer_name == COMPACTION
    ]
    return places[-1] if places else None


def _count_messages(path: tuple[Entry, ...], counter: TokenCounter) -> Snapshot:
    """Return the token counts of the messages of a path, by the hash of each."""
    said = replay_path(path, counter).messages
    return {_name_counter(counter): {m.digest.hex(): count_message(m, counter) for m in said}}


def _recall_counts(path: Sequence[Entry], snapshot: Snapshot, counter: TokenCounter) -> None:
    """Restore the token counts of the messages of a path."""
    known = snapshot.get(_name_counter(counter))
    if not known:
        return
    for entry in path:
        if isinstance(entry, MessageEntry):
            tokens = known.get(entry.message.digest.hex())
            if tokens is not None:
                entry.message.token_counts.setdefault(counter, tokens)


def _name_counter(counter: TokenCounter) -> str:
    overheads = f"{counter.message_overhead}+{counter.part_overhead}"
    return f"{counter.name}, {overheads}, {'exact' if counter.is_exact else 'guessed'}"
