"""The events and the result of a turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from context.json_codec import Record

if TYPE_CHECKING:  # a search reports progress without loading the rest
    from chains.tool import ApprovalRequest
    from chains.turn_answer import ToolStep, TurnAnswer
    from context.layers import Segment
    from context.report.report import ContextReport
    from vault.indexing.progress import IndexProgress

__all__ = [
    "CITES_NOTHING",
    "ApprovalRequested",
    "AskResult",
    "CompactionEnded",
    "CompactionStarted",
    "ContextPrepared",
    "Event",
    "IndexProgressed",
    "MessageEnded",
    "Mode",
    "ModelLoadProgressed",
    "ReadingPart",
    "Retrieved",
    "Step",
    "TextDelta",
    "TextTakenBack",
    "ThoughtDelta",
    "ToolEnded",
    "ToolStarted",
    "TurnEnded",
    "Usage",
    "Warned",
]

CITES_NOTHING: Final = "This answer cites no note."

Mode = Literal["chat", "vault", "project", "agent"]


@dataclass(frozen=True)
class Step:
    """A new step of the turn, such as a search.

    Attributes:
        text: describes the step for the user.
        seconds: for a `wait` step, the time until the next attempt to call the model. None for
            other steps.
    """

    kind: Literal["index", "search", "read", "write", "wait", "compact"]
    text: str
    seconds: int | None = None


@dataclass(frozen=True)
class ReadingPart:
    """The model has started to read a part of a long attachment.

    Attachments that are too long for one request are read part by part (map-reduce).

    Attributes:
        part: the number of the part, counted from 1.
        parts: the number of parts.
    """

    part: int
    parts: int

    @property
    def text(self) -> str:
        """The text of the progress line, which names the part being read."""
        return f"Reading part {self.part:,} of {self.parts:,}"


@dataclass(frozen=True)
class ModelLoadProgressed:
    """The progress of loading a model file, before its first answer.

    Attributes:
        model: the name of the model.
        done: the fraction loaded so far, from 0 to 1.
        needed_bytes: the memory that the model needs.
    """

    model: str
    done: float
    needed_bytes: int

    @property
    def text(self) -> str:
        """The text of the progress line, which names the model being loaded."""
        if self.done >= 1:
            return f"Waiting for {self.model}…"
        share = f"{round(self.done * 100)}\N{NO-BREAK SPACE}%"
        return f"Loading {self.model}: {share} ({self.needed_bytes / 1e9:,.1f} GB of memory)"


@dataclass(frozen=True)
class Retrieved:
    """The attached and retrieved segments of a turn. Each has a citation number."""

    segments: "tuple[Segment, ...]"


@dataclass(frozen=True)
class ContextPrepared:
    """The context report of a request.

    The report is an estimate before the request is sent, and final at the end of the turn.
    """

    report: "ContextReport"


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer's text, as it arrives."""

    text: str


@dataclass(frozen=True)
class TextTakenBack:
    """All text of the answer so far was the model's thinking, so it is not shown any more."""


@dataclass(frozen=True)
class ThoughtDelta:
    """A piece of the model's thinking, as it arrives. It is no part of the answer.

    Attributes:
        seconds: how long the model has been thinking in this turn's request so far.
    """

    text: str
    seconds: float


@dataclass(frozen=True)
class ToolStarted:
    """A tool call has started."""

    step: "ToolStep"


@dataclass(frozen=True)
class ToolEnded:
    """A tool call has ended and its result is stored."""

    step: "ToolStep"


@dataclass(frozen=True)
class ApprovalRequested:
    """A tool call needs the user's approval, and waits until the request is answered."""

    request: "ApprovalRequest"


@dataclass(frozen=True)
class MessageEnded:
    """A message has been written to the log.

    Attributes:
        session: the id of the session.
    """

    entry_id: str
    role: Literal["user", "assistant"]
    turn: str
    session: str = ""


@dataclass(frozen=True)
class CompactionStarted:
    """A compaction has started, which replaces old turns with a summary.

    Attributes:
        reason: `auto`, `block` if the next message had to wait for it, `overflow` if the provider
            rejected the request as too long, or `asked` if the user or the model requested it.
    """

    reason: str


