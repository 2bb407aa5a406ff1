"""The entries of a session log, one JSON object a line, read into values and back.

`path_entries` are those of which the tree is made, `side_entries` all others. An entry of a type
that nobody here knows, as an extension's `custom`, is kept word for word in `OtherEntry`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self, TypeGuard

from context.errors import MalformedEntry
from context.log.codec import NOTHING, Fields
from context.log.path_entries import (
    SCHEMA_VERSION,
    STATUSES,
    CustomMessageEntry,
    DropEntry,
    MemoryUpdateEntry,
    MessageEntry,
    PinEntry,
    SegmentsEntry,
    Status,
    TransformEntry,
    TrimEntry,
)
from context.log.side_entries import (
    BranchSummaryEntry,
    EphemeralEntry,
    LabelEntry,
    LeafEntry,
    ModelChangeEntry,
    OptionsChangeEntry,
    OtherEntry,
    UsageEntry,
)
from context.messages import FrozenMapping, compact_json, thaw

__all__ = [
    "LOG_VERSION",
    "NOTHING",
    "PATH_TYPES",
    "SCHEMA_VERSION",
    "STATUSES",
    "BranchSummaryEntry",
    "CustomMessageEntry",
    "DropEntry",
    "Entry",
    "EphemeralEntry",
    "LabelEntry",
    "LeafEntry",
    "MemoryUpdateEntry",
    "MessageEntry",
    "ModelChangeEntry",
    "OptionsChangeEntry",
    "OtherEntry",
    "PinEntry",
    "SegmentsEntry",
    "SessionHeader",
    "Status",
    "TransformEntry",
    "TrimEntry",
    "UsageEntry",
    "describe_unknown_schema",
    "is_path_entry",
    "is_unknown_schema",
    "parse_entry",
]

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
        fields = Fields(data)
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


KnownEntry = (
    MessageEntry
    | SegmentsEntry
    | TransformEntry
    | DropEntry
    | TrimEntry
    | PinEntry
    | MemoryUpdateEntry
    | CustomMessageEntry
    | EphemeralEntry
    | UsageEntry
    | ModelChangeEntry
    | OptionsChangeEntry
    | LabelEntry
    | BranchSummaryEntry
    | LeafEntry
)
Entry = KnownEntry | OtherEntry

_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], KnownEntry]]] = {
    "message": MessageEntry.from_dict,
    "segments": SegmentsEntry.from_dict,
    "context_transform": TransformEntry.from_dict,
    "drop": DropEntry.from_dict,
    "trim": TrimEntry.from_dict,
    "pin": PinEntry.from_dict,
    "memory_update": MemoryUpdateEntry.from_dict,
    "custom_message": CustomMessageEntry.from_dict,
    "ephemeral": EphemeralEntry.from_dict,
    "usage": UsageEntry.from_dict,
    "model_change": ModelChangeEntry.from_dict,
    "options_change": OptionsChangeEntry.from_dict,
    "label": LabelEntry.from_dict,
    "branch_summary": BranchSummaryEntry.from_dict,
    "leaf": LeafEntry.from_dict,
}

_PLACE: Final = frozenset({"type", "id", "parentId", "timestamp"})
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    kind: _PLACE.union(fields)
    for kind, fields in {
        "message": ("role", "content", "turnId", "model", "usage", "status"),
        "segments": ("turnId", "segments"),
        "context_transform": ("schemaVersion", "transformerName", "patch", "display"),
        "drop": ("upToEntryId", "tokensBefore", "tokensAfter", "reason", "budget"),
        "trim": ("upToEntryId", "tokensBefore", "tokensAfter", "reason", "budget"),
        "pin": ("target", "on"),
        "memory_update": ("scratchpad", "progress", "facts"),
        "custom_message": ("customType", "content", "display"),
        "ephemeral": ("messages",),
        "usage": (
            *("turnId", "request", "model", "estimated"),
            *("promptTokens", "completionTokens", "cachedTokens", "factor"),
        ),
        "model_change": ("model",),
        "options_change": ("options",),
        "label": ("target", "label"),
        "branch_summary": ("fromId", "summary"),
        "leaf": ("target",),
    }.items()
}


def parse_entry(data: Mapping[str, object]) -> Entry:
    """Read one entry of a log from JSON; what it holds beside the fields of its type is kept.

    An entry whose `schemaVersion` is not known is kept word for word; see `is_unknown_schema`.

    Raises:
        MalformedEntry: when a field of its type is missing or of another type.
    """
    kind = data.get("type")
    if not isinstance(kind, str):
        raise MalformedEntry("An entry has a type.")
    if data.get("schemaVersion", SCHEMA_VERSION) != SCHEMA_VERSION:
        return OtherEntry.from_dict(data)
    read = _READERS.get(kind)
    if read is None:
        return OtherEntry.from_dict(data)
    entry = read(data)
    if more := data.keys() - _FIELDS[kind]:
        # `replace` would make the entry once more, and nobody else has this one yet.
        object.__setattr__(entry, "extra", FrozenMapping({key: data[key] for key in more}))
    return entry


def is_path_entry(entry: Entry) -> bool:
    """Return whether the entry is part of the tree, so that the active path runs through it."""
    return entry.type in PATH_TYPES


def is_unknown_schema(entry: Entry) -> TypeGuard[OtherEntry]:
    """Return whether the entry is part of the tree, but says something that is not known here.

    A chat that has one is only read, and can be forked before it.
    """
    return isinstance(entry, OtherEntry) and is_path_entry(entry)


def describe_unknown_schema(entry: OtherEntry) -> str:
    """Return the part of a sentence that names an entry's unknown `schemaVersion`."""
    version = compact_json(thaw(entry.data.get("schemaVersion")))
    return f"Entry {entry.id} has the schemaVersion {version}, which is not known here"
