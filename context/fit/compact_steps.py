"""The steps of a compaction: clear old tool results, summarise old turns, drop turns.

Each step runs only if the history is still too large. The steps update a `CompactionState`, not the
log. `context.fit.compact` turns the final state into log entries, or discards it if no tokens are
freed.

Reasons: ARCHITECTURE.md, "Compaction".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context.assemble.inputs import GivenSummary, Summarise, SummaryTask
from context.compaction import CompactResult, ConversationSignals, find_safe_split
from context.errors import SummaryFailed, SummaryRefused
from context.exam import LEAST_SHARE, ChangedFact, FactReader, SummaryExam
from context.fit.drop import fit_turns
from context.fit.summaries import (
    Maker,
    check_given_summary,
    check_summary,
    request_summary,
)
from context.fit.summary_exam import SummaryExaminer
from context.fit.summary_list import complete_summary, strike_changed
from context.history.outline import format_summary, make_outline, remove_head
from context.history.shorten import clean_message
from context.history.turn_list import TurnList, count_summaries, find_guaranteed_turn
from context.history.turns import MeasuredTurn
from context.messages import Message, ToolResultPart
from context.tokens import TokenCounter, count_message

TARGET: Final = 0.66

CLEAR: Final = "clear_tool_results"
SUMMARISE: Final = "summarise"
OUTLINE: Final = "outline"
TRUNCATE: Final = "truncate"


@dataclass(frozen=True)
class CompactionInput:
    """The inputs of a compaction.

    Attributes:
        shown: the turns as they are sent now, oldest first.
        kept_as: these turns as the compaction keeps them, with answers in full.
        full_turns: these turns before any text was shortened.
        dropped_turns: older turns that requests no longer contain. The summary covers them too.
        continues: whether the session's requests start with `shown`, so that a call for the summary
            can reuse the provider's prompt cache.
        target: the token limit for the turns after the compaction.
        is_whole: whether to summarise all turns before the last complete one, even if they fit.
        is_foretold: whether this is a preview, which uses an outline in place of a model's summary.
        spared: the ids of messages that must not change.
        task: the instructions for the summarising model, without the turns to summarise.
        given: a finished summary that the user reviewed, or None to generate one.
        facts: reads the facts by which the summary is examined, or None for no exam.
        list_tokens: the token limit of the list that completes the summary.
        others: other texts that requests contain, such as the memory and pinned messages.
        entry_id: the id of the log entry that stores the compaction.
        chat_note: says how to read the turns that the summary replaces, or an empty string.
        searches_notes: whether the chat searches notes, which may say what the summary lost.
    """

    shown: tuple[MeasuredTurn, ...]
    kept_as: tuple[MeasuredTurn, ...]
    full_turns: tuple[MeasuredTurn, ...]
    dropped_turns: tuple[MeasuredTurn, ...]
    continues: bool
    target: int
    is_whole: bool
    is_foretold: bool
    spared: frozenset[str]
    task: SummaryTask
    counter: TokenCounter
    given: GivenSummary | None = None
    facts: FactReader | None = None
    list_tokens: int = 0
    others: tuple[str, ...] = ()
    entry_id: str = ""
    chat_note: str = ""
    searches_notes: bool = False

    @property
    def summary_tokens(self) -> int:
        """The token limit of the summary, with the list that completes it."""
        return self.task.most_tokens + (self.list_tokens if self.facts is not None else 0)

    @property
    def shown_tokens(self) -> int:
        """The token count of the turns as they are sent now."""
        return sum(turn.tokens for turn in self.shown)


@dataclass
class CompactionState:
    """The state of a compaction, updated by each step.

    Attributes:
        turns: the turns that are not summarised.
        cleared: the shortened messages, by id. Their tool results were replaced with line counts.
        summary: the summary of the turns before `turns`, or an empty string if there is none.
        by: how the summary was made: by a `model`, as an `outline` without a model, or `none`.
        is_edited: whether the user edited the summary before it was used.
        summarised: the number of turns that the summary replaces.
        drop_to: how many of `turns` are dropped, starting with the oldest one behind a summary.
        strategies: the names of the steps that changed something.
        warnings: one sentence for each failed summary.
        final_exam: what requests still say of what left them, or None if that was not examined.
        is_asked_again: whether the model was asked for the summary twice.
        is_outline: whether the summary is an outline, also one that stands for a model's.
    """

    turns: tuple[MeasuredTurn, ...]
    cleared: dict[str, Message] = field(default_factory=dict)
    summary: str = ""
    by: Maker = "none"
    is_edited: bool = False
    summarised: int = 0
    drop_to: int = 0
    strategies: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    final_exam: SummaryExam | None = None
    is_asked_again: bool = False
    is_outline: bool = False

    @property
    def is_attempt(self) -> bool:
        """Whether any step of the compaction changed the history or tried to summarise it."""
        return bool(self.strategies or self.warnings)

    @property
    def kept(self) -> tuple[MeasuredTurn, ...]:
        """The turns that are neither summarised nor dropped.

        If no new summary was made, they begin with that of an earlier compaction.
        """
        first = count_summaries(self.turns)
        return (*self.turns[:first], *self.turns[first + self.drop_to :])

    def select_kept(self, turns: TurnList) -> tuple[TurnList, TurnList]:
        """Return the turns of another form of the history that are kept, and the others.

        Args:
            turns: the turns before the compaction.
        """
        first = self.summarised + count_summaries(self.turns)
        end = first + self.drop_to
        if self.summarised:
            return turns[end:], turns[:end]
        return turns.without(first, end), turns[first:end]

    def summary_tokens(self, counter: TokenCounter) -> int:
        """Count the tokens of the summary. The count is 0 if there is no summary."""
        return count_message(Message("user", self.summary), counter) if self.summary else 0

    def tokens(self, counter: TokenCounter) -> int:
        """Count the tokens of the history after the compaction steps so far."""
        kept = sum(turn.tokens for turn in self.kept)
        return self.summary_tokens(counter) + kept


def run_steps(order: CompactionInput, summarise: Summarise | None) -> CompactionState:
    """Run the steps of a compaction, and return the resulting state.

    Args:
        order: the inputs of the compaction.
        summarise: asks a model for a summary, or None to build an outline without a model.

    Raises:
        SummaryFailed: when a given summary cannot be used.
        Exception: any other error that `summarise` raises, such as that of a cancelled call.
    """
    state = CompactionState(order.kept_as)
    if state.tokens(order.counter) > order.target:
        _clear(order, state)
    if order.is_whole or state.tokens(order.counter) > order.target:
        _summarise(order, state, summarise)
    if state.tokens(order.counter) > order.target:
        _truncate(order, state)
    if state.summary and (examiner := _build_examiner(order, state)) is not None:
        exam = examiner.examine(state.summary, may_change=not state.is_outline)
        state.final_exam = replace(exam, is_asked_again=state.is_asked_again)
    return state


def make_result(order: CompactionInput, state: CompactionState, after_tokens: int) -> CompactResult:
    """Build the result of a compaction.

    Args:
        order: the inputs of the compaction.
        state: the state after all steps.
        after_tokens: the final token count of the history.
    """
    return CompactResult(
        order.shown_tokens,
        after_tokens,
        _count_messages(order.shown),
        _count_messages(state.kept) + bool(state.summary),
        tuple(state.strategies),
    )


def _count_messages(turns: Sequence[MeasuredTurn]) -> int:
    return sum(len(turn.messages) for turn in turns)


def _clear(order: CompactionInput, state: CompactionState) -> None:
    """Replace large tool results with their line counts, oldest first, until the turns fit."""
    messages = [message for turn in state.turns for message in turn.messages]
    share, least_bytes = ConversationSignals.measure(messages).clearing
    split = find_safe_split(messages, int(len(messages) * share))
    over = state.tokens(order.counter) - order.target
    for message in messages[:split]:
        if over <= 0:
            break
        shorter = message
        if message.id not in order.spared and _is_large(message, least_bytes):
            shorter = clean_message(message, order.counter)
        if message.id and shorter is not message:
            state.cleared[message.id] = shorter
            over -= count_message(message, order.counter) - count_message(shorter, order.counter)
    if state.cleared:
        state.turns = tuple(
            replace_messages(turn, state.cleared, order.counter) for turn in state.turns
        )
        state.strategies.append(CLEAR)


def _is_large(message: Message, least_bytes: int) -> bool:
    if isinstance(message.content, str):
        return False
    results = (part.content for part in message.content if isinstance(part, ToolResultPart))
    return any(len(text.encode("utf-8", "surrogatepass")) >= least_bytes for text in results)


def replace_messages(
    turn: MeasuredTurn, changed: dict[str, Message], counter: TokenCounter
) -> MeasuredTurn:
    """Return a copy of the turn with some messages replaced.

    Args:
        changed: the new messages, by id.
        counter: counts the tokens of the new messages.
    """
    if not any(message.id in changed for message in turn.messages):
        return turn
    messages = [changed.get(message.id or "", message) for message in turn.messages]
    return MeasuredTurn.measure(turn.turn, messages, counter)


def _summarise(order: CompactionInput, state: CompactionState, summarise: Summarise | None) -> None:
    """Replace the oldest turns with a model's summary, or with an outline made without a model."""
    cut = _count_summarised(order, state)
    old = state.turns[:cut]
    if not any(turn.turn.user is not None for turn in old):
        return
    first = count_summaries(order.full_turns)
    full_turns = (*order.full_turns[:first], *order.dropped_turns, *order.full_turns[first:cut])
    task = replace(
        order.task, full_turns=full_turns, sent=order.shown[:cut] if order.continues else ()
    )
    cut_state = replace(state, turns=state.turns[cut:], summarised=cut)
    examiner = _build_examiner(order, cut_state)
    by = SUMMARISE
    if order.given is not None:
        text = check_given_summary(order.given.text, old, order.summary_tokens, order.counter)
        by = SUMMARISE if order.given.by == "model" else OUTLINE
        state.is_outline = by == OUTLINE
        state.is_edited = order.given.is_edited
    elif not (text := _summarise_by_model(order, task, old, state, summarise, examiner)):
        text = _summarise_by_outline(order, task, old, state, examiner)
        state.is_outline = True
        by = SUMMARISE if order.is_foretold else OUTLINE
    if text:
        state.turns, state.summary, state.summarised = state.turns[cut:], text, cut
        state.by = "model" if by == SUMMARISE else "outline"
        state.strategies.append(by)


