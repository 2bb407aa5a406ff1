"""The inputs of a request, and the ports to everything outside of `context`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

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
    """The request for a summary of old turns.

    Attributes:
        said: the turns before trimming, oldest first; an earlier summary comes first.
        sent: the same turns as the session's requests begin with them, so that a provider has
            them in its cache; empty if requests do not begin with them.
        preamble: tools and instructions of the session.
        request_budget: the budget of each call.
        most_tokens: the maximum length of the summary.
        instructions: the user's instructions for the summary.
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
        """The turns of `sent` that are trimmed or cleared, in full, with their tool calls."""
        counter = self.preamble.counter
        pairs = zip(self.sent, self.said, strict=False)
        return tuple(_restore_turn(sent, said, counter) for sent, said in pairs if sent != said)

    @property
    def turns(self) -> tuple[MeasuredTurn, ...]:
        """The turns in the call: as sent, followed by the full form of shortened ones."""
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
        names: the tools that are left out.
        promoted: the tools that were left out before, until the model found them.
        at_start: how many tools were left out when the turn began.
    """

    names: tuple[str, ...] = ()
    promoted: frozenset[str] = frozenset()
    at_start: int = 0

    def add_note(self, notes: str) -> str:
        """Add the note for the model, which stays the same within a turn, to its other notes."""
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
        clean_after: tool results older than this number of turns are shortened first.
        can_summarise: whether a model can summarise; otherwise an outline is built.
    """

    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    can_summarise: bool = True


@dataclass(frozen=True)
class PrepareInputs:
    """The inputs of one request.

    Attributes:
        model_limit: the model's own input limit; `None` if it is not known.
        path: the active path. It ends with this turn's user message and segments, stored or not,
            followed by the tool calls and results so far.
        turn: the id of this turn.
        request: the number of the request in its turn, from 1; later ones keep the turn's context.
        tools: the tools that can be run.
        factor: the divisor of the session's budget so far, from reported usage.
        previous: the previous request on this path, or its neutral body.
        instructions: the system parts that were written in notes, for the report; the id of each
            segment is the name of its part.
        takes_marks: whether the provider takes cache marks; `None` decides by the model's name.
        unsent: attachments of which nothing fits the budget, for the report.
        summary_instructions: the user's instructions for summaries.
        deferral: the tools that are left out.
        history_policy: when to trim and compact; None leaves everything to the guard.
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
    instructions: tuple[Segment, ...] = ()
    unsent: tuple[Segment, ...] = ()
    deferral: ToolDeferral = ToolDeferral()


@dataclass(frozen=True)
class Ports:
    """The functions and objects outside of `context` that the pipeline calls.

    Attributes:
        append: writes entries to the log, in one write.
        hooks: the user's hooks; they run only when a request is sent or a turn has ended.
        resolve: returns the current state of an attached or cited source. Without it nothing is
            carried forward, since the source might be excluded by now.
        cancel: checked before hooks run, and passed to them.
        summarise: summarises with a model. Without it, or if it fails, an outline is built.
        breaker: remembers compactions that freed nothing.
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
        """Build the context of a request, with its budget computed."""
        return cls(inputs, ports, compute_request_budget(inputs, ports.counter))

    @property
    def counter(self) -> TokenCounter:
        """The token counter of the request."""
        return self.ports.counter

    @property
    def budget_tokens(self) -> int:
        """The maximum tokens of the request."""
        return self.budget.budget

    @property
    def epoch(self) -> Epoch:
        """The budget and the model, to which stored trims and drops are bound."""
        return Epoch(self.budget_tokens, self.inputs.model)


def compute_request_budget(inputs: PrepareInputs, counter: TokenCounter) -> RequestBudget:
    """Return the budget of a request, with the values that it was computed from."""
    limits = inputs.threshold, inputs.model_limit, inputs.max_output_tokens
    return compute_budget(counter, *limits, inputs.factor)
