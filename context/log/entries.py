"""The entry types of a session log, a file with one JSON object per line.

To add an entry type, write its class here and add a row to `_ROWS`. Unknown types, such as an
extension's `custom`, are kept verbatim in `OtherEntry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, TypeGuard

from context.errors import MalformedEntry
from context.layers import Segment
from context.log import codec
from context.log.codec import EntryType, Kind, optional
from context.messages import NO_FIELDS, FrozenMapping, Message, freeze, thaw_mapping

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a session log.

    Attributes:
        id: the id, unique within the log.
        parent_id: the id of the previous entry in the tree, or None for the first entry.
        timestamp: the time at which the entry was written, in ISO 8601 and UTC.
        extra: all JSON keys that the entry type does not define.
    """

    id: str
    parent_id: str | None
    timestamp: str
    extra: Mapping[str, object] = field(default=NO_FIELDS, kw_only=True)

    @property
    def type(self) -> str:
        """The name of the entry type."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """Return the entry as a JSON object."""
        return ENTRY_TYPES[self.type].write(self, self.write_place(), self.extra)

    def write_place(self) -> dict[str, object]:
        """Return the entry's type, id, parent id and timestamp as JSON."""
        return {
            "type": self.type,
            "id": self.id,
            "parentId": self.parent_id,
            "timestamp": self.timestamp,
        }


# Entries on the path, which form the tree of a session.


@dataclass(frozen=True, slots=True)
class MessageEntry(Entry):
    """A message of the user, the model or a tool. For a user message, `extra` contains its mode.

    Attributes:
        status: for an answer, how it ended, such as `complete`. Other programs may write any text.
        seconds: for an answer, the seconds since its turn began, or None if unknown.
        reason: why an answer is missing or incomplete. `error_code` names the kind of error.
    """

    message: Message
    turn_id: str
    model: str | None = None
    usage: Mapping[str, object] | None = None
    status: str | None = None
    seconds: float | None = None
    reason: str | None = None
    error_code: str | None = None

    type: ClassVar[str] = "message"

    def __post_init__(self) -> None:
        if self.message.id != self.id:
            object.__setattr__(self, "message", replace(self.message, id=self.id))
        if self.usage is not None and not isinstance(self.usage, FrozenMapping):
            object.__setattr__(self, "usage", FrozenMapping(self.usage))
        if not isinstance(self.extra, FrozenMapping):
            object.__setattr__(self, "extra", FrozenMapping(self.extra))


@dataclass(frozen=True, slots=True)
class SegmentsEntry(Entry):
    """The segments (pieces of context) that are sent with a turn, attached or retrieved."""

    turn_id: str
    segments: tuple[Segment, ...]

    type: ClassVar[str] = "segments"


@dataclass(frozen=True, slots=True)
class TransformEntry(Entry):
    """A change of the request by a hook or a compaction. Later requests apply the change again.

    Attributes:
        patch: the operations as JSON. See `context.patches`.
        display: how the transcript shows the patch, as `{title, summary?, markdown?, rendererId?,
            rendererProps?}`.
    """

    transformer_name: str
    patch: tuple[Mapping[str, object], ...]
    display: Mapping[str, object] | None = None

    type: ClassVar[str] = "context_transform"

    def __post_init__(self) -> None:
        object.__setattr__(self, "patch", tuple(FrozenMapping(op) for op in self.patch))
        if self.display is not None:
            object.__setattr__(self, "display", FrozenMapping(self.display))


@dataclass(frozen=True, slots=True)
class BoundaryEntry(Entry):
    """A position in the history. Messages before it are shortened or left out of requests.

    Attributes:
        up_to_entry_id: the id of the first entry that stays unchanged.
        budget: the token budget back then. Under a larger budget the position does not apply.
    """

    up_to_entry_id: str
    tokens_before: int
    tokens_after: int
    reason: str
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class DropEntry(BoundaryEntry):
    """Leaves the oldest turns out of later requests."""

    type: ClassVar[str] = "drop"


@dataclass(frozen=True, slots=True)
class TrimEntry(BoundaryEntry):
    """Replaces old tool results and answers in later requests with placeholders."""

    type: ClassVar[str] = "trim"


