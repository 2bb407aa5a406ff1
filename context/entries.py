"""The entries of a session log, one JSON object a line, read into values and back.

Entry types that nothing here reads yet are kept word for word in `OtherEntry`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, Self, cast, get_args

from context.errors import MalformedEntry, MalformedMessage
from context.frozen import FrozenMapping, thaw_mapping
from context.layers import Segment
from context.messages import Message

Status = Literal["complete", "interrupted", "limit", "error"]
STATUSES: Final[tuple[str, ...]] = get_args(Status)
LOG_VERSION: Final = 2
PATH_TYPES: Final = frozenset(
    {
        "message",
        "context_transform",
        "segments",
        "trim",
        "drop",
        "pin",
        "memory_update",
        "custom_message",
    }
)


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first line of a log."""

    id: str
    timestamp: str
    vault: str | None
    project: str | None
    version: int = LOG_VERSION
    branched_from: str | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the header from JSON."""
        fields = _Fields(data)
        if data.get("type") != "session":
            raise MalformedEntry("A log begins with a line of the type session.")
        return cls(
            fields.text("id"),
            fields.text("timestamp"),
            fields.text_or_none("vault"),
            fields.text_or_none("project"),
            fields.integer("version", default=1),
            fields.text_or_none("branchedFrom"),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the header as JSON."""
        data: dict[str, object] = {
            "type": "session",
            "version": self.version,
            "id": self.id,
            "timestamp": self.timestamp,
            "vault": self.vault,
            "project": self.project,
        }
        if self.branched_from is not None:
            data["branchedFrom"] = self.branched_from
        return data


@dataclass(frozen=True)
class MessageEntry:
    """A message, as it was said; its message carries the entry's id."""

    id: str
    parent_id: str | None
    timestamp: str
    message: Message
    turn_id: str
    model: str | None = None
    usage: Mapping[str, object] | None = None
    status: Status | None = None

    type: ClassVar[str] = "message"

    def __post_init__(self) -> None:
        if self.message.id != self.id:
            object.__setattr__(self, "message", replace(self.message, id=self.id))
        if self.usage is not None and not isinstance(self.usage, FrozenMapping):
            object.__setattr__(self, "usage", FrozenMapping(self.usage))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = _Fields(data)
        status, usage = fields.text_or_none("status"), data.get("usage")
        if status is not None and status not in STATUSES:
            raise MalformedEntry(f"A message's status is one of {', '.join(STATUSES)}.")
        if usage is not None and not isinstance(usage, Mapping):
            raise MalformedEntry("A message's usage is a JSON object.")
        try:
            message = Message.from_dict(data)
        except MalformedMessage as error:
            raise MalformedEntry(f"A message entry is not readable: {error}") from error
        turn, model = fields.text("turnId", default=""), fields.text_or_none("model")
        return cls(*fields.place(), message, turn, model, usage, cast(Status | None, status))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        message = self.message.to_dict()
        data = _head(self) | {
            "role": message["role"],
            "content": message["content"],
            "turnId": self.turn_id,
        }
        if self.message.role == "assistant":
            usage = None if self.usage is None else thaw_mapping(self.usage)
            data |= {"model": self.model, "usage": usage, "status": self.status}
        return data


@dataclass(frozen=True, slots=True)
class SegmentsEntry:
    """What was attached to or retrieved for a turn, as sent."""

    id: str
    parent_id: str | None
    timestamp: str
    turn_id: str
    segments: tuple[Segment, ...]

    type: ClassVar[str] = "segments"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = _Fields(data)
        segments = data.get("segments")
        if not isinstance(segments, list | tuple):
            raise MalformedEntry("A segments entry has a list of segments.")
        if not all(isinstance(item, Mapping) for item in segments):
            raise MalformedEntry("A segment is a JSON object.")
        built = tuple(Segment.from_dict(item) for item in segments)
        return cls(*fields.place(), fields.text("turnId"), built)

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        segments = [segment.to_dict() for segment in self.segments]
        return _head(self) | {"turnId": self.turn_id, "segments": segments}


