"""Parse a session log, repair broken references and convert old versions.

The same log is always repaired in the same way, even if the file cannot be rewritten. Every repair
is recorded.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Self

from context.errors import MalformedEntry
from context.json_codec import Record, decode
from context.layers import ImageData
from context.log.entries import (
    PATH_TYPES,
    Entry,
    MessageEntry,
    OtherEntry,
    SegmentsEntry,
    is_unknown_schema,
    parse_entry,
)
from context.messages import compact_json, thaw

RepairKind = Literal["unreadable", "parent", "id", "duplicate"]
Line = Mapping[str, object]

FIRST_VERSION: Final = 1
LOG_VERSION: Final = 2
_REFERENCES: Final = ("parentId", "upToEntryId", "target", "fromId", "firstKeptEntryId")
_OP_REFERENCES: Final = ("entryId", "firstKeptEntryId")
COMPACTION: Final = "compaction"
MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class SessionHeader(Record):
    """The header of a session log, which is the first line of the file.

    Attributes:
        id: the id of the session.
        timestamp: the time at which the session was created, in ISO 8601 and UTC.
        vault: the folder of notes, or None.
        project: the name of the project, or None.
        version: the version of the log format.
        branched_from: the id of the session that this one was forked from, or None.
    """

    id: str
    timestamp: str
    vault: str | None
    project: str | None
    version: int = LOG_VERSION
    branched_from: str | None = None

    json_shape = (
        "version",
        "id",
        "timestamp",
        "vault",
        "project",
        "branchedFrom = branched_from unless null",
    )
    json_type = "session"
    json_error = MalformedEntry

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Build the header from its JSON object. One without a version is of the first.

        Raises:
            MalformedEntry: when a field is missing or has the wrong type.
        """
        versioned = {"version": FIRST_VERSION, **data} if isinstance(data, Mapping) else data
        return decode(cls, versioned)


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of a broken line or reference in a session log.

    Attributes:
        entry: the id of the repaired entry, or an empty string if the line was skipped.
        text: a description for the user.
    """

    kind: RepairKind
    entry: str
    text: str


@dataclass(frozen=True)
class SessionLog:
    """A parsed session log.

    Attributes:
        header: the header, or None if it cannot be read.
        entries: all entries, in the order of the file.
        repairs: the repairs that were made, in the order of the file.
        unknown: the first entry with an unknown schema version, or None. A session with such an
            entry is read-only, but it can be forked before that entry.
        is_outdated: whether the log uses version 1 or outdated entry types. The file must then be
            rewritten before an entry is appended.
    """

    header: SessionHeader | None
    entries: tuple[Entry, ...] = ()
    repairs: tuple[Repair, ...] = ()
    unknown: OtherEntry | None = None
    is_outdated: bool = False

    @property
    def why_read_only(self) -> str | None:
        """A sentence that says why the session is read-only, or None if entries can be appended."""
        if self.header is not None and self.header.version > LOG_VERSION:
            return "This chat was written by a newer version of Strata, so it is only read."
        if self.unknown is not None:
            return (
                f"{describe_unknown_schema(self.unknown)}, so this chat is only read. It can be "
                "continued as a copy that ends before that entry."
            )
        return None


def _restore_images(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries with the images of repeated segments restored.

    The log stores each image only once.
    """
    known: dict[str, ImageData] = {}
    for entry in entries:
        if not isinstance(entry, SegmentsEntry) or all(s.kind != "image" for s in entry.segments):
            yield entry
            continue
        known |= {s.id: s.image for s in entry.segments if s.image is not None}
        segments = (
            replace(s, image=s.image or known.get(s.id)) if s.version is not None else s
            for s in entry.segments
        )
        yield replace(entry, segments=tuple(segments))


def read_log(lines: Iterable[Line]) -> SessionLog:
    """Parse the JSON objects of a session log, one for each line of the file."""
    header: SessionHeader | None = None
    objects: list[Line] = []
    for line in lines:
        if line.get("type") != "session":
            objects.append(line)
        elif header is None:
            header = _read_header(line)
    is_first = header is not None and header.version <= FIRST_VERSION
    reader = _Reader(is_first)
    for place, line in enumerate(objects):
        reader.read(place, line)
    unknown = next((entry for entry in reader.entries if is_unknown_schema(entry)), None)
    entries, repairs = tuple(_restore_images(reader.entries)), tuple(reader.repairs)
    return SessionLog(header, entries, repairs, unknown, is_first or reader.has_old_summaries)


def make_log_lines(header: SessionHeader, entries: Iterable[Entry]) -> list[dict[str, object]]:
    """Return the JSON objects of a session log in the current version, with the header first."""
    first = header.to_dict() | {"version": LOG_VERSION}
    return [first, *(entry.to_dict() for entry in entries)]


def _read_header(line: Line) -> SessionHeader | None:
    try:
        return SessionHeader.from_dict({"timestamp": "", **line})
    except MalformedEntry:
        return None


