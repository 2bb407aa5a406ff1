"""Build the entries of the list of chats: title, times, and whether pinned or archived."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any, Final, Literal

from app.library.projects import find_project_folder
from app.sessions.file import LoadedLog
from app.sessions.session import Session, timestamp, turn_ids
from chains.request.project import MOVED
from context.json_codec import Record
from context.log.entries import Entry, OtherEntry, is_question

__all__ = [
    "ARCHIVED",
    "LAST_COUNTS",
    "PINNED",
    "TITLE",
    "ChatMark",
    "SessionInfo",
    "describe_damage",
    "describe_unreadable",
    "find_title",
    "has_title_entry",
    "is_chat_mark",
    "name_fork",
    "one_line",
    "read_kept_info",
    "summarise_log",
    "write_title",
]

_TITLE_CHARS = 80
TITLE: Final = "title"  # the custom type of entries that hold a title by the user or a model
ChatMark = Literal["pinned", "archived"]  # the custom types of entries with such a mark
PINNED: Final[ChatMark] = "pinned"
ARCHIVED: Final[ChatMark] = "archived"
_FORK: Final = re.compile(r"\AFork (?:\d+ )?of ")
# The custom types of which only the last entry counts, and whether a later question cancels it.
LAST_COUNTS: Final = {TITLE: False, PINNED: False, MOVED: False, ARCHIVED: True}


@dataclass(frozen=True)
class SessionInfo(Record):
    """A chat's entry in the list of chats.

    Attributes:
        session: the chat id.
        title: the title on one line. If neither the user nor a model has set a title, this is the
            first question on the active branch or in the log.
        created: the creation time, in ISO 8601 and UTC.
        updated: the time of the last entry, in ISO 8601 and UTC. Entries that rename, pin, archive
            or move the chat are ignored.
        vault: the folder of the chat's vault, or None.
        project: the chat's project, or None.
        turns: the number of questions on the active branch.
        pinned: whether the chat is pinned to the top of the list.
        archived: whether the chat is archived and has not been continued since.
    """

    session: str
    title: str
    created: str
    updated: str
    vault: str | None
    project: str | None
    turns: int
    pinned: bool = False
    archived: bool = False

    @property
    def project_folder(self) -> Path | None:
        """The folder of the chat's project, or None."""
        return None if self.project is None else find_project_folder(self.vault, self.project)


def read_kept_info(kept: Mapping[str, Any]) -> SessionInfo | None:
    """Return a stored list entry, or None if its fields are invalid."""
    shown = {"session": str, "title": str, "created": str, "updated": str, "turns": int}
    marks = {PINNED: bool, ARCHIVED: bool}
    places = {"vault", "project"}
    is_whole = kept.keys() == shown.keys() | marks.keys() | places and all(
        isinstance(kept[name], kind) for name, kind in (*shown.items(), *marks.items())
    )
    if not is_whole or not all(isinstance(kept[name], str | None) for name in places):
        return None
    return SessionInfo(**kept)


def one_line(text: str, max_chars: int) -> str:
    """Convert text to one line of at most `max_chars` characters, cut at the end of a word."""
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > max_chars // 2 else cut).rstrip() + "…"


def summarise_log(log: LoadedLog) -> SessionInfo:
    """Build a chat's list entry from its log."""
    path = log.index.path
    asked = (entry.message for entry in (*path, *log.entries) if is_question(entry))
    first = next(asked, None)
    title = find_title(log)[1] or ("" if first is None else first.text)
    entries = (
        entry for entry in reversed(log.entries) if not _is_custom(entry, tuple(LAST_COUNTS))
    )
    used = next(entries, log.header)
    return SessionInfo(
        session=log.header.id,
        title=one_line(title, _TITLE_CHARS),
        created=log.header.timestamp,
        updated=used.timestamp,
        vault=log.header.vault,
        project=log.project,
        turns=len(turn_ids(path)),
        pinned=_has_mark(log, PINNED),
        archived=_has_mark(log, ARCHIVED),
    )


def describe_unreadable(session: str, path: Path, error: Exception) -> SessionInfo:
    """Build a list entry for a chat whose file `path` cannot be read."""
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    if isinstance(error, IsADirectoryError):
        reason = f"{path} is a folder"
    title = one_line(f"This chat cannot be read: {reason}", _TITLE_CHARS)
    try:
        when = timestamp(path.lstat().st_mtime)
    except OSError:
        when = ""
    return SessionInfo(session, title, when, when, vault=None, project=None, turns=0)


def find_title(log: LoadedLog) -> tuple[OtherEntry | None, str]:
    """Return the log entry that set a chat's current title, and the title.

    If no entry set a title, or the last one set an empty title, return None and an empty string.
    """
    named = next(filter(_is_title, reversed(log.index.others)), None)
    title = "" if named is None else named.data.get("content")
    return (named, title) if isinstance(title, str) and title else (None, "")


def has_title_entry(log: LoadedLog) -> bool:
    """Return whether a chat has ever been given a title."""
    return any(_is_title(entry) for entry in log.index.others)


def name_fork(session: str, listed: Sequence[SessionInfo]) -> str:
    """Return the title of a new fork, which no other chat has, or "" if the chat has no title.

    The words that mark a fork come first, because a narrow list elides the end of a title.

    Args:
        session: the id of the chat that is forked.
        listed: all chats.
    """
    titles = {info.session: info.title for info in listed}
    name = _FORK.sub("", titles.get(session, ""))
    numbered = (f"Fork {number} of {name}" for number in count(2))
    names = (one_line(title, _TITLE_CHARS) for title in chain([f"Fork of {name}"], numbered))
    return next(title for title in names if title not in titles.values()) if name else ""


def write_title(chat: Session, title: str) -> None:
    """Append an entry that sets a chat's title. An empty title restores the first question."""
    path = chat.path()
    parent = path[-1].id if path else None
    data = {"type": "custom", "customType": TITLE, "content": " ".join(title.split())}
    chat.append([OtherEntry(chat.new_id(), parent, chat.now(), "custom", data)])


def is_chat_mark(entry: Entry) -> bool:
    """Return whether an entry pins, unpins, archives or unarchives its chat."""
    return _is_custom(entry, (PINNED, ARCHIVED))


def _is_title(entry: Entry) -> bool:
    return _is_custom(entry, (TITLE,))


def _is_custom(entry: Entry, types: Sequence[str]) -> bool:
    return isinstance(entry, OtherEntry) and entry.data.get("customType") in types


def _has_mark(log: LoadedLog, mark: ChatMark) -> bool:
    """Return whether a chat is pinned or archived, according to the last log entry about it.

    A chat is no longer archived if a question was asked in it later.

    Args:
        log: the chat's log.
        mark: the mark to look for, pinned or archived.
    """
    for entry in reversed(log.entries):
        if mark == ARCHIVED and is_question(entry):
            return False
        if isinstance(entry, OtherEntry) and entry.data.get("customType") == mark:
            return entry.data.get("content") is True
    return False


def describe_damage(chat: Session) -> str:
    """Return a warning with the first problem of a damaged chat."""
    first, *others = chat.problems
    more = f" `strata sessions show {chat.id}` lists {len(others):,} more." if others else ""
    return f"The file of the chat {chat.id} is damaged: {first}{more}"
