"""Define what a request is given: settings, tasks, and the functions that `context` calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from context.assemble.attachments import Resolve
from context.budget import BudgetPolicy, RequestBudget
from context.compaction import CircuitBreaker
from context.draft import Preamble
from context.envelope import CancelPort
from context.exam import FactReader
from context.history.exclusion import FindExcluded, NoteRules, hide_excluded
from context.history.quotes import HiddenNotes
from context.history.read_notes import LoadResult
from context.history.replay import ReplayedPath, replay_path
from context.history.turns import MeasuredTurn
from context.hooks import HookRegistry
from context.log.entries import Entry
from context.messages import list_tool_calls
from context.tokens import TokenCounter


@dataclass(frozen=True)
class SummaryTask:
    """The inputs of a model's summary of old turns.

    Attributes:
        full_turns: the turns with their full text, oldest first. An earlier summary comes before
            them.
        sent: the same turns as they appear at the start of the session's requests, so that the
            provider can reuse its prompt cache. Empty if the requests start with other turns.
        preamble: the session's tools and instructions.
        request_budget: the token budget of each call to the model.
        most_tokens: the maximum length of the summary in tokens.
        instructions: the user's instructions for the summary, or an empty string.
        refusal: why the model's first summary was refused, or an empty string.
    """

    full_turns: tuple[MeasuredTurn, ...]
    sent: tuple[MeasuredTurn, ...]
    preamble: Preamble
    request_budget: RequestBudget
    model: str
    session: str | None
    most_tokens: int
    instructions: str = ""
    refusal: str = ""

    @property
    def continues(self) -> bool:
        """Whether the model call can start with the same messages as the session's requests."""
        return bool(self.sent)

    @property
    def shortened(self) -> tuple[MeasuredTurn, ...]:
        """The full text of the turns that are shortened in `sent`."""
        counter = self.preamble.counter
        pairs = zip(self.sent, self.full_turns, strict=False)
        return tuple(
            _restore_turn(sent, full_turn, counter)
            for sent, full_turn in pairs
            if sent != full_turn
        )

    @property
    def turns(self) -> tuple[MeasuredTurn, ...]:
        """The turns to summarise: as they were sent, then those that were shortened in full."""
        return (*self.sent, *self.shortened) if self.continues else self.full_turns


# Returns the text of a summary, or raises SummaryFailed.
Summarise = Callable[[SummaryTask], str]


def _restore_turn(
    sent: MeasuredTurn, full_turn: MeasuredTurn, counter: TokenCounter
) -> MeasuredTurn:
    pairs = zip(sent.messages, full_turn.messages, strict=True)
    messages = [full for shown, full in pairs if shown != full or list_tool_calls(full)]
    return MeasuredTurn.measure(full_turn.turn, messages, counter)


DEFERRED_NOTE: Final = "[{count} tools deferred to save context. Use tool_search to find them.]"


@dataclass(frozen=True, slots=True)
class ToolDeferral:
    """The tools that requests omit to save tokens until the model finds them with `tool_search`.

    Attributes:
        names: the names of the tools that this request omits.
        promoted: the names of tools that the model has found. They are sent from then on.
        at_start: how many tools were omitted when the turn began.
    """

    names: tuple[str, ...] = ()
    promoted: frozenset[str] = frozenset()
    at_start: int = 0

    def add_note(self, notes: str) -> str:
        """Append a line with the number of omitted tools to the notes for the model.

        The line gives the number at the start of the turn, so that it stays the same during the
        turn. If no tools were omitted, the notes are unchanged.

        Args:
            notes: the notes, or an empty string.
        """
        if not self.at_start:
            return notes
        note = DEFERRED_NOTE.format(count=f"{self.at_start:,}")
        return f"{notes}\n{note}" if notes else note


@dataclass(frozen=True, slots=True)
class HistoryPolicy:
    """Settings that keep the history within its token budget.

    Attributes:
        policy: the fractions of the token budget at which old content is shortened.
        auto_compact: whether old turns are summarised automatically.
        keep_last: how many of the newest assistant messages are shortened only if shortening all
            older ones does not free enough tokens.
        clean_after: the age in turns at which tool results are shortened before any other text.
        can_summarise: whether a model is available for summaries. Otherwise an outline is built.
    """

    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    can_summarise: bool = True


@dataclass(frozen=True)
class GivenSummary:
    """A summary that the user reviewed, and may have edited, before it is stored.

    Attributes:
        text: the summary, which is stored unchanged.
        by: how the first version was produced: by a model (`model`), or as an outline made without
            a model (`outline`).
        is_edited: whether the user has changed that version.
    """

    text: str
    by: Literal["model", "outline"]
    is_edited: bool = False


def _load_nothing(_ref_id: str) -> None:
    return None


@dataclass(frozen=True)
class Ports:
    """The functions and objects outside of `context` that are called to build a request.

    Attributes:
        counter: counts the tokens.
        append: writes entries to the session log in one write.
        new_id: returns a new id for a log entry.
        now: returns the current time in ISO 8601 and UTC.
        hooks: the registered hooks. They run only for sent requests and finished turns.
        resolve: returns the current state of an attached or cited source. Without it, no source of
            an earlier turn is sent again, because the source may have been excluded since.
        cancel: the cancel token, which is checked before each hook and passed to it.
        summarise: summarises turns with a model. If it is missing or fails, an outline is built.
        breaker: stops compactions after several attempts in a row freed no tokens.
        find_excluded: returns those of the given paths whose notes models may not read now. If
            None, no note is excluded.
        facts: reads the facts by which summaries are examined. If None, none is examined.
        searches_notes: whether the chat searches notes, with each question or by a tool.
        load_result: returns a tool result that is stored outside of the log, or None.
        hidden_notes: looks up the notes that models may not read now, or None.
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
    find_excluded: FindExcluded | None = None
    facts: FactReader | None = None
    searches_notes: bool = False
    load_result: LoadResult = _load_nothing
    hidden_notes: HiddenNotes | None = None

    def replay(self, path: tuple[Entry, ...]) -> ReplayedPath:
        """Replay the log entries of a branch, without what they hold of excluded notes."""
        reading = replay_path(path, self.counter)
        if self.find_excluded is None:
            return reading
        rules = NoteRules(self.find_excluded, self.load_result, self.hidden_notes)
        return hide_excluded(reading, rules)

    @classmethod
    def build_for_call(cls, counter: TokenCounter) -> "Ports":
        """Build the ports of a single call outside of any turn, which stores nothing."""
        return cls(counter, append=lambda _: None, new_id=str, now=str)
