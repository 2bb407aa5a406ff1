"""The entries of which the tree of a chat is made: what was said, sent along, and decided since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, Self, cast, get_args

from context.errors import MalformedEntry, MalformedMessage
from context.layers import Segment
from context.log.codec import NOTHING, Fields, head
from context.messages import FrozenMapping, Message, freeze, thaw, thaw_mapping

Status = Literal["complete", "interrupted", "limit", "error"]
STATUSES: Final[tuple[str, ...]] = get_args(Status)
SCHEMA_VERSION: Final = 1
_StatusOrNone = Status | None  # made once: it would cost more than the rest of a line


@dataclass(frozen=True)
class MessageEntry:
    """A message, as it was said; its message carries the entry's id.

    Attributes:
        extra: what else is kept with it, as the mode of a question and what the user named.
    """

    id: str
    parent_id: str | None
    timestamp: str
    message: Message
    turn_id: str
    model: str | None = None
    usage: Mapping[str, object] | None = None
    status: Status | None = None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "message"

    def __post_init__(self) -> None:
        if self.message.id != self.id:
            object.__setattr__(self, "message", replace(self.message, id=self.id))
        if self.usage is not None and not isinstance(self.usage, FrozenMapping):
            object.__setattr__(self, "usage", FrozenMapping(self.usage))
        if not isinstance(self.extra, FrozenMapping):
            object.__setattr__(self, "extra", FrozenMapping(self.extra))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
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
        return cls(*fields.place(), message, turn, model, usage, cast(_StatusOrNone, status))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        message = self.message.to_dict()
        data = head(self) | {
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
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "segments"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
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
        return head(self) | {"turnId": self.turn_id, "segments": segments}


@dataclass(frozen=True, slots=True)
class TransformEntry:
    """A patch of the cached part that was made once and is replayed from here on.

    Attributes:
        patch: the JSON of the operations; see `context.patches`.
        display: how the transcript shows it, `{title, summary?, markdown?}`.
    """

    id: str
    parent_id: str | None
    timestamp: str
    transformer_name: str
    patch: tuple[Mapping[str, object], ...]
    display: Mapping[str, object] | None = None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "context_transform"

    def __post_init__(self) -> None:
        object.__setattr__(self, "patch", tuple(FrozenMapping(op) for op in self.patch))
        if self.display is not None:
            object.__setattr__(self, "display", FrozenMapping(self.display))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        if fields.integer("schemaVersion", default=SCHEMA_VERSION) != SCHEMA_VERSION:
            raise MalformedEntry("This schemaVersion of a context_transform is not known.")
        name, patch = fields.text("transformerName", default=""), fields.mappings("patch")
        return cls(*fields.place(), name, patch, fields.mapping_or_none("display"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        data = head(self) | {
            "schemaVersion": SCHEMA_VERSION,
            "transformerName": self.transformer_name,
            "patch": [thaw_mapping(op) for op in self.patch],
        }
        return data if self.display is None else data | {"display": thaw_mapping(self.display)}


@dataclass(frozen=True, slots=True)
class _BoundaryEntry:
    """What lies before a boundary is not in requests as it stands in the log.

    Attributes:
        up_to_entry_id: the first entry that stays as it is.
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
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str]

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
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
        data = head(self) | {
            "upToEntryId": self.up_to_entry_id,
            "tokensBefore": self.tokens_before,
            "tokensAfter": self.tokens_after,
            "reason": self.reason,
        }
        return data if self.budget is None else data | {"budget": self.budget}


class DropEntry(_BoundaryEntry):
    """The oldest turns are left out of requests from here on."""

    __slots__ = ()
    type: ClassVar[str] = "drop"


class TrimEntry(_BoundaryEntry):
    """Old tool results and answers are replaced by markers from here on."""

    __slots__ = ()
    type: ClassVar[str] = "trim"


@dataclass(frozen=True, slots=True)
class PinEntry:
    """A message or a segment is kept whatever happens, or no longer."""

    id: str
    parent_id: str | None
    timestamp: str
    target: str
    on: bool
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "pin"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.text("target"), fields.flag("on"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"target": self.target, "on": self.on}


@dataclass(frozen=True, slots=True)
class MemoryUpdateEntry:
    """What is kept in mind beside the messages; each part that is given is the new value."""

    id: str
    parent_id: str | None
    timestamp: str
    scratchpad: str | None = None
    progress: Mapping[str, object] | None = None
    facts: tuple[str, ...] | None = None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "memory_update"

    def __post_init__(self) -> None:
        if self.progress is not None:
            object.__setattr__(self, "progress", FrozenMapping(self.progress))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(
            *fields.place(),
            fields.text_or_none("scratchpad"),
            fields.mapping_or_none("progress"),
            fields.texts_or_none("facts"),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        data = head(self)
        if self.scratchpad is not None:
            data["scratchpad"] = self.scratchpad
        if self.progress is not None:
            data["progress"] = thaw_mapping(self.progress)
        if self.facts is not None:
            data["facts"] = list(self.facts)
        return data


@dataclass(frozen=True, slots=True)
class CustomMessageEntry:
    """A message from an extension, which the model reads as the user's and the user sees.

    Attributes:
        message: in the role of the user; it carries the entry's id.
        display: how the transcript shows it, as the extension gave it.
    """

    id: str
    parent_id: str | None
    timestamp: str
    custom_type: str
    message: Message
    display: object = None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "custom_message"

    def __post_init__(self) -> None:
        if (self.message.role, self.message.id) != ("user", self.id):
            named = Message("user", self.message.content, self.id)
            object.__setattr__(self, "message", named)
        object.__setattr__(self, "display", freeze(self.display))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        try:
            message = Message.from_dict({"role": "user", "content": data.get("content")})
        except MalformedMessage as error:
            raise MalformedEntry(f"A custom message is not readable: {error}") from error
        kind = fields.text("customType", default="")
        return cls(*fields.place(), kind, message, data.get("display"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        content = self.message.to_dict()["content"]
        data = head(self) | {"customType": self.custom_type, "content": content}
        return data if self.display is None else data | {"display": thaw(self.display)}