@dataclass(frozen=True, slots=True)
class DropEntry:
    """The oldest turns are left out of requests from here on.

    Attributes:
        up_to_entry_id: the first entry that stays.
        budget: the budget it was made under; it does not bind a larger one.
    """

    id: str
    parent_id: str | None
    timestamp: str
    up_to_entry_id: str
    tokens_before: int
    tokens_after: int
    reason: str
    budget: int | None = None

    type: ClassVar[str] = "drop"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = _Fields(data)
        return cls(
            *fields.place(),
            fields.text("upToEntryId"),
            fields.integer("tokensBefore"),
            fields.integer("tokensAfter"),
            fields.text("reason"),
            fields.integer("budget") if data.get("budget") is not None else None,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return _head(self) | {
            "upToEntryId": self.up_to_entry_id,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "reason": self.reason,
            "budget": self.budget,
        }


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """What a request was estimated at, and what the provider counted."""

    id: str
    parent_id: str | None
    timestamp: str
    turn_id: str
    request: int
    model: str
    estimated: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    factor: float

    type: ClassVar[str] = "usage"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = _Fields(data)
        return cls(
            *fields.place(),
            fields.text("turnId"),
            fields.integer("request"),
            fields.text("model"),
            fields.integer("estimated"),
            fields.integer("promptTokens"),
            fields.integer("completionTokens"),
            fields.integer("cachedTokens"),
            fields.number("factor"),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return _head(self) | {
            "turnId": self.turn_id,
            "request": self.request,
            "model": self.model,
            "estimated": self.estimated,
            "promptTokens": self.prompt_tokens,
            "completionTokens": self.completion_tokens,
            "cachedTokens": self.cached_tokens,
            "factor": self.factor,
        }


@dataclass(frozen=True, slots=True)
class OtherEntry:
    """An entry of a type that is not read here, kept word for word."""

    id: str
    parent_id: str | None
    timestamp: str
    type: str
    data: Mapping[str, object]

    def __post_init__(self) -> None:
        if not isinstance(self.data, FrozenMapping):
            object.__setattr__(self, "data", FrozenMapping(self.data))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON, all of it."""
        fields = _Fields(data)
        return cls(*fields.place(), fields.text("type"), FrozenMapping(data))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as it was read, with its present place in the log."""
        return thaw_mapping(self.data) | _head(self)


Entry = MessageEntry | SegmentsEntry | DropEntry | UsageEntry | OtherEntry

_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], Entry]]] = {
    "message": MessageEntry.from_dict,
    "segments": SegmentsEntry.from_dict,
    "drop": DropEntry.from_dict,
    "usage": UsageEntry.from_dict,
}


def parse_entry(data: Mapping[str, object]) -> Entry:
    """Read one entry of a log from JSON.

    Raises:
        MalformedEntry: when a field of its type is missing or of another type.
    """
    kind = data.get("type")
    reader = _READERS.get(kind, OtherEntry.from_dict) if isinstance(kind, str) else None
    if reader is None:
        raise MalformedEntry("An entry has a type.")
    return reader(data)


def is_path_entry(entry: Entry) -> bool:
    """Return whether the entry is part of the tree, so that the active path runs through it."""
    return entry.type in PATH_TYPES


class _Fields:
    """Typed access to the JSON of one entry."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data

    def place(self) -> tuple[str, str | None, str]:
        return self.text("id"), self.text_or_none("parentId"), self.text("timestamp", default="")

    def text(self, key: str, default: str | None = None) -> str:
        value = self._data.get(key, default)
        if not isinstance(value, str):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not text.")
        return value

    def text_or_none(self, key: str) -> str | None:
        return None if self._data.get(key) is None else self.text(key)

    def integer(self, key: str, default: int | None = None) -> int:
        value = self._data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a whole number.")
        return value

    def number(self, key: str) -> float:
        value = self._data.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise MalformedEntry(f"An entry's {key!r} is missing or is not a number.")
        return float(value)


def _head(entry: Entry) -> dict[str, object]:
    return {
        "type": entry.type,
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": entry.timestamp,
    }
