"""The entries beside the tree of a chat: what happened, and what things are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from context.errors import MalformedEntry, MalformedMessage
from context.log.codec import NOTHING, Fields, head
from context.messages import FrozenMapping, Message, thaw_mapping


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """What a request was estimated at, and what the provider counted.

    Attributes:
        request: which one of its turn it was; 0 for a call beside these.
        purpose: what such a call was for, as `summary`; empty for a request of the turn.
    """

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
    purpose: str = ""
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "usage"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
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
            fields.text("purpose", ""),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        purpose = {"purpose": self.purpose} if self.purpose else {}
        return head(self) | {
            "turnId": self.turn_id,
            "request": self.request,
            "model": self.model,
            "estimated": self.estimated,
            "promptTokens": self.prompt_tokens,
            "completionTokens": self.completion_tokens,
            "cachedTokens": self.cached_tokens,
            "factor": self.factor,
            **purpose,
        }


@dataclass(frozen=True, slots=True)
class EphemeralEntry:
    """What was added to one request alone; it is a record and never replayed."""

    id: str
    parent_id: str | None
    timestamp: str
    messages: tuple[Message, ...]
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "ephemeral"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        try:
            return cls(*fields.place(), fields.messages("messages"))
        except MalformedMessage as error:
            raise MalformedEntry(f"An ephemeral entry is not readable: {error}") from error

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"messages": [message.to_dict() for message in self.messages]}


@dataclass(frozen=True, slots=True)
class ModelChangeEntry:
    """Another model answers from here on."""

    id: str
    parent_id: str | None
    timestamp: str
    model: str
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "model_change"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.text("model"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"model": self.model}


@dataclass(frozen=True, slots=True)
class OptionsChangeEntry:
    """Other settings hold from here on, which begins a new epoch of the budget."""

    id: str
    parent_id: str | None
    timestamp: str
    options: Mapping[str, object]
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "options_change"

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", FrozenMapping(self.options))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.mapping("options"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"options": thaw_mapping(self.options)}


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """The user's name for a message; an empty one takes it away."""

    id: str
    parent_id: str | None
    timestamp: str
    target: str
    label: str | None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "label"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.text("target"), fields.text_or_none("label"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"target": self.target, "label": self.label}


@dataclass(frozen=True, slots=True)
class BranchSummaryEntry:
    """What a branch was about that was left; `from_id` is its last entry."""

    id: str
    parent_id: str | None
    timestamp: str
    from_id: str
    summary: str
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "branch_summary"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.text("fromId"), fields.text("summary"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"fromId": self.from_id, "summary": self.summary}


@dataclass(frozen=True, slots=True)
class LeafEntry:
    """The active path ends here, until something is added; before the first entry for `None`."""

    id: str
    parent_id: str | None
    timestamp: str
    target: str | None
    extra: Mapping[str, object] = NOTHING

    type: ClassVar[str] = "leaf"

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read the entry from JSON."""
        fields = Fields(data)
        return cls(*fields.place(), fields.text_or_none("target"))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return head(self) | {"target": self.target}


@dataclass(frozen=True, slots=True)
class OtherEntry:
    """An entry of a type or a schema that is not known here, kept word for word."""

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
        fields = Fields(data)
        return cls(*fields.place(), fields.text("type"), FrozenMapping(data))

    def to_dict(self) -> dict[str, object]:
        """Return the entry as it was read, with its present place in the log."""
        return thaw_mapping(self.data) | head(self)

    @property
    def extra(self) -> Mapping[str, object]:
        """Nothing: all of it is in `data`."""
        return NOTHING
