"""What a turn tells whoever watches it: values, in the order in which things happen."""

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
    """Something that takes a while has begun; `text` is ready to be shown."""

    kind: Literal["index", "search", "read", "write", "wait", "compact"]
    text: str


@dataclass(frozen=True)
class ReadingPart:
    """A part of what is attached is being read, because all of that is."""

    part: int
    parts: int

    @property
    def text(self) -> str:
        """Say it."""
        return f"Reading part {self.part:,} of {self.parts:,}"


@dataclass(frozen=True)
class Retrieved:
    """The passages that were found for this turn, numbered as they will be cited."""

    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class ContextPrepared:
    """What goes to the model, or went there: first as estimated, at the end as it turned out."""

    report: ContextReport


@dataclass(frozen=True)
class TextDelta:
    """The answer grew by `text`."""

    text: str


@dataclass(frozen=True)
class ToolStarted:
    """The model called a tool, which is running."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ToolEnded:
    """A tool has answered, and its result is in the log.

    Attributes:
        ref_id: where a large result is kept; None where it is in the log itself.
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
        session: the chat that it is in.
    """

    entry_id: str
    role: Literal["user", "assistant"]
    turn: str
    session: str = ""


@dataclass(frozen=True)
class CompactionStarted:
    """Old turns are being summed up.

    Attributes:
        reason: `auto`, `block` or `overflow`; `asked` where the user or the model wanted it.
    """

    reason: str


@dataclass(frozen=True)
class CompactionEnded:
    """A compaction is over; `result` is what `strata compact --json` prints."""

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Warned:
    """Something did not go as it should, and the turn goes on."""

    message: str


@dataclass(frozen=True)
class IndexProgressed:
    """The index is being brought up to date."""

    progress: IndexProgress


@dataclass(frozen=True)
class Usage:
    """What the service counted, over all requests of a turn."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def plus(self, other: "Usage | None") -> "Usage":
        """Return both together."""
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
    """The whole of a finished turn, as `strata ask --json` prints it.

    Attributes:
        session: None only when a dry run was not part of a chat.
        turn: None for a dry run, as is `entry`, the answer's place in the log.
        tools: calls of the turn, in their order; only an agent makes any.
        usage: None where no service counted.
        context: the report of the last request, as plain data.
        read_whole: what reading attachments whole took, or would take; None where none was.
        searched: what was looked up where that was more than the question; None otherwise.
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
        """Return it as JSON values, with every field of the command line's shape."""
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