def _build_examiner(order: CompactionInput, state: CompactionState) -> SummaryExaminer | None:
    """Build what examines the summary that replaces turns, or return None for no exam."""
    if order.facts is None:
        return None
    first = count_summaries(order.full_turns)
    end = state.summarised + state.drop_to
    leaving = (*order.full_turns[:first], *order.dropped_turns, *order.full_turns[first:end])
    tools = frozenset(tool.name for tool in order.task.preamble.tools)
    has_note = bool(order.chat_note)
    examiner = SummaryExaminer(
        order.facts, leaving, state.kept, order.others, tools, has_note, order.searches_notes
    )
    return examiner.find_same()


def _complete(
    order: CompactionInput,
    old: Sequence[MeasuredTurn],
    text: str,
    examiner: SummaryExaminer | None,
    *,
    may_change: bool,
) -> str:
    """Return a summary with what it lacks, and with a line that says how to read the turns.

    Raises:
        SummaryRefused: nothing is left of the summary without what nobody said.
    """
    if examiner is None:
        return text
    note = f"\n{order.chat_note}" if order.chat_note else ""
    most = min(order.summary_tokens, sum(turn.tokens for turn in old) - 1)
    text = format_summary(remove_head(text))  # a model may copy the note of an earlier summary
    exam = examiner.examine(text, may_change=may_change)
    if changed := exam.changed:
        text = format_summary(_strike(text, changed))
        exam = examiner.examine(text, may_change=may_change)
    if changed or exam.in_request < exam.facts * LEAST_SHARE:
        text = complete_summary(
            text, exam, most - order.counter.count(note), order.counter, examiner.sizes
        )
    fits = count_message(Message("user", f"{text}{note}"), order.counter) <= most
    return f"{text}{note}" if fits else text


