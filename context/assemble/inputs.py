"""The inputs of a request, and the ports through which `context` reaches outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from context.assemble.attachments import Resolve
from context.assemble.request import Preamble, RequestDraft
from context.budget import BudgetPolicy, RequestBudget, compute_budget
from context.compaction import CircuitBreaker
from context.envelope import CancelPort, SystemPart
from context.history.boundaries import Epoch
from context.history.turns import MeasuredTurn
from context.hooks import HookRegistry
from context.layers import Segment
from context.log.entries import Entry
from context.messages import ToolDefinition, list_tool_calls
from context.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class PreviousQuestion:
    """The user message of the previous request, and whether its turn is still in progress."""

    text: str | None = None
    is_same_turn: bool = False


@dataclass(frozen=True)
class SummaryTask:
    """The task of summarising old turns.

    Attributes:
        said: the turns before trimming, oldest first. An earlier summary comes before them.
        sent: the same turns as the session's requests send them at their beginning, so that the
            provider's prompt cache is reused, or an empty tuple if the requests begin with other
            turns.
        preamble: the tools and instructions of the session.
        request_budget: the token budget of each call.
        most_tokens: the token limit of the summary.
        instructions: the user's instructions for the summary, or an empty string if there are none.
    """

    said: tuple[MeasuredTurn, ...]
    sent: tuple[MeasuredTurn, ...]
    preamble: Preamble
    request_budget: RequestBudget
    model: str
    session: str | None
    most_tokens: int
    instructions: str = ""

    @property
    def continues(self) -> bool:
        """Whether a call can begin with the same messages as the session's requests."""
        return bool(self.sent)

    @property
    def shortened(self) -> tuple[MeasuredTurn, ...]:
        """The full form of those turns that are trimmed or cleared in `sent`."""
        counter = self.preamble.counter
        pairs = zip(self.sent, self.said, strict=False)
        return tuple(_restore_turn(sent, said, counter) for sent, said in pairs if sent != said)

    @property
    def turns(self) -> tuple[MeasuredTurn, ...]:
        """The turns that a call holds: as sent, followed by the full form of shortened turns."""
        return (*self.sent, *self.shortened) if self.continues else self.said


# Returns the text of a summary, or raises SummaryFailed.
Summarise = Callable[[SummaryTask], str]


def _restore_turn(sent: MeasuredTurn, said: MeasuredTurn, counter: TokenCounter) -> MeasuredTurn:
    pairs = zip(sent.messages, said.messages, strict=True)
    messages = [full for shown, full in pairs if shown != full or list_tool_calls(full)]
    return MeasuredTurn.measure(said.turn, messages, counter)


DEFERRED_NOTE: Final = "[{count} tools deferred to save context. Use tool_search to find them.]"


@dataclass(frozen=True, slots=True)
class ToolDeferral:
    """The tools that a request leaves out to save context.

    Attributes:
        names: the names of the tools that are left out.
        promoted: the names of tools that were left out until the model found them.
        at_start: the number of tools that were left out when the turn began.
    """

    names: tuple[str, ...] = ()
    promoted: frozenset[str] = frozenset()
    at_start: int = 0

    def add_note(self, notes: str) -> str:
        """Append a line about the tools that are left out to the notes for the model.

        The line stays the same during a turn.
        """
        if not self.at_start:
            return notes
        note = DEFERRED_NOTE.format(count=f"{self.at_start:,}")
        return f"{notes}\n{note}" if notes else note


@dataclass(frozen=True, slots=True)
class HistoryPolicy:
    """The settings that keep the history within its budget before the guard has to act.

    Attributes:
        auto_compact: whether old turns are summarised automatically.
        keep_last: how many of the newest assistant messages are trimmed last.
        clean_after: the age in turns from which tool results are shortened before all other text.
        can_summarise: whether a model can summarise. Otherwise an outline is built.
    """

    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    can_summarise: bool = True


@dataclass(frozen=True)
class GivenSummary:
    """A summary that the user has seen, and perhaps edited, before it is stored.

    Attributes:
        text: the text of the summary, which is stored unchanged.
        by: the origin of the first version: a model, or an outline built without a model.
    """

    text: str
    by: Literal["model", "outline"]


