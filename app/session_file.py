"""A chat's log as bytes: reading what a crash, a bad disk or an editor may have left.

Reading never changes the file. What cannot be read is skipped and reported; broken references are
mended in what is handed on, the same way at each reading.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from context.entries import Entry, SessionHeader, is_path_entry, parse_entry
from context.errors import MalformedEntry

_REFERENCES = ("parentId", "upToEntryId", "target", "fromId")


@dataclass(frozen=True)
class LoadedLog:
    """What a chat's file holds.

    Attributes:
        whole_bytes: how much of the file is entries.
        torn: what stands behind them, from a write that was cut off.
        is_unended: the last entry is whole, but its line end is missing.
        problems: what was skipped or mended, one sentence each.
    """

    header: SessionHeader
    entries: tuple[Entry, ...] = ()
    whole_bytes: int = 0
    torn: bytes = b""
    is_unended: bool = False
    problems: tuple[str, ...] = ()

    def with_entries(self, more: Iterable[Entry]) -> "LoadedLog":
        """Return the log after a write."""
        return replace(self, entries=self.entries + tuple(more), torn=b"", is_unended=False)


def encode_line(value: Mapping[str, Any]) -> bytes:
    """Return one line of a log: readable text, whatever characters it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair has no UTF-8; as an escape it is JSON and comes back as it was.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def load_log(session: str, content: bytes) -> LoadedLog:
    """Read a log; `session` is the id that the file's name says."""
    *lines, rest = content.split(b"\n")
    is_unended = _object(rest) is not None
    if is_unended:
        lines, rest = [*lines, rest], b""
    problems: list[str] = []
    header: SessionHeader | None = None
    objects: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        value = _object(line)
        if value is None:
            problems.append(f"Line {number} cannot be read and is skipped.")
        elif value.get("type") == "session":
            header = header or _header(session, value)
        else:
            objects.append(value)
    if header is None:
        problems.append("The first line, which says what chat this is, cannot be read.")
        header = SessionHeader(session, _first_time(objects), vault=None, project=None)
    return LoadedLog(
        header=header,
        entries=tuple(_entries(objects, problems)),
        whole_bytes=len(content) - len(rest),
        torn=rest,
        is_unended=is_unended,
        problems=tuple(problems),
    )


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _header(session: str, value: Mapping[str, Any]) -> SessionHeader | None:
    try:
        return SessionHeader.from_dict({**value, "id": session})
    except MalformedEntry:
        return None


def _first_time(objects: Iterable[Mapping[str, Any]]) -> str:
    return next((str(value["timestamp"]) for value in objects if "timestamp" in value), "")


def _entries(objects: Iterable[dict[str, Any]], problems: list[str]) -> Iterable[Entry]:
    """Mend ids and references, in the order of the file, and read what then is an entry."""
    present_id: dict[str, str] = {}  # what a reference to an id means from here on
    known: set[str | None] = {None}
    above: str | None = None
    for place, value in enumerate(objects):
        name = f"The {value.get('type', 'nameless')} entry {value.get('id')}"
        given = value.get("id")
        mended = dict(value)
        for reference in _REFERENCES:
            if isinstance(target := value.get(reference), str):
                mended[reference] = present_id.get(target, target)
        if "parentId" not in value or mended["parentId"] not in known:
            problems.append(f"{name} follows one that is missing; it is read after the one above.")
            mended["parentId"] = above
        if not isinstance(given, str) or not given or given in present_id:
            problems.append(f"{name} has no id of its own and was given one.")
            mended["id"] = _new_id(place, value)
        try:
            entry = parse_entry(mended)
        except MalformedEntry as error:
            problems.append(f"{name} cannot be read and is skipped: {error}")
            continue
        present_id[str(given)] = entry.id
        known.add(entry.id)
        if is_path_entry(entry):
            above = entry.id
        yield entry


def _new_id(place: int, value: Mapping[str, Any]) -> str:
    """Make up an id that is the same at every reading."""
    return hashlib.sha256(b"%d" % place + encode_line(value)).hexdigest()[:8]
