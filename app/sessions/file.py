"""Read, repair and migrate a chat's file, and find the copies of it that sync programs made.

Reading never changes the file: invalid lines are skipped and reported, and broken references are
repaired in memory by `context.log.parse`. When the file is opened for writing, a truncated last
line is moved to a separate file.
"""

import gc
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final

from app.errors import SessionBusy
from chains.request.project import MOVED
from context.layers import MOST_LEVELS, is_nested_too_deep
from context.log.entries import (
    Entry,
    EphemeralEntry,
    LeafEntry,
    OtherEntry,
    UsageEntry,
    is_path_entry,
)
from context.log.parse import SessionHeader, make_log_lines, read_log
from context.log.tree import EntryTree
from resources.system.calls import lock_file, shorten_file, sync_file, sync_folder
from resources.system.files import (
    append_synced,
    open_file,
    replace_synced,
    write_all,
    write_atomically,
)

_log = logging.getLogger(__name__)

# What is read for NaN and infinity, which JSON does not have.
_NO_NUMBER: Final = None
# A line with so few bytes has at most half as many levels, which Python can copy.
_SHORT_LINE: Final = 400
_SUFFIX: Final = ".jsonl"
# What sync programs put behind the id of a chat in the names of their copies, such as
# `5ed00001.sync-conflict-20261127-184500-ABC.jsonl`, `5ed00001 (host's conflicted copy).jsonl`,
# `5ed00001-HOST.jsonl` and `5ed00001 2.jsonl`. The words behind it depend on the language.
_BEHIND_ID: Final = frozenset(" .-_([~,")
_MOST_HEADER_BYTES: Final = 100_000
_DECODER: Final = json.JSONDecoder(parse_constant=lambda _name: _NO_NUMBER)


@dataclass(frozen=True)
class LoadedLog:
    """The content of a chat's file.

    Attributes:
        header: the first line: chat id, creation time, vault and project.
        entries: the log entries, in file order.
        whole_bytes: the length of the file in bytes, without a truncated last line.
        torn: the last line if it is truncated, otherwise empty bytes.
        lacks_newline: whether the last line is complete except for its line break.
        problems: one sentence for each line that was skipped or repaired.
        why_read_only: why entries cannot be appended, or None.
        is_outdated: whether the file must be rewritten before anything is appended.
        has_header: whether the first line can be read. Otherwise `header` names no vault.
        unreadable: the complete lines that are no JSON objects.
    """

    header: SessionHeader
    entries: tuple[Entry, ...] = ()
    whole_bytes: int = 0
    torn: bytes = b""
    lacks_newline: bool = False
    problems: tuple[str, ...] = ()
    why_read_only: str | None = None
    is_outdated: bool = False
    has_header: bool = True
    unreadable: tuple[bytes, ...] = ()

    @cached_property
    def index(self) -> "LogIndex":
        """The index of the log: its tree, and entries by type."""
        return LogIndex.build(self.entries)

    @property
    def leaf(self) -> str | None:
        """The id of the last entry of the active path, or None if there is none."""
        return self.index.path[-1].id if self.index.path else None

    @property
    def project(self) -> str | None:
        """The chat's project: the one to which it was moved last, or the one in which it began."""
        return self.list_projects()[-1]

    def list_projects(self) -> tuple[str | None, ...]:
        """Return the project in which the chat began, and those to which it was moved, in order."""
        moves = (entry.data for entry in self.index.others)
        names = (data.get("content") for data in moves if data.get("customType") == MOVED)
        found = (name if isinstance(name, str) and name else None for name in names)
        return (self.header.project, *found)

    def with_entries(self, more: Iterable[Entry]) -> "LoadedLog":
        """Return a copy of the log with new entries.

        If the log already has an index, the index is extended too.
        """
        more = tuple(more)
        entries = self.entries + more
        log = replace(self, entries=entries, torn=b"", lacks_newline=False, is_outdated=False)
        if "index" in vars(self):
            vars(log)["index"] = self.index.with_entries(more)
        return log


@dataclass(frozen=True)
class LogIndex:
    """The index of a chat's log: its tree, active path, and entries by type.

    Attributes:
        tree: the tree of all entries.
        path: the active path, from the root to the active leaf.
        ids: all ids in use. The set is shared with extended copies of the log, so it may contain
            the ids of later entries.
        usage: the reported token usage, oldest first.
        others: the entries of custom or unknown types, oldest first.
        ephemerals: the records of messages that were added to a single request, oldest first.
    """

    tree: EntryTree
    path: tuple[Entry, ...]
    ids: set[str]
    usage: tuple[UsageEntry, ...]
    others: tuple[OtherEntry, ...]
    ephemerals: tuple[EphemeralEntry, ...]

    @classmethod
    def build(cls, entries: Sequence[Entry]) -> "LogIndex":
        """Build an index of all entries in a log."""
        tree = EntryTree(entries)
        ids = {entry.id for entry in entries}
        return cls(tree, tree.path(), ids, *_list_by_type(entries))

    def with_entries(self, more: Sequence[Entry]) -> "LogIndex":
        """Return an index that also contains new entries."""
        tree = self.tree.with_entries(more)
        path = extend_path(self.path, more)
        self.ids.update(entry.id for entry in more)
        usage, others, ephemerals = _list_by_type(more)
        return LogIndex(
            tree,
            tree.path() if path is None else path,
            self.ids,
            self.usage + usage,
            self.others + others,
            self.ephemerals + ephemerals,
        )