@dataclass(frozen=True, slots=True)
class PinEntry(Entry):
    """Pins or unpins a message or a segment. Pinned items are part of every request."""

    target: str
    on: bool

    type: ClassVar[str] = "pin"


@dataclass(frozen=True, slots=True)
class MemoryUpdateEntry(Entry):
    """New values for the session's memory. Fields that are None stay unchanged."""

    scratchpad: str | None = None
    progress: Mapping[str, object] | None = None
    facts: tuple[str, ...] | None = None

    type: ClassVar[str] = "memory_update"

    def __post_init__(self) -> None:
        if self.progress is not None:
            object.__setattr__(self, "progress", FrozenMapping(self.progress))


@dataclass(frozen=True, slots=True)
class CustomMessageEntry(Entry):
    """A message that a hook or program added. The model sees it as a user message.

    Attributes:
        message: the message, with the role `user` and the entry's id.
        display: how the transcript shows the message, as given by the hook or program.
    """

    custom_type: str
    message: Message
    display: object = None

    type: ClassVar[str] = "custom_message"

    def __post_init__(self) -> None:
        if (self.message.role, self.message.id) != ("user", self.id):
            named = Message("user", self.message.content, self.id)
            object.__setattr__(self, "message", named)
        object.__setattr__(self, "display", freeze(self.display))


# Entries beside the path: records and settings of a session.


@dataclass(frozen=True, slots=True)
class EphemeralEntry(Entry):
    """A record of messages that were added to a single request. It is never replayed."""

    messages: tuple[Message, ...]

    type: ClassVar[str] = "ephemeral"


@dataclass(frozen=True, slots=True)
class UsageEntry(Entry):
    """The token counts of a request: estimated, and as reported by the provider.

    Attributes:
        request: the number of the request within its turn, or 0 for other calls, such as summaries.
        purpose: the purpose of the call, such as `answer`. Empty in entries of older versions.
        cost: the price in dollars at the time of the call, or None if unknown.
    """

    turn_id: str
    request: int
    model: str
    estimated: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    factor: float
    purpose: str = ""
    cost: float | None = None

    type: ClassVar[str] = "usage"


@dataclass(frozen=True, slots=True)
class ModelChangeEntry(Entry):
    """A change of the session's model."""

    model: str

    type: ClassVar[str] = "model_change"


@dataclass(frozen=True, slots=True)
class OptionsChangeEntry(Entry):
    """A change of the session's settings."""

    options: Mapping[str, object]

    type: ClassVar[str] = "options_change"

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", FrozenMapping(self.options))


@dataclass(frozen=True, slots=True)
class LabelEntry(Entry):
    """A label on a message, set by the user or a hook. None removes the previous label."""

    target: str
    label: str | None

    type: ClassVar[str] = "label"


@dataclass(frozen=True, slots=True)
class BranchSummaryEntry(Entry):
    """The summary of a branch that the user has left. `from_id` is the branch's last entry."""

    from_id: str
    summary: str

    type: ClassVar[str] = "branch_summary"


@dataclass(frozen=True, slots=True)
class LeafEntry(Entry):
    """Moves the end of the active path to the entry `target`. None makes the path empty."""

    target: str | None

    type: ClassVar[str] = "leaf"


@dataclass(frozen=True, slots=True)
class OtherEntry(Entry):
    """An entry of an unknown type or schema, kept unchanged."""

    type: str = field()  # needed, since the property of `Entry` would be the default otherwise
    data: Mapping[str, object]

    def __post_init__(self) -> None:
        if not isinstance(self.data, FrozenMapping):
            object.__setattr__(self, "data", FrozenMapping(self.data))

    @property
    def content(self) -> Mapping[str, object]:
        """The content of a custom entry. Some older logs have its fields beside the type."""
        content = self.data.get("content")
        return content if isinstance(content, Mapping) else self.data

    def to_dict(self) -> dict[str, object]:
        """Return the original JSON object, with the current id, parent id and timestamp."""
        return thaw_mapping(self.data) | self.write_place()


def _of_answers(kind: Kind) -> Kind:
    """Return a variant of a field kind that other messages omit where it has no value."""
    return replace(kind, is_omitted=lambda e, v: v is None and e.message.role != "assistant")