def _strike(text: str, changed: Sequence[ChangedFact]) -> str:
    rest = strike_changed(remove_head(text), changed)
    if not rest.strip():
        raise SummaryRefused("The summary says only what nobody said.")
    return rest


def _count_summarised(order: CompactionInput, state: CompactionState) -> int:
    """Return how many old turns to summarise, so that the summary and the other turns fit."""
    last = find_guaranteed_turn(state.turns)
    if order.is_whole:
        return last
    tokens = order.summary_tokens + sum(turn.tokens for turn in state.turns)
    for cut, turn in enumerate(state.turns[:last]):
        if tokens <= order.target:
            return cut
        tokens -= turn.tokens
    return last


def _summarise_by_model(
    order: CompactionInput,
    task: SummaryTask,
    old: Sequence[MeasuredTurn],
    state: CompactionState,
    summarise: Summarise | None,
    examiner: SummaryExaminer | None,
) -> str:
    if summarise is None:
        return ""

    def ask(task: SummaryTask) -> str:
        state.is_asked_again = bool(task.refusal)
        return summarise(task)

    def check(text: str) -> str:
        return check_summary(text, old, task.most_tokens, order.counter)

    try:
        text = request_summary(task, ask, check, examiner)
        return _complete(order, old, text, examiner, may_change=True)
    except SummaryFailed as failure:
        state.warnings.append(f"{failure} An outline stands in its place.")
        return ""


def _summarise_by_outline(
    order: CompactionInput,
    task: SummaryTask,
    old: Sequence[MeasuredTurn],
    state: CompactionState,
    examiner: SummaryExaminer | None,
) -> str:
    most = min(task.most_tokens, sum(turn.tokens for turn in old) - 1)
    try:
        text = check_summary(
            make_outline(task.full_turns, most, order.counter), old, most, order.counter
        )
        return _complete(order, old, text, examiner, may_change=False)
    except SummaryFailed as failure:
        state.warnings.append(str(failure))
        return ""


def _truncate(order: CompactionInput, state: CompactionState) -> None:
    """Drop whole turns, oldest first, but never the last complete turn, nor a summary."""
    summary = state.summary_tokens(order.counter)
    fitted = fit_turns(state.turns, order.target - summary)
    if fitted.dropped:
        state.drop_to = len(fitted.dropped)
        state.strategies.append(TRUNCATE)
