"""A chat: its log in memory, and the file that entries are appended to."""

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from app.errors import InvalidRequest, NotFound, SessionBusy, StorageFailed, storage_errors
from app.request_images import StoredRequest
from app.requests.keep import start_keeping
from app.requests.store import SentStore
from app.secret_text import redact
from app.sessions.file import LoadedLog, encode_line, extend_path, migrate_file
from app.state_db import Snapshot, StateDB
from context.assemble.request import Request
from context.errors import UnknownEntry
from context.fixes import Command, Fix
from context.history.replay import replay_path
from context.log.entries import (
    Entry,
    EphemeralEntry,
    LeafEntry,
    MessageEntry,
    OtherEntry,
    TransformEntry,
    UsageEntry,
)
from context.log.parse import SessionHeader
from context.log.tree import EntryTree
from context.tokens import TokenCounter, count_message
from resources.system.files import create_synced, make_private_folder, write_synced

_log = logging.getLogger(__name__)

# Receives a log after a write, with the size and time of its file.
Remember = Callable[[LoadedLog, os.stat_result], None]
Claim = Callable[[str], None]  # raises an error if a new chat must not have this id
COMPACTION = "compaction"
_NOT_LOOKED_UP: Final = "No request can be looked up"
_T = TypeVar("_T")