@dataclass(frozen=True)
class CompactionEnded:
    """A compaction has ended.

    Attributes:
        result: the result as a dict, as printed by `strata compact --json`.
    """

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Warned:
    """A problem that does not end the turn.

    Attributes:
        message: one sentence for the user.
        is_reason: whether the turn's result contains the same sentence as its `reason`. If so, a
            caller that shows the reason can skip this event.
        topic: identifies warnings that say the same with other figures, so that a caller can skip
            repetitions; an empty string if there are none.
        is_offer: whether the message asks whether a command shall be run. A caller that asks in its
            own way can skip this event.
        blind_model: the model that was sent no images, because it does not see any or is not known
            to, or an empty string.
    """

    message: str
    is_reason: bool = False
    topic: str = ""
    is_offer: bool = False
    blind_model: str = ""


@dataclass(frozen=True)
class IndexProgressed:
    """The progress of the indexing that runs before the turn."""

    progress: "IndexProgress"


@dataclass(frozen=True)
class Usage(Record):
    """The token counts reported by the provider, summed over all requests of a turn.

    Attributes:
        cost: the price in dollars. It is 0 for a model on this computer, and None if unknown.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None = None

    json_shape = (
        "requests",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
    )

    def plus(self, other: "Usage | None") -> "Usage":
        """Add another usage, and return the sum. None counts as zero.

        The cost of the sum is None if either cost is unknown.
        """
        if other is None:
            return self
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


@dataclass(frozen=True)
class EditedNote:
    """The net change of one note in a run of edits.

    Attributes:
        path: the path of the note after the edits.
        old_path: the path before the edits if the note was moved, otherwise None.
        is_new: whether the note was created.
        diff: the change as a unified diff.
    """

    path: str
    old_path: str | None
    is_new: bool
    diff: str


@dataclass(frozen=True)
class RunEdits(Record):
    """The notes that a run of edits changed, such as the edits of a turn.

    Attributes:
        run: the id for undoing the edits.
    """

    run: str
    notes: tuple[EditedNote, ...]


@dataclass(frozen=True)
class AskResult(Record):
    """The result of a turn, which `strata ask --json` prints.

    Attributes:
        session: the session id, or None for a dry run outside of a session.
        turn: the turn id, or None for a dry run.
        entry: the id of the answer's log entry, or None for a dry run.
        answer: the answer. A dry run has one without text.
        usage: the token counts reported by the provider, or None.
        context: the context report of the last request, as a dict.
        read_whole: the cost of reading long attachments in full by map-reduce, or None if none was
            read.
        searched: the search query, or None if it was the user message itself.
        edits: the changes of notes in the turn, or None if nothing was changed.
        applied_filter: the filter of a list, as a query, in words and part by part, or None for
            other answers.
    """

    session: str | None
    turn: str | None
    entry: str | None
    mode: Mode
    answer: "TurnAnswer"
    usage: Usage | None
    warnings: tuple[str, ...]
    context: Mapping[str, Any]
    read_whole: Mapping[str, Any] | None = None
    searched: str | None = None
    edits: RunEdits | None = None
    applied_filter: Mapping[str, object] | None = None

    json_shape = (
        "session",
        "turn",
        "entry",
        "mode",
        "answer = answer.text",
        "kind = answer.kind",
        "status = answer.end.status",
        "sections = answer.sections if answer.sections",
        "citations = answer.citations",
        "unverified = answer.checked.unverified",
        "sourced = answer.checked.sourced if answer.checked.sentences",
        "claims = answer.claims if answer.evidence",
        "tools = answer.steps",
        "model = answer.model",
        "usage",
        "warnings",
        "context",
        "read_whole unless null",
        "searched unless null",
        "filter = applied_filter unless null",
        "by = answer.searched_by if answer.searched_by",
        "edits unless null",
    )


@dataclass(frozen=True)
class TurnEnded:
    """The end of the turn, which is always the last event."""

    result: AskResult


Event = (
    Step
    | ReadingPart
    | ModelLoadProgressed
    | Retrieved
    | ContextPrepared
    | TextDelta
    | TextTakenBack
    | ThoughtDelta
    | MessageEnded
    | CompactionStarted
    | CompactionEnded
    | Warned
    | IndexProgressed
    | ToolStarted
    | ApprovalRequested
    | ToolEnded
    | TurnEnded
)
