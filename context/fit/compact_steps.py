"""The compaction of a history: clear old results, summarise old turns, leave out what is too much.

Each step runs only while the history is above its target. What comes out are entries, so nothing
has happened until they are stored; a compaction that frees nothing comes to nothing.

Source: "Context Management Enhancements", 3 and 7; "Context Engineering Optimization", 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context.assemble.inputs import Summarise, SummaryTask
from context.compaction import CompactResult, ConversationSignals, find_safe_split
from context.errors import SummaryFailed
from context.fit.drop import fit_turns
from context.fit.summaries import Maker, check_summary, make_outline
from context.history.boundaries import clean_message
from context.history.turn_list import find_guaranteed_turn
from context.history.turns import MeasuredTurn
from context.messages import Message, ToolResultPart
from context.tokens import TokenCounter, count_message

TARGET: Final = 0.66

CLEAR: Final = "clear_tool_results"
SUMMARISE: Final = "summarise"
OUTLINE: Final = "outline"
TRUNCATE: Final = "truncate"


@dataclass(frozen=True)
class CompactionPlan:
    """What a compaction is to do.

    Attributes:
        shown: the turns as they are sent now, oldest first.
        kept_as: the same turns as they are kept, where they are: with their answers in full.
        said: the same turns as they were said.
        resting: older turns that are not sent, but are summarised with the others.
        continues: whether the chat's requests begin with `shown`.
        target: what they may take afterwards.
        is_whole: whether everything before the last complete turn becomes a summary, whatever
            there is room for.
        is_foretold: whether a model would make the summary, of which an outline gives the size.
        pinned: messages that stay as they are.
        task: how a summary is asked for, its turns still to be named.
    """

    shown: tuple[MeasuredTurn, ...]
    kept_as: tuple[MeasuredTurn, ...]
    said: tuple[MeasuredTurn, ...]
    resting: tuple[MeasuredTurn, ...]
    continues: bool
    target: int
    is_whole: bool
    is_foretold: bool
    pinned: frozenset[str]
    task: SummaryTask
    counter: TokenCounter

    @property
    def shown_tokens(self) -> int:
        """What the turns take as they are sent now."""
        return sum(turn.tokens for turn in self.shown)


@dataclass
class CompactionOutcome:
    """What a compaction comes to, step by step.

    Attributes:
        turns: the history afterwards, without the summary.
        cleared: the messages whose results are shown by their number of lines, by id.
        summary: the text that stands for the turns before `turns`; empty where there is none.
        summarised: how many turns it stands for.
        drop_to: how many of `turns` are left out as well.
        warnings: why it did not go as it should.
    """

    turns: tuple[MeasuredTurn, ...]
    cleared: dict[str, Message] = field(default_factory=dict)
    summary: str = ""
    by: Maker = "none"
    summarised: int = 0
    drop_to: int = 0
    strategies: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_attempt(self) -> bool:
        """Whether anything was tried, a summary that was not taken included."""
        return bool(self.strategies or self.warnings)

    @property
    def first_kept(self) -> int:
        """How many of the turns that the compaction was given are in requests no more."""
        return self.summarised + self.drop_to

    def summary_tokens(self, counter: TokenCounter) -> int:
        """Return what the summary takes."""
        return count_message(Message("user", self.summary), counter) if self.summary else 0

    def tokens(self, counter: TokenCounter) -> int:
        """Return what the history takes now."""
        kept = sum(turn.tokens for turn in self.turns[self.drop_to :])
        return self.summary_tokens(counter) + kept


def run_steps(order: CompactionPlan, summarise: Summarise | None) -> CompactionOutcome:
    """Return what the steps of a compaction come to.

    Raises:
        Whatever `summarise` raises beside `SummaryFailed`, as when it is cancelled.
    """
    outcome = CompactionOutcome(order.kept_as)
    if outcome.tokens(order.counter) > order.target:
        _clear(order, outcome)
    if order.is_whole or outcome.tokens(order.counter) > order.target:
        _summarise(order, outcome, summarise)
    if outcome.tokens(order.counter) > order.target:
        _truncate(order, outcome)
    return outcome


def make_result(
    order: CompactionPlan, outcome: CompactionOutcome, after_tokens: int
) -> CompactResult:
    """Return the figures of a compaction; what it comes to is known once trims are decided anew."""
    kept = outcome.turns[outcome.drop_to :]
    return CompactResult(
        order.shown_tokens,
        after_tokens,
        _count_messages(order.shown),
        _count_messages(kept) + bool(outcome.summary),
        tuple(outcome.strategies),
    )


def _count_messages(turns: Sequence[MeasuredTurn]) -> int:
    return sum(len(turn.messages) for turn in turns)


def _clear(order: CompactionPlan, outcome: CompactionOutcome) -> None:
    """Show large old results by their number of lines, from the oldest on until the target."""
    messages = [message for turn in outcome.turns for message in turn.messages]
    share, least_bytes = ConversationSignals.measure(messages).clearing
    split = find_safe_split(messages, int(len(messages) * share))
    over = outcome.tokens(order.counter) - order.target
    for message in messages[:split]:
        if over <= 0:
            break
        shorter = message
        if message.id not in order.pinned and _is_large(message, least_bytes):
            shorter = clean_message(message, order.counter)
        if message.id and shorter is not message:
            outcome.cleared[message.id] = shorter
            over -= count_message(message, order.counter) - count_message(shorter, order.counter)
    if outcome.cleared:
        outcome.turns = tuple(
            replace_messages(turn, outcome.cleared, order.counter) for turn in outcome.turns
        )
        outcome.strategies.append(CLEAR)


def _is_large(message: Message, least_bytes: int) -> bool:
    if isinstance(message.content, str):
        return False
    results = (part.content for part in message.content if isinstance(part, ToolResultPart))
    return any(len(text.encode("utf-8", "surrogatepass")) >= least_bytes for text in results)


def replace_messages(
    turn: MeasuredTurn, changed: dict[str, Message], counter: TokenCounter
) -> MeasuredTurn:
    """Return a turn with other messages in the place of those with the same ids."""
    if not any(message.id in changed for message in turn.messages):
        return turn
    messages = [changed.get(message.id or "", message) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _summarise(
    order: CompactionPlan, outcome: CompactionOutcome, summarise: Summarise | None
) -> None:
    """Let a summary stand for the oldest turns: a model's, else an outline."""
    cut = _count_summarised(order, outcome)
    old = outcome.turns[:cut]
    if not any(turn.turn.user is not None for turn in old):
        return
    said = (*order.resting, *order.said[:cut])
    task = replace(order.task, said=said, sent=order.shown[:cut] if order.continues else ())
    text, by = _summarise_by_model(task, old, outcome, summarise, order.counter), SUMMARISE
    if not text:
        text = _summarise_by_outline(task, old, outcome, order.counter)
        by = SUMMARISE if order.is_foretold else OUTLINE
    if text:
        outcome.turns, outcome.summary, outcome.summarised = outcome.turns[cut:], text, cut
        outcome.by = "model" if by == SUMMARISE else "outline"
        outcome.strategies.append(by)


