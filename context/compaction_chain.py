"""The compaction of a history: clear old results, summarise old turns, leave out what is too much.

Each step runs only while the history is above its target. What comes out are entries, so nothing
has happened until they are stored; a compaction that frees nothing comes to nothing.

Source: "Context Management Enhancements", 3 and 7; "Context Engineering Optimization", 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context.compaction import CompactResult, ConversationSignals, find_safe_split
from context.errors import SummaryFailed
from context.history import fit_turns, guaranteed
from context.measured import MeasuredTurn
from context.messages import Message, ToolResultPart
from context.outline import outline
from context.shorter import cleaned
from context.summaries import Maker, Summarise, SummaryTask, check_summary
from context.tokens import TokenCounter, count_message

TARGET: Final = 0.66

CLEAR: Final = "clear_tool_results"
SUMMARISE: Final = "summarise"
OUTLINE: Final = "outline"
TRUNCATE: Final = "truncate"


@dataclass(frozen=True)
class Order:
    """What a compaction is to do.

    Attributes:
        shown: the turns as they are sent now, oldest first.
        said: the same turns as they were said.
        resting: older turns that are not sent, but are summarised with the others.
        continues: whether the chat's requests begin with `shown`.
        target: what they may take afterwards.
        is_forced: whether everything before the last complete turn becomes a summary, whatever
            there is room for.
        is_foretold: whether a model would make the summary, of which an outline gives the size.
        pinned: messages that stay as they are.
        task: how a summary is asked for, its turns still to be named.
    """

    shown: tuple[MeasuredTurn, ...]
    said: tuple[MeasuredTurn, ...]
    resting: tuple[MeasuredTurn, ...]
    continues: bool
    target: int
    is_forced: bool
    is_foretold: bool
    pinned: frozenset[str]
    task: SummaryTask
    counter: TokenCounter


@dataclass
class Outcome:
    """What a compaction comes to, step by step.

    Attributes:
        turns: the history afterwards, without the summary.
        cleared: the messages whose results are shown by their number of lines, by id.
        summary: the text that stands for the turns before `turns`; empty where there is none.
        drop_to: how many of `turns` are left out as well.
        warnings: why it did not go as it should.
    """

    turns: tuple[MeasuredTurn, ...]
    cleared: dict[str, Message] = field(default_factory=dict)
    summary: str = ""
    by: Maker = "none"
    drop_to: int = 0
    strategies: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def tokens(self, counter: TokenCounter) -> int:
        """Return what the history takes now."""
        summary = count_message(Message("user", self.summary), counter) if self.summary else 0
        return summary + sum(turn.tokens for turn in self.turns[self.drop_to :])


def run_chain(order: Order, summarise: Summarise | None) -> Outcome:
    """Return what the steps of a compaction come to.

    Raises:
        Whatever `summarise` raises beside `SummaryFailed`, as when it is cancelled.
    """
    outcome = Outcome(order.shown)
    if outcome.tokens(order.counter) > order.target:
        _clear(order, outcome)
    if order.is_forced or outcome.tokens(order.counter) > order.target:
        _summarise(order, outcome, summarise)
    if outcome.tokens(order.counter) > order.target:
        _truncate(order, outcome)
    return outcome


def result_of(order: Order, outcome: Outcome) -> CompactResult:
    """Return the figures of a compaction."""
    kept = outcome.turns[outcome.drop_to :]
    return CompactResult(
        sum(turn.tokens for turn in order.shown),
        outcome.tokens(order.counter),
        _message_count(order.shown),
        _message_count(kept) + bool(outcome.summary),
        tuple(outcome.strategies),
    )


def _message_count(turns: Sequence[MeasuredTurn]) -> int:
    return sum(len(turn.messages) for turn in turns)


def _clear(order: Order, outcome: Outcome) -> None:
    """Show the large ones among the oldest results by their number of lines."""
    messages = [message for turn in outcome.turns for message in turn.messages]
    share, least_bytes = ConversationSignals.measure(messages).clearing
    split = find_safe_split(messages, int(len(messages) * share))
    for message in messages[:split]:
        if message.id and message.id not in order.pinned and _is_large(message, least_bytes):
            shorter = cleaned(message, order.counter)
            if shorter is not message:
                outcome.cleared[message.id] = shorter
    if outcome.cleared:
        outcome.turns = tuple(
            _with_messages(turn, outcome.cleared, order.counter) for turn in outcome.turns
        )
        outcome.strategies.append(CLEAR)


def _is_large(message: Message, least_bytes: int) -> bool:
    if isinstance(message.content, str):
        return False
    results = (part.content for part in message.content if isinstance(part, ToolResultPart))
    return any(len(text.encode("utf-8", "surrogatepass")) >= least_bytes for text in results)


def _with_messages(
    turn: MeasuredTurn, changed: dict[str, Message], counter: TokenCounter
) -> MeasuredTurn:
    if not any(message.id in changed for message in turn.messages):
        return turn
    messages = [changed.get(message.id or "", message) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _summarise(order: Order, outcome: Outcome, summarise: Summarise | None) -> None:
    """Let a summary stand for the oldest turns: a model's, else an outline."""
    cut = _cut(order, outcome)
    old = outcome.turns[:cut]
    if not any(turn.turn.user is not None for turn in old):
        return
    said = (*order.resting, *order.said[:cut])
    task = replace(order.task, said=said, sent=order.shown[:cut] if order.continues else ())
    text, by = _by_model(task, old, outcome, summarise, order.counter), SUMMARISE
    if not text:
        text = _by_outline(task, old, outcome, order.counter)
        by = SUMMARISE if order.is_foretold else OUTLINE
    if text:
        outcome.turns, outcome.summary = outcome.turns[cut:], text
        outcome.by = "model" if by == SUMMARISE else "outline"
        outcome.strategies.append(by)


def _cut(order: Order, outcome: Outcome) -> int:
    """How many of the oldest turns have to go, so that what stays fits with a summary."""
    last = guaranteed(outcome.turns)
    if order.is_forced:
        return last
    tokens = order.task.most_tokens + sum(turn.tokens for turn in outcome.turns)
    for cut, turn in enumerate(outcome.turns[:last]):
        if tokens <= order.target:
            return cut
        tokens -= turn.tokens
    return last


def _by_model(
    task: SummaryTask,
    old: Sequence[MeasuredTurn],
    outcome: Outcome,
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


def _by_outline(
    task: SummaryTask, old: Sequence[MeasuredTurn], outcome: Outcome, counter: TokenCounter
) -> str:
    most = min(task.most_tokens, sum(turn.tokens for turn in old) - 1)
    try:
        return check_summary(outline(task.said, most, counter), old, most, counter)
    except SummaryFailed as failure:
        outcome.warnings.append(str(failure))
        return ""


def _truncate(order: Order, outcome: Outcome) -> None:
    """Leave whole turns out, the oldest first, but never the last complete one."""
    summary = outcome.tokens(order.counter) - sum(turn.tokens for turn in outcome.turns)
    fitted = fit_turns(outcome.turns, order.target - summary)
    if fitted.dropped:
        outcome.drop_to = len(fitted.dropped)
        outcome.strategies.append(TRUNCATE)