@dataclass
class _Reader:
    """Parses a session log line by line, and repairs references to earlier lines."""

    is_first_version: bool
    entries: list[Entry] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)  # the current meaning of each reference
    at_place: list[str | None] = field(default_factory=list)
    above: str | None = None
    turn: str = ""
    has_old_summaries: bool = False

    def read(self, place: int, line: Line) -> None:
        if self._is_sound(line):
            self._parse(line, line)
        else:
            self._mend(place, line)

    def _is_sound(self, line: Line) -> bool:
        """Return whether a line is correct, so that it needs no repair."""
        if self.is_first_version or self.renamed or line.get("type") == COMPACTION:
            return False
        name, parent = line.get("id"), line.get("parentId", MISSING)
        if not isinstance(name, str) or not name or name in self.known:
            return False
        return parent is None or (isinstance(parent, str) and parent in self.known)

    def _mend(self, place: int, line: Line) -> None:
        data = dict(rename_references(line, self.renamed))
        repairs = self._name(place, line, data) + self._hang(line, data)
        if data.get("type") == COMPACTION:
            data = self._as_transform(data)
            self.has_old_summaries = True
        if self.is_first_version and data.get("type") == "message":
            self.turn = str(data["id"]) if data.get("role") == "user" else self.turn
            data.setdefault("turnId", self.turn)
        entry = self._parse(line, data)
        if entry is None:
            return
        self.repairs += repairs
        given = line.get("id")
        if isinstance(given, str) and (given != entry.id or given in self.renamed):
            self.renamed[given] = entry.id

    def _parse(self, line: Line, data: Line) -> Entry | None:
        try:
            entry = parse_entry(data)
        except MalformedEntry as error:
            text = f"{_name_line(line)} cannot be read and is skipped: {error}"
            self.repairs.append(Repair("unreadable", "", text))
            self.at_place.append(None)
            return None
        self.entries.append(entry)
        self.known.add(entry.id)
        self.at_place.append(entry.id)
        if entry.type in PATH_TYPES:
            self.above = entry.id
        return entry

    def _name(self, place: int, line: Line, data: dict[str, object]) -> tuple[Repair, ...]:
        given = line.get("id")
        if isinstance(given, str) and given and given not in self.known:
            return ()
        data["id"] = self._new_id(place, line)
        if isinstance(given, str) and given:
            text = f"{_name_line(line)} has the id of an earlier one and was given its own."
            return (Repair("duplicate", str(data["id"]), text),)
        if self.is_first_version:
            return ()
        text = f"{_name_line(line)} has no id and was given one."
        return (Repair("id", str(data["id"]), text),)

    def _hang(self, line: Line, data: dict[str, object]) -> tuple[Repair, ...]:
        parent = data.get("parentId", MISSING)
        if parent is None or (isinstance(parent, str) and parent in self.known):
            return ()
        data["parentId"] = self.above
        if self.is_first_version:
            return ()
        text = f"{_name_line(line)} follows one that is missing; it is read after the one above."
        return (Repair("parent", str(data["id"]), text),)

    def _new_id(self, place: int, line: Line) -> str:
        """Return an id for a line that has none. The id is the same each time the log is read."""
        seed = f"{place}\n{compact_json(line)}".encode("utf-8", "surrogatepass")
        while (name := hashlib.sha256(seed).hexdigest()[:8]) in self.known:
            seed += b"+"
        return name

    def _as_transform(self, data: Mapping[str, object]) -> dict[str, object]:
        operation = {
            "op": "compaction_apply",
            "scope": "cached",
            "summary": data.get("summary", ""),
            "timestamp": data.get("timestamp", ""),
            "tokensBefore": data.get("tokensBefore", 0),
            "invalidateCacheReason": COMPACTION,
            **self._first_kept(data),
        }
        place = {key: data[key] for key in ("id", "parentId", "timestamp") if key in data}
        kind = {"type": "context_transform", "transformerName": COMPACTION}
        return {**place, **kind, "patch": [operation]}

    def _first_kept(self, data: Mapping[str, object]) -> dict[str, object]:
        """Return a reference to the first message that an old log's summary does not cover.

        If the message is unknown, refer to the first message of the log.
        """
        first, index = data.get("firstKeptEntryId"), data.get("firstKeptEntryIndex")
        if isinstance(index, int) and 0 <= index < len(self.at_place):
            first = next((name for name in self.at_place[index:] if name is not None), None)
        ids = [entry.id for entry in self.entries]
        start = ids.index(first) if isinstance(first, str) and first in self.known else 0
        after = [entry.id for entry in self.entries[start:] if isinstance(entry, MessageEntry)]
        before = [entry.id for entry in self.entries[:start] if isinstance(entry, MessageEntry)]
        if not after and not before:
            return {"firstKeptMessageIndex": 0}
        return {"firstKeptEntryId": after[0] if after else before[-1]}


def _name_line(line: Line) -> str:
    return f"The {line.get('type', 'nameless')} entry {line.get('id')}"


def rename_references(line: Line, renamed: Mapping[str, str]) -> Line:
    """Return a line whose references name the entries that were given new ids.

    Args:
        line: the JSON object of an entry.
        renamed: the new ids by old id.
    """
    if not renamed:
        return line
    data = dict(line)
    for key in _REFERENCES:
        if isinstance(target := line.get(key), str):
            data[key] = renamed.get(target, target)
    patch = data.get("patch")
    if isinstance(patch, list):
        data["patch"] = [_rename_op(op, renamed) for op in patch]
    return data


def _rename_op(op: object, renamed: Mapping[str, str]) -> object:
    if not isinstance(op, Mapping):
        return op
    named = {key: op[key] for key in _OP_REFERENCES if isinstance(op.get(key), str)}
    return {**op, **{key: renamed.get(name, name) for key, name in named.items()}}


def describe_unknown_schema(entry: OtherEntry) -> str:
    """Return a clause that names an entry and its unknown schema version, for use in a sentence."""
    version = compact_json(thaw(entry.data.get("schemaVersion")))
    return f"Entry {entry.id} has the schemaVersion {version}, which is not known here"