class Session:
    """A chat that is open for reading only, or for writing to its locked file.

    The file of a new chat is created when its first entries are written, so that a rejected
    question leaves no file.

    Attributes:
        log: the content of the chat's file.
    """

    def __init__(
        self,
        path: Path,
        log: LoadedLog,
        state: StateDB,
        sent: SentStore,
        handle: int | None,
        claim: Claim | None = None,
        remember: Remember | None = None,
    ) -> None:
        """Open a chat whose file has been read.

        Args:
            path: the file of the chat.
            log: the content of the file.
            state: the database `state.db`.
            sent: the requests that were sent.
            handle: the locked file descriptor, or None for reading only or for a new chat.
            claim: called before the file of a new chat is created, when its first entries are
                written; None if the file exists.
            remember: called after each write, to cache the log.
        """
        self._file = path
        self.log = log
        self._state = state
        self._sent = sent
        self._handle = handle
        self._claim = claim
        self._remember = remember
        self._has_written = False
        self._active: tuple[Entry, ...] | None = None  # None means the active path of the log
        self._is_compacted = False
        self._degraded: dict[str, None] = {}

    @property
    def id(self) -> str:
        """The chat id, which is also the name of its file."""
        return self.log.header.id

    @property
    def header(self) -> SessionHeader:
        """The first line of the log: creation time, vault and project."""
        return self.log.header

    @property
    def project(self) -> str | None:
        """The chat's project, or None. A chat can be moved to another project."""
        return self.log.project

    @property
    def is_stored(self) -> bool:
        """Whether the chat has been written to disk."""
        return self._claim is None

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each line of the chat's file that was skipped or repaired."""
        return self.log.problems

    @property
    def tree(self) -> EntryTree:
        """The tree of all log entries."""
        return self.log.index.tree

    def path(self) -> tuple[Entry, ...]:
        """Return the log entries of the active path, from the root to the active leaf."""
        return self.log.index.path if self._active is None else self._active

    def list_path_to(self, entry: str) -> tuple[Entry, ...]:
        """Return the log entries from the root of the tree to an entry.

        The path of an entry outside of the tree, such as a usage entry, ends with the entry's
        parent.

        Raises:
            NotFound: the log has no such entry.
        """
        try:
            return self.tree.path(self.tree.find_place(entry))
        except UnknownEntry as error:
            raise NotFound(
                f"There is no entry {entry} in the chat {self.id}.",
                hint=Fix("{} shows those that there are.", Command("sessions show", (self.id,))),
            ) from error

    def continue_from(self, entry: str | None) -> None:
        """Change the active path in memory, so that the next append continues from an entry.

        Args:
            entry: the parent of the next entry, or None for the beginning of the chat.

        Raises:
            NotFound: the log has no such entry.
        """
        self._active = () if entry is None else self.list_path_to(entry)

    def usage(self) -> tuple[UsageEntry, ...]:
        """Return the token usage reported for this chat, oldest first."""
        return self.log.index.usage

    def list_ephemerals(self) -> tuple[EphemeralEntry, ...]:
        """Return the records of messages that hooks added to single requests, oldest first."""
        return self.log.index.ephemerals

    def custom(self, custom_type: str) -> tuple[OtherEntry, ...]:
        """Return this chat's log entries of one custom type, oldest first."""
        others = self.log.index.others
        return tuple(entry for entry in others if entry.data.get("customType") == custom_type)

    def list_degraded(self) -> tuple[str, ...]:
        """Return one sentence for each kind of failure of `state.db`."""
        return tuple(self._degraded)

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries to the log in one write, and flush them to disk.

        Raises:
            InvalidRequest: the chat was opened for reading only.
            SessionBusy: another process has created the same chat.
            SessionMissing: another process has moved the same chat to the bin.
            StorageFailed: the entries could not be written. The file is unchanged.
        """
        entries = [_redact_reason(entry) for entry in entries]
        lines = b"".join(encode_line(entry.to_dict()) for entry in entries)
        with storage_errors(self._file):
            if self._claim is not None:
                self._create(lines, self._claim)
            elif self._handle is None:
                raise InvalidRequest(f"The chat {self.id} was opened for reading only.")
            else:
                self._handle = self._migrate_if_outdated(self._handle)
                write_synced(self._handle, lines)
        self.log = self.log.with_entries(entries)
        self._has_written = True
        self._active = None if self._active is None else extend_path(self._active, entries)
        self._is_compacted |= _find_last_compaction(entries) is not None

    def take_back(self, leaf: str | None) -> bool:
        """Make an earlier entry the end of the active branch again. Later entries stay in the log.

        `leaf` is the id of the entry, or None for the beginning of the log. Return False if the
        branch already ended there, or if writing failed.
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
        """Restore the stored token counts of the active branch.

        `counter` returns the token counter. It is called only if counts are stored.
        """
        if _find_last_compaction(self.path()) is None:
            return  # only counts of the messages before a compaction are stored
        nothing: Snapshot = {}
        problem = f"The chat {self.id} is counted anew"
        if snapshot := self._use_state(lambda: self._state.snapshot(self.id), nothing, problem):
            _recall_counts(self.path(), snapshot, counter())

    def keep_counts(self, counter: Callable[[], TokenCounter]) -> None:
        """Store the token counts of the messages that the last compaction replaced.

        Counts are stored only if this object appended the compaction. For an earlier compaction,
        they are already in the database.
        """
        if not self._is_compacted or (at := _find_last_compaction(self.path())) is None:
            return
        counts = _count_messages(self.path()[:at], counter())
        problem = f"What was counted of the chat {self.id} is not kept"
        self._use_state(lambda: self._state.save_snapshot(self.id, counts), None, problem)

    def new_id(self) -> str:
        """Return an unused entry id of eight hexadecimal digits."""
        ids = self.log.index.ids
        while (candidate := secrets.token_hex(4)) in ids:
            pass
        ids.add(candidate)
        return candidate

    def now(self) -> str:
        """Return the current time, in ISO 8601 and UTC."""
        return now()

    def find_previous_body(self) -> Mapping[str, Any] | None:
        """Return the latest stored request on the active branch as provider-neutral JSON.

        Turns without an answer on this branch are skipped, since their requests belong to other
        branches.
        """
        path = self.path()
        kept_turns = partial(self._state.list_kept_turns, self.id)
        kept = self._use_state(kept_turns, frozenset[str](), _NOT_LOOKED_UP) if path else ()
        # From the end, because a preview of a long chat must not read all of it.
        answered = _list_answered(reversed(path)) if kept else iter(())
        last = next((turn for turn in answered if turn in kept), None)
        found = None if last is None else self.find_kept_request(last)
        return None if found is None else found.body

    def find_kept_request(self, turn: str) -> StoredRequest | None:
        """Return a turn's last request, or None if it is not stored."""
        return self._use_state(lambda: self._state.request(self.id, turn), None, _NOT_LOOKED_UP)

    def save_request(
        self,
        turn: str,
        request: int,
        report: dict[str, Any],
        body: Mapping[str, Any],
        wire: Mapping[str, Any] | None,
    ) -> None:
        """Store a sent request. A failure does not stop the turn, as requests can be rebuilt."""
        stored = StoredRequest(self.id, turn, request, report, body, wire)
        problem = f"The request of turn {turn} is not kept"
        self._use_state(lambda: self._state.save_request(stored), None, problem)

    def keep_sent(
        self, request: Request, wire: Mapping[str, Any] | None
    ) -> Callable[[], str | None]:
        """Store a request for as long as its answer exists, in the background.

        Args:
            wire: the JSON that was sent to the provider, or None if nothing was sent.

        Returns:
            A function that waits for the end, and returns the reference, or None on failure.
        """
        outside = (one for one in self.log.list_projects() if one and os.path.isabs(one))
        roots = (*filter(None, [self.header.vault]), *outside)
        asked = {"asked": datetime.now().astimezone().isoformat(timespec="seconds")}
        return start_keeping(self._sent, request, wire, asked, roots, self.load_result)

    def save_report(self, turn: str, request: int, report: dict[str, Any]) -> bool:
        """Replace the report of a stored request, and return whether the request exists."""
        save = partial(self._state.save_report, self.id, turn, request, report)
        return self._use_state(save, False, f"The report of turn {turn} is not kept")

    def save_partial(self, entry: MessageEntry) -> None:
        """Store the part of an answer that has arrived.

        If the process is killed, `SessionStore` later appends the stored part to the chat.
        """
        save = partial(self._state.save_partial, self.id, entry.to_dict())
        self._use_state(save, None, "The answer that is arriving is not kept")

    def forget_partial(self) -> None:
        """Remove the stored part of an answer, because the log now has the answer."""
        forget = partial(self._state.forget_partial, self.id)
        self._use_state(forget, None, "A partial answer is not removed")

    def keep_result(self, tool: str, content: str) -> str | None:
        """Store a large tool result, and return its reference, or None if it cannot be stored."""
        problem = f"A result of {tool} stays in the chat itself"
        return self._use_state(lambda: self._state.keep_result(tool, content), None, problem)

    def load_result(self, ref_id: str) -> str | None:
        """Return a stored tool result, or None if it is not stored."""
        problem = f"The result {ref_id} cannot be read"
        return self._use_state(lambda: self._state.result(ref_id), None, problem)

    def _use_state(self, use: Callable[[], _T], fallback: _T, problem: str) -> _T:
        """Call a function that uses `state.db`, or return `fallback` if the database fails.

        A failure is logged with `problem` as the start of the message. The chat continues without
        the database.
        """
        try:
            return use()
        except StorageFailed as error:
            _log.warning("%s: %s", problem, error)
            self._degraded[
                "The database beside the chats cannot be used, so requests are not kept for a "
                f"later look and large tool results stay in the chat: {error}"
            ] = None
            return fallback

    def _migrate_if_outdated(self, handle: int) -> int:
        """Migrate the file to the current version if necessary, and return its descriptor."""
        if not self.log.is_outdated:
            return handle
        new = migrate_file(self._file, self.log)
        os.close(handle)
        self.log = self.log.with_entries(())
        return new

    def _create(self, lines: bytes, claim: Claim) -> None:
        claim(self.id)
        make_private_folder(self._file.parent)
        try:
            self._handle = create_synced(self._file, encode_line(self.header.to_dict()) + lines)
        except FileExistsError as error:
            raise SessionBusy(f"The chat {self.id} was begun elsewhere.") from error
        self._claim = None

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                if self._has_written and not self.problems and self._remember is not None:
                    self._remember(self.log, os.fstat(handle))
            finally:
                os.close(handle)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _list_answered(newest_first: Iterable[Entry]) -> Iterator[str]:
    """Yield the turn ids of the questions of a branch that were answered, newest first."""
    answered = set[str]()
    for entry in (entry for entry in newest_first if isinstance(entry, MessageEntry)):
        if entry.message.role == "assistant":
            answered.add(entry.turn_id)
        elif entry.message.role == "user" and entry.turn_id in answered:
            yield entry.turn_id