def _list_by_type(
    entries: Sequence[Entry],
) -> tuple[tuple[UsageEntry, ...], tuple[OtherEntry, ...], tuple[EphemeralEntry, ...]]:
    """Return the entries of the types that a chat is asked for without its tree."""
    return (
        tuple(entry for entry in entries if isinstance(entry, UsageEntry)),
        tuple(entry for entry in entries if isinstance(entry, OtherEntry)),
        tuple(entry for entry in entries if isinstance(entry, EphemeralEntry)),
    )


def extend_path(path: tuple[Entry, ...], more: Sequence[Entry]) -> tuple[Entry, ...] | None:
    """Extend a path with new entries, or return None if they belong to another branch."""
    for entry in more:
        if isinstance(entry, LeafEntry):
            return None
        if is_path_entry(entry):
            if entry.parent_id != (path[-1].id if path else None):
                return None
            path = (*path, entry)
    return path


def encode_line(value: Mapping[str, Any]) -> bytes:
    """Encode a JSON object as one line of a log, without ASCII escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate cannot be encoded in UTF-8; JSON keeps it as an escape.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def load_log(session: str, content: bytes) -> LoadedLog:
    """Parse a chat's file.

    Args:
        session: the chat id, which is the name of the file.
        content: the content of the file.
    """
    with _pause_garbage_collection():
        return _read_log(session, content)


def read_lines(content: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of a chat's file, without lines that cannot be read."""
    return [value for value in _decode_lines(content) if value is not None]