def _describe_boundary(made: type[BoundaryEntry]) -> EntryType:
    return EntryType(
        made,
        on_path=True,
        up_to_entry_id=codec.TEXT,
        tokens_before=codec.INTEGER,
        tokens_after=codec.INTEGER,
        reason=codec.TEXT,
        budget=optional(codec.INTEGER),
    )


_ROWS: Final = (
    EntryType(
        MessageEntry,
        on_path=True,
        message=codec.MESSAGE,
        turn_id=codec.TEXT_OR_EMPTY,
        model=_of_answers(codec.TEXT_OR_NONE),
        usage=_of_answers(codec.OBJECT_OR_NONE),
        status=_of_answers(codec.TEXT_OR_NONE),
        seconds=optional(codec.NUMBER),
        reason=optional(codec.TEXT),
        error_code=optional(codec.TEXT),
    ),
    EntryType(SegmentsEntry, on_path=True, turn_id=codec.TEXT, segments=codec.SEGMENTS),
    EntryType(
        TransformEntry,
        on_path=True,
        constants={"schemaVersion": SCHEMA_VERSION},
        transformer_name=codec.TEXT_OR_EMPTY,
        patch=codec.OBJECTS,
        display=optional(codec.OBJECT),
    ),
    _describe_boundary(DropEntry),
    _describe_boundary(TrimEntry),
    EntryType(PinEntry, on_path=True, target=codec.TEXT, on=codec.FLAG),
    EntryType(
        MemoryUpdateEntry,
        on_path=True,
        scratchpad=optional(codec.TEXT),
        progress=optional(codec.OBJECT),
        facts=optional(codec.TEXTS),
    ),
    EntryType(
        CustomMessageEntry,
        on_path=True,
        custom_type=codec.TEXT_OR_EMPTY,
        message=codec.USER_MESSAGE,
        display=optional(codec.JSON),
    ),
    EntryType(EphemeralEntry, messages=codec.MESSAGES),
    EntryType(
        UsageEntry,
        turn_id=codec.TEXT,
        request=codec.INTEGER,
        model=codec.TEXT,
        estimated=codec.INTEGER,
        prompt_tokens=codec.INTEGER,
        completion_tokens=codec.INTEGER,
        cached_tokens=codec.INTEGER,
        factor=codec.NUMBER,
        purpose=optional(codec.TEXT, ""),
        cost=optional(codec.NUMBER),
    ),
    EntryType(ModelChangeEntry, model=codec.TEXT),
    EntryType(OptionsChangeEntry, options=codec.OBJECT),
    EntryType(LabelEntry, target=codec.TEXT, label=codec.TEXT_OR_NONE),
    EntryType(BranchSummaryEntry, from_id=codec.TEXT, summary=codec.TEXT),
    EntryType(LeafEntry, target=codec.TEXT_OR_NONE),
)
ENTRY_TYPES: Final[Mapping[str, EntryType]] = {row.name: row for row in _ROWS}
PATH_TYPES: Final = frozenset(row.name for row in _ROWS if row.on_path)


def parse_entry(data: Mapping[str, object]) -> Entry:
    """Build a log entry from a JSON object. Unknown keys are kept in `extra`.

    An entry with an unknown `schemaVersion` is kept unchanged. See `is_unknown_schema`.

    Raises:
        MalformedEntry: when a required field is missing or has the wrong type.
    """
    if not isinstance(name := data.get("type"), str):
        raise MalformedEntry("An entry has a type.")
    known = ENTRY_TYPES.get(name)
    if known is None or data.get("schemaVersion", SCHEMA_VERSION) != SCHEMA_VERSION:
        return OtherEntry(*codec.read_place(data), name, data)
    entry: Entry = known.read(data)
    return entry


def is_question(entry: Entry) -> TypeGuard[MessageEntry]:
    """Return whether an entry is a message of the user, with which a turn begins."""
    return isinstance(entry, MessageEntry) and entry.message.role == "user"


def is_path_entry(entry: Entry) -> bool:
    """Return whether an entry is part of the session's tree of messages."""
    return entry.type in PATH_TYPES


def is_unknown_schema(entry: Entry) -> TypeGuard[OtherEntry]:
    """Return whether an entry has an unknown schema version, so that the log is read-only."""
    return isinstance(entry, OtherEntry) and is_path_entry(entry)