@dataclass(frozen=True)
class PrepareInputs:
    """The inputs of one request.

    Attributes:
        model_limit: the model's own input limit in tokens, or None if it is not known.
        path: the active path. It ends with this turn's user message and segments, stored or not,
            followed by the tool calls and results so far.
        turn: the id of this turn.
        request: the number of the request in its turn, counted from 1. Later requests of the turn
            keep the context of the first.
        tools: the tools that can be run.
        factor: the divisor of the budget, learned from the usage reported in this session, or None
            if none was learned.
        previous: the previous request on this path or its provider-neutral body, or None for the
            first request.
        is_cached: whether the previous request was answered by the same service, so that its cache
            may hold the common prefix.
        instructions: the system parts that come from notes, for the report. The id of each segment
            is the name of its system part.
        takes_marks: whether the provider takes cache marks, or None if the model's name decides.
        unsent: the attachments of which nothing can be sent, for the report.
        sees: whether the model sees images. If not, this is why images are among `unsent`.
        summary_instructions: the user's instructions for summaries, or an empty string if there are
            none.
        given_summary: the summary to use in a compaction on request, or None to have one written.
        deferral: the tools that the request leaves out.
        history_policy: the settings for trimming and compaction, or None to leave everything to the
            guard.
    """

    session: str | None
    model: str
    model_limit: int | None
    threshold: int
    max_output_tokens: int
    temperature: float
    system: tuple[SystemPart, ...]
    path: tuple[Entry, ...]
    turn: str
    request: int = 1
    tools: tuple[ToolDefinition, ...] = ()
    previous: Mapping[str, object] | RequestDraft | None = None
    factor: float | None = None
    warnings: tuple[str, ...] = ()
    takes_marks: bool | None = None
    history_policy: HistoryPolicy | None = None
    summary_instructions: str = ""
    given_summary: "GivenSummary | None" = None
    instructions: tuple[Segment, ...] = ()
    unsent: tuple[Segment, ...] = ()
    sees: bool = True
    deferral: ToolDeferral = ToolDeferral()
    is_cached: bool = True


@dataclass(frozen=True)
class Ports:
    """The functions and objects outside of `context` that the pipeline calls.

    Attributes:
        append: writes entries to the session log, in one write.
        hooks: the registered hooks. They run only when a request is sent or a turn has ended.
        resolve: returns the current state of an attached or cited source. Without this function,
            nothing is carried forward, because a source might be excluded by now.
        cancel: the cancel token, which is checked before hooks run and passed to them.
        summarise: summarises turns with a model. Without it, or if it fails, an outline is built.
        breaker: the circuit breaker that stops compactions after several freed nothing.
    """

    counter: TokenCounter
    append: Callable[[Sequence[Entry]], None]
    new_id: Callable[[], str]
    now: Callable[[], str]
    hooks: HookRegistry | None = None
    resolve: Resolve | None = None
    cancel: CancelPort | None = None
    summarise: Summarise | None = None
    breaker: CircuitBreaker | None = None


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The inputs of one request, the ports that prepare it, and its budget."""

    inputs: PrepareInputs
    ports: Ports
    budget: RequestBudget

    @classmethod
    def build(cls, inputs: PrepareInputs, ports: Ports) -> "RequestContext":
        """Build the context of a request, and compute its budget."""
        return cls(inputs, ports, compute_request_budget(inputs, ports.counter))

    @property
    def counter(self) -> TokenCounter:
        """The token counter of the request."""
        return self.ports.counter

    @property
    def budget_tokens(self) -> int:
        """The token limit of the request."""
        return self.budget.budget

    @property
    def epoch(self) -> Epoch:
        """The budget and model of the request, for which stored trims and drops have to hold."""
        return Epoch(self.budget_tokens, self.inputs.model)


def compute_request_budget(inputs: PrepareInputs, counter: TokenCounter) -> RequestBudget:
    """Return the token budget of a request, with the values from which it was computed."""
    limits = inputs.threshold, inputs.model_limit, inputs.max_output_tokens
    return compute_budget(counter, *limits, inputs.factor)