def _count_summarised(order: CompactionPlan, outcome: CompactionOutcome) -> int:
    """How many of the oldest turns have to go, so that what stays fits with a summary."""
    last = find_guaranteed_turn(outcome.turns)
    if order.is_whole:
        return last
    tokens = order.task.most_tokens + sum(turn.tokens for turn in outcome.turns)
    for cut, turn in enumerate(outcome.turns[:last]):
        if tokens <= order.target:
            return cut
        tokens -= turn.tokens
    return last


def _summarise_by_model(
    task: SummaryTask,
    old: Sequence[MeasuredTurn],
    outcome: CompactionOutcome,
    summarise: Summarise | None,
    counter: TokenCounter,
) -> str:
    if summarise is None:
        return ""
    try:
        return check_summary(summarise(task), old, task.most_tokens, counter)
    except SummaryFailed as failure:
        outcome.warnings.append(f"{failure} An outline stands in its place.")
        return ""


def _summarise_by_outline(
    task: SummaryTask,
    old: Sequence[MeasuredTurn],
    outcome: CompactionOutcome,
    counter: TokenCounter,
) -> str:
    most = min(task.most_tokens, sum(turn.tokens for turn in old) - 1)
    try:
        return check_summary(make_outline(task.said, most, counter), old, most, counter)
    except SummaryFailed as failure:
        outcome.warnings.append(str(failure))
        return ""


def _truncate(order: CompactionPlan, outcome: CompactionOutcome) -> None:
    """Leave whole turns out, the oldest first, but never the last complete one."""
    summary = outcome.summary_tokens(order.counter)
    fitted = fit_turns(outcome.turns, order.target - summary)
    if fitted.dropped:
        outcome.drop_to = len(fitted.dropped)
        outcome.strategies.append(TRUNCATE)
