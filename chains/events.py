"""The events of a turn, in the order in which they happen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from chains.citations.check import Citation, Unverified
from context.layers import Segment
from context.report.report import ContextReport
from vault.indexing.indexer import IndexProgress

__all__ = [
    "CITES_NOTHING",
    "AskResult",
    "CompactionEnded",
    "CompactionStarted",
    "ContextPrepared",
    "Event",
    "IndexProgressed",
    "MessageEnded",
    "Mode",
    "ReadingPart",
    "Retrieved",
    "Status",
    "Step",
    "TextDelta",
    "ToolEnded",
    "ToolStarted",
    "ToolStatus",
    "TurnEnded",
    "Usage",
    "Warned",
]

CITES_NOTHING: Final = "This answer cites no note."

Mode = Literal["chat", "vault", "agent"]
Status = Literal["complete", "interrupted", "limit", "error"]
ToolStatus = Literal["ok", "error"]


@dataclass(frozen=True)
class Step:
    """A step that takes a while has begun; `text` can be shown."""

    kind: Literal["index", "search", "read", "write", "wait", "compact"]
    text: str


@dataclass(frozen=True)
class ReadingPart:
    """A part of an attachment is read, in a map-reduce."""

    part: int
    parts: int

    @property
    def text(self) -> str:
        """The progress line."""
        return f"Reading part {self.part:,} of {self.parts:,}"


@dataclass(frozen=True)
class Retrieved:
    """The attached and retrieved segments of the turn, with the numbers to cite them by."""

    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class ContextPrepared:
    """The report on a request: estimated before it is sent, and as it turned out at the end."""

    report: ContextReport


@dataclass(frozen=True)
class TextDelta:
    """The answer grew by `text`."""

    text: str


@dataclass(frozen=True)
class ToolStarted:
    """A tool that the model called is running."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolEnded:
    """A tool has ended, and its result is in the log.

    Attributes:
        ref_id: the reference of a large result beside the log; None where the log has all of it.
    """

    id: str
    name: str
    status: ToolStatus
    seconds: float
    ref_id: str | None


@dataclass(frozen=True)
class MessageEnded:
    """A message is in the log, on disk.

    Attributes:
        session: the id of its session.
    """

    entry_id: str
    role: Literal["user", "assistant"]
    turn: str
    session: str = ""


@dataclass(frozen=True)
class CompactionStarted:
    """A compaction of old turns has begun.

    Attributes:
        reason: `auto`, `block` or `overflow`; `asked` where the user or the model wanted it.
    """

    reason: str


@dataclass(frozen=True)
class CompactionEnded:
    """A compaction has ended; `result` is what `strata compact --json` prints."""

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Warned:
    """A problem that does not end the turn."""

    message: str


@dataclass(frozen=True)
class IndexProgressed:
    """Indexing before the turn has progressed."""

    progress: IndexProgress


@dataclass(frozen=True)
class Usage:
    """The tokens that the provider counted, over all requests of a turn."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def plus(self, other: "Usage | None") -> "Usage":
        """Return the sum of two usages."""
        if other is None:
            return self
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        """Return the shape that `strata ask --json` prints."""
        return {
            "requests": self.requests,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
        }


@dataclass(frozen=True)
class AskResult:
    """The result of a turn, as `strata ask --json` prints it.

    Attributes:
        session: None only for a dry run outside a session.
        turn: None for a dry run, as is `entry`, the id of the answer's entry.
        tools: the tool calls of the turn, in their order; empty without an agent.
        usage: None where no provider counted.
        context: the report of the last request, as plain data.
        read_whole: the cost of reading attachments whole; None where none was.
        searched: the query, where it differs from the user message; None otherwise.
    """

    session: str | None
    turn: str | None
    entry: str | None
    mode: Mode
    answer: str
    status: Status
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    model: str
    usage: Usage | None
    warnings: tuple[str, ...]
    context: Mapping[str, Any]
    tools: tuple[Mapping[str, Any], ...] = ()
    read_whole: Mapping[str, Any] | None = None
    searched: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, with every field of `strata ask --json`."""
        read = {} if self.read_whole is None else {"read_whole": dict(self.read_whole)}
        return {
            "session": self.session,
            "turn": self.turn,
            "entry": self.entry,
            "mode": self.mode,
            "answer": self.answer,
            "status": self.status,
            "citations": [citation.to_dict() for citation in self.citations],
            "unverified": [claim.to_dict() for claim in self.unverified],
            "tools": [dict(tool) for tool in self.tools],
            "model": self.model,
            "usage": self.usage.to_dict() if self.usage else None,
            "warnings": list(self.warnings),
            "context": dict(self.context),
            **read,
            **({} if self.searched is None else {"searched": self.searched}),
        }


@dataclass(frozen=True)
class TurnEnded:
    """The turn is over; nothing follows."""

    result: AskResult


Event = (
    Step
    | ReadingPart
    | Retrieved
    | ContextPrepared
    | TextDelta
    | MessageEnded
    | CompactionStarted
    | CompactionEnded
    | Warned
    | IndexProgressed
    | ToolStarted
    | ToolEnded
    | TurnEnded
)
