"""What a request is made from, and what the making needs from outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from context.assemble.attachments import Resolve
from context.assemble.request import Preamble, RequestDraft
from context.budget import BudgetPolicy, RequestBudget, compute_budget
from context.compaction import CircuitBreaker
from context.envelope import CancelPort, SystemPart
from context.history.turns import MeasuredTurn
from context.hooks import HookRegistry
from context.layers import Segment
from context.log.entries import Entry
from context.messages import ToolDefinition, list_tool_calls
from context.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class PreviousQuestion:
    """The question of the previous request: its text, and whether it is being worked on still."""

    text: str | None = None
    is_same_turn: bool = False


@dataclass(frozen=True)
class SummaryTask:
    """The old turns that a summary is to stand for.

    Attributes:
        said: as they were said, oldest first; an earlier summary stands at their head.
        sent: the same turns as the chat's requests begin with them, so that a provider has them at
            hand; empty where they do not.
        preamble: tools and instructions of the chat.
        room: the budget that each call has to keep to.
        most_tokens: how long the summary may be.
        instructions: what the user wants to see in it.
    """

    said: tuple[MeasuredTurn, ...]
    sent: tuple[MeasuredTurn, ...]
    preamble: Preamble
    room: RequestBudget
    model: str
    session: str | None
    most_tokens: int
    instructions: str = ""

    @property
    def continues(self) -> bool:
        """Whether a call can begin as the chat's requests do."""
        return bool(self.sent)

    @property
    def shortened(self) -> tuple[MeasuredTurn, ...]:
        """What is trimmed or cleared in `sent`, as it was said, with the calls of those turns."""
        counter = self.preamble.counter
        pairs = zip(self.sent, self.said, strict=False)
        return tuple(_restore_turn(sent, said, counter) for sent, said in pairs if sent != said)

    @property
    def turns(self) -> tuple[MeasuredTurn, ...]:
        """What a call holds of them, so that nothing that was said is missing in it."""
        return (*self.sent, *self.shortened) if self.continues else self.said


# Returns the text of a summary, or raises SummaryFailed.
Summarise = Callable[[SummaryTask], str]


def _restore_turn(sent: MeasuredTurn, said: MeasuredTurn, counter: TokenCounter) -> MeasuredTurn:
    pairs = zip(sent.messages, said.messages, strict=True)
    messages = [full for shown, full in pairs if shown != full or list_tool_calls(full)]
    return MeasuredTurn.measure(said.turn, messages, counter)


@dataclass(frozen=True, slots=True)
class HistoryPolicy:
    """How a history is kept within its room before the guard has to leave anything out.

    Attributes:
        auto_compact: whether old turns become a summary without being asked.
        keep_last: how many of the newest assistant messages are trimmed last.
        clean_after: results of tools older than so many turns are the first to shrink.
        can_summarise: whether a model is there for it; an outline stands in otherwise.
    """

    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    can_summarise: bool = True


@dataclass(frozen=True)
class PrepareInputs:
    """What a request is made from.

    Attributes:
        model_limit: the model's own input limit; `None` where it is not known.
        path: the active path, this turn's segments and user message at its end, also where they
            are not stored yet; in a tool loop the calls and results so far behind them.
        turn: the id of this turn.
        request: from 1 on; from the second on, the context of the turn is what it was.
        tools: those that can be run.
        factor: what the session's budget is divided by so far, where usage was reported.
        previous: the previous request on this path, or its neutral body.
        instructions: what of the system parts somebody wrote in a note, each with the part's name
            as its id, for the report.
        takes_marks: whether the provider is told where its cache may end; by the model's name
            where it is not said.
        unsent: attachments of which nothing is sent, because they have no room; for the report.
        summary_instructions: what the user wants to see in a summary.
        history_policy: how the history is kept within its room; None leaves all of it to the guard.
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


@dataclass(frozen=True)
class Ports:
    """What the pipeline needs from outside.

    Attributes:
        append: writes entries to the log, in one write.
        hooks: the user's code; it runs only when a request is sent.
        resolve: says what has become of something that was attached or cited. Without it nothing
            is carried forward, since it might be excluded by now.
        cancel: looked at before hooks run, and handed on to them.
        summarise: makes a summary with a model. Without it, or where it fails, an outline is made.
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


def compute_request_budget(inputs: PrepareInputs, counter: TokenCounter) -> RequestBudget:
    """Return the budget of a request, and what it comes from."""
    limits = inputs.threshold, inputs.model_limit, inputs.max_output_tokens
    return compute_budget(counter, *limits, inputs.factor)
