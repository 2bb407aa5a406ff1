"""What a request is made from, and what the making needs from outside."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from context.budget import BudgetPolicy
from context.compaction import CircuitBreaker
from context.draft import Draft
from context.entries import Entry
from context.envelope import CancelPort, SystemPart
from context.hooks import HookRegistry
from context.layers import Segment
from context.messages import ToolDefinition
from context.prior import Resolve
from context.summaries import Summarise
from context.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Upkeep:
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
        upkeep: how the history is kept within its room; None leaves all of it to the guard.
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
    previous: Mapping[str, object] | Draft | None = None
    factor: float | None = None
    warnings: tuple[str, ...] = ()
    takes_marks: bool | None = None
    upkeep: Upkeep | None = None
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