def turn_ids(path: Sequence[Entry]) -> tuple[str, ...]:
    """Return the distinct turn ids of a branch, oldest first."""
    asked = (e for e in path if isinstance(e, MessageEntry) and e.message.role == "user")
    return tuple(dict.fromkeys(entry.turn_id for entry in asked))


def now() -> str:
    """Return the current time with millisecond precision, in ISO 8601 and UTC."""
    return timestamp(time.time())


def timestamp(seconds: float) -> str:
    """Convert a Unix time to ISO 8601 and UTC, with millisecond precision."""
    at = datetime.fromtimestamp(seconds, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _redact_reason(entry: Entry) -> Entry:
    """Remove API keys from an entry's error message, because services may quote them."""
    if isinstance(entry, MessageEntry) and entry.reason:
        return replace(entry, reason=redact(entry.reason))
    return entry


def _find_last_compaction(path: Sequence[Entry]) -> int | None:
    """Return the index of the last compaction in a branch, or None if there is none."""
    places = [
        at
        for at, entry in enumerate(path)
        if isinstance(entry, TransformEntry) and entry.transformer_name == COMPACTION
    ]
    return places[-1] if places else None


def _count_messages(path: tuple[Entry, ...], counter: TokenCounter) -> Snapshot:
    """Count the tokens of a branch's messages.

    Return the counts as `{name of the token counter: {hash of a message: tokens}}`.
    """
    messages = replay_path(path, counter).messages
    return {_name_counter(counter): {m.digest.hex(): count_message(m, counter) for m in messages}}


def _recall_counts(path: Sequence[Entry], snapshot: Snapshot, counter: TokenCounter) -> None:
    """Restore the token counts of a branch's messages from a snapshot of counts."""
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