def list_lines(log: LoadedLog, content: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of a chat's file in the current version, with the header first.

    Args:
        log: the parsed content.
        content: the content of the file.
    """
    if log.is_outdated:
        return [dict(line) for line in make_log_lines(log.header, log.entries)]
    return read_lines(content)


def open_locked(path: Path) -> int:
    """Open and lock a chat's file for appending, and return its descriptor.

    Raises:
        SessionBusy: the chat is being written to, by this or another process.
        OSError: the file cannot be opened.
    """
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
        lock_file(handle)
    except BlockingIOError as error:
        raise SessionBusy(
            f"The chat {session} is in use by another Strata.",
            hint="Wait until its answer is finished, or stop it there.",
        ) from error


def mend_end(handle: int, path: Path, log: LoadedLog) -> int:
    """Repair the end of a chat's file before writing to it, and return its locked descriptor.

    A truncated last line is moved to `<id>.jsonl.torn`, and a missing line break is added. Then all
    lines and the name are flushed, since a killed process may not have done so. If that fails for
    the lines, no later flush writes them, so the file is replaced.

    Args:
        handle: the locked descriptor, opened for appending.
        path: the path of the file.
        log: the content of the file.

    Raises:
        OSError: the file could not be written. The descriptor is open.
    """
    if log.lacks_newline:
        write_all(handle, b"\n")
    if log.torn:
        keep_torn(path, [log.torn])
        shorten_file(handle, log.whole_bytes)
    try:
        sync_file(handle)
    except OSError:
        new = replace_synced(path, _read_file(path))
        os.close(handle)
        return new
    sync_folder(path.parent)
    return handle


def keep_torn(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines that cannot be read to the file `<id>.jsonl.torn` of a chat, each one once.

    Args:
        path: the file of the chat.
        lines: the lines, without line breaks. Empty ones are left out.
    """
    aside = path.with_name(f"{path.name}.torn")
    known = set(_read_file(aside).split(b"\n")) if aside.exists() else set()
    missing = [line for line in dict.fromkeys(lines) if line and line not in known]
    if missing:
        append_synced(aside, b"\n".join(missing) + b"\n")
        _log.warning("Lines of chat %s that cannot be read are kept in %s", path.stem, aside)


def add_header(path: Path, header: SessionHeader) -> int:
    """Put a header before the lines of a chat's file, and return its locked descriptor.

    Args:
        path: the file, which the caller has locked.

    Raises:
        OSError: the file could not be rewritten. It is unchanged.
    """
    return replace_synced(path, encode_line(header.to_dict()) + _read_file(path))


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector within a `with` block.

    Loading a long chat creates a million objects that stay alive, and repeated garbage collections
    took a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_log(session: str, content: bytes) -> LoadedLog:
    values, rest = _decode_lines(content), b""
    lacks_newline = values[-1] is not None
    if not lacks_newline:
        rest = content[content.rfind(b"\n") + 1 :]
        values.pop()
    problems = [
        f"Line {number} cannot be read and is skipped."
        for number, value in enumerate(values, start=1)
        if value is None
    ]
    unreadable: tuple[bytes, ...] = ()
    if None in values:
        lines = zip(values, content.split(b"\n"), strict=False)
        unreadable = tuple(line for value, line in lines if value is None and line.strip())
    log = read_log(value for value in values if value is not None)
    if log.header is None:
        problems.append("The first line, which says what chat this is, cannot be read.")
    return LoadedLog(
        header=_header(session, log.header, log.entries),
        entries=log.entries,
        whole_bytes=len(content) - len(rest),
        torn=rest,
        lacks_newline=lacks_newline,
        problems=(*problems, *(repair.text for repair in log.repairs)),
        why_read_only=log.why_read_only,
        is_outdated=log.is_outdated,
        has_header=log.header is not None,
        unreadable=unreadable,
    )


def _decode_lines(content: bytes) -> list[dict[str, Any] | None]:
    """Return the JSON object in each line of a file, or None for invalid lines.

    The whole file is decoded from UTF-8 at once, which is twice as fast as line by line. The lines
    are decoded one by one only if this fails.
    """
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return [_decode_bytes(line) for line in content.split(b"\n")]
    return [_decode_text(line) for line in lines]


def _decode_text(line: str) -> dict[str, Any] | None:
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        end = -1
    if end != len(line):  # perhaps only white space or a byte order mark beside the JSON
        return _decode_bytes(line.encode())
    if not isinstance(value, dict):
        return None
    has_few_levels = end <= _SHORT_LINE or line.count("[") + line.count("{") <= MOST_LEVELS
    return value if has_few_levels or not is_nested_too_deep(value) else None


def _decode_bytes(line: bytes) -> dict[str, Any] | None:
    """Decode a line, or return None if it is no JSON object.

    Zeros may stand before it: a file system shows them for a line that was never written. They
    take the place of its line break, too.
    """
    try:
        value = json.loads(line.lstrip(b"\0"), parse_constant=lambda _name: _NO_NUMBER)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_nested_too_deep(value) else None


def _header(session: str, found: SessionHeader | None, entries: tuple[Entry, ...]) -> SessionHeader:
    if found is not None:
        return replace(found, id=session)
    timestamp = entries[0].timestamp if entries else ""
    return SessionHeader(session, timestamp, vault=None, project=None)


def migrate_file(path: Path, log: LoadedLog) -> int:
    """Rewrite a chat's file in the current version, and return its locked descriptor.

    Args:
        path: the file, which the caller has locked.
        log: the content of the file.

    Raises:
        OSError: the file could not be rewritten. It is unchanged.
    """
    lines = make_log_lines(log.header, log.entries)
    keep_original(path, _read_file(path))
    return replace_synced(path, b"".join(encode_line(line) for line in lines))


def keep_original(path: Path, content: bytes) -> None:
    """Keep an original of a chat's file as `<name>.v1`, or `<name>.v1-2` and so on.

    Args:
        path: the file of the chat.
        content: the content of the original.
    """
    names = (f"{path.name}.v1{f'-{number}' if number > 1 else ''}" for number in count(1))
    aside = next(file for file in map(path.with_name, names) if _is_free(file, content))
    if not aside.exists():
        write_atomically(aside, content)


def _is_free(file: Path, content: bytes) -> bool:
    """Return whether `content` can be copied to a file without overwriting something else.

    This is the case if the file does not exist, or already has this content because a crash
    interrupted an earlier attempt.
    """
    return not os.path.lexists(file) or (not file.is_symlink() and _read_file(file) == content)


def _read_file(file: Path) -> bytes:
    with os.fdopen(open_file(file, os.O_RDONLY), "rb") as opened:
        return opened.read()


@dataclass(frozen=True)
class ChatCopy:
    """A copy of a chat that a sync program made because two machines wrote to the chat.

    Attributes:
        session: the id of the chat.
        path: the file of the copy.
    """

    session: str
    path: Path


def find_copies(files: Iterable[Path]) -> Iterator[ChatCopy]:
    """Yield the copies of chats among files, in the order of their names.

    The name of a copy begins with the id that the first line of the file has. A fork has an id of
    its own, so it is no copy.
    """
    for path in sorted(files):
        name = path.name.removesuffix(_SUFFIX)
        if path.suffix == _SUFFIX and _BEHIND_ID & set(name):
            session = _read_id(path)
            rest = name[len(session) :]
            if session and name.startswith(session) and rest[:1] in _BEHIND_ID and rest:
                yield ChatCopy(session, path)


def _read_id(path: Path) -> str:
    """Return the id in the first line of a chat's file, or an empty string."""
    try:
        with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
            header = json.loads(file.readline(_MOST_HEADER_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    is_header = isinstance(header, dict) and header.get("type") == "session"
    found = header.get("id") if is_header else ""
    return found if isinstance(found, str) else ""
