"""Plan which messages of the history and of the current tool calls to shorten.

When more of the token budget is used than `BudgetPolicy.trim_at` allows, messages are shortened
until 60 percent is used: the oldest tool results, and the text around tool calls, are replaced with
`[trimmed]`. After that, no more messages are shortened for many turns. Final answers are needed for
summaries, so they are shortened only if no compaction can run. The newest answers and the latest
tool results are never shortened. The newest assistant messages are shortened last. After a
compaction, a new plan is made for the remaining turns.

Reasons: ARCHITECTURE.md, "Trimming".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from context.assemble.inputs import HistoryPolicy
from context.history.boundaries import (
    ANEW,
    ANSWERS_TO,
    MODEL,
    TRIMMED_TO,
    Epoch,
    TrimInput,
    TrimOffsets,
)
from context.history.shorten import can_be_trimmed, clean_message, trim_message
from context.log.entries import TrimEntry
from context.messages import Message
from context.tokens import count_message
from context.trimming import TrimPass, keep_from_index

TARGET: Final = 0.60
# Breaking the cache must be worth it: if the target cannot be reached, half of the way is needed.
LEAST_SHARE_OF_WAY: Final = 0.5
# A compaction breaks more of the cache and loses more text, so a smaller gain is enough.
LEAST_SHARE_BEFORE_COMPACTION: Final = 0.3

REACHED: Final = "threshold"
UNREACHED: Final = "target_unreachable"
COMPACTED: Final = "compaction"


@dataclass(frozen=True, slots=True)
class PlannedTrim:
    """A plan to shorten old messages that frees enough tokens to justify losing the prompt cache.

    Attributes:
        up_to: the id of the first log entry that stays unchanged.
        trimmed_to: the id of the first log entry that is not replaced with `[trimmed]`.
        answers_to: the id of the first answer that stays in full, or an empty string if all answers
            do.
        before: the token count before the messages are shortened.
        after: the token count after the messages are shortened.
        reason: `threshold` if the plan reaches its token target, `target_unreachable` if it does
            not, or `compaction` if it follows a compaction.
    """

    up_to: str
    trimmed_to: str
    answers_to: str
    before: int
    after: int
    reason: str

    def make_entry(self, place: tuple[str, str | None, str], epoch: Epoch) -> TrimEntry:
        """Build the log entry that stores which messages are shortened.

        Args:
            place: the entry's id, parent id and timestamp.
            epoch: the model and token budget for which the plan is valid.
        """
        extra: dict[str, object] = {MODEL: epoch.model, TRIMMED_TO: self.trimmed_to}
        if self.answers_to:
            extra[ANSWERS_TO] = self.answers_to
        if self.reason == COMPACTED:
            extra[ANEW] = True
        sizes = self.before, self.after
        return TrimEntry(*place, self.up_to, *sizes, self.reason, epoch.budget, extra=extra)


def plan_trim(
    trim_input: TrimInput,
    fixed_tokens: int,
    budget: int,
    history_policy: HistoryPolicy,
    start: TrimOffsets,
    *,
    has_answers: bool,
    least_share: float = LEAST_SHARE_OF_WAY,
) -> PlannedTrim | None:
    """Plan which further messages to shorten, or return None if none should be shortened.

    Args:
        trim_input: the messages before any text was shortened.
        fixed_tokens: the token count of everything else in the request, such as tools.
        budget: the token limit of the request.
        history_policy: the fractions of the budget, and how many new messages to protect.
        start: the indexes up to which the messages are already shortened.
        has_answers: whether final answers may be shortened too.
        least_share: the fraction of the excess tokens that must be freed if the target cannot be
            reached. Otherwise nothing is planned.
    """
    target = int(budget * TARGET) - fixed_tokens
    most = int(budget * history_policy.policy.trim_at) - fixed_tokens
    run = _start_pass(trim_input, start, target)
    before = run.tokens
    if before <= most:
        return None
    offsets = _find_offsets(trim_input, run, history_policy, start, has_answers, most)
    freed, way = before - run.tokens, before - target
    if freed <= 0 or (run.is_over and freed < way * least_share):
        return None
    return _make_trim(
        trim_input, offsets, before, run.tokens, UNREACHED if run.is_over else REACHED
    )


def plan_trim_after_compaction(
    trim_input: TrimInput, offsets: TrimOffsets, target: int
) -> tuple[TrimOffsets, PlannedTrim]:
    """Plan which messages to shorten in the turns that remain after a compaction.

    If the turns fit completely, no message is shortened. Otherwise the same messages stay shortened
    as before, because restoring some of them would only invalidate the prompt cache and soon be
    undone.

    Args:
        trim_input: the remaining turns, before any text was shortened.
        offsets: the indexes up to which messages are shortened if the turns do not fit. Answers are
            kept in full.
        target: the token limit for all messages together.
    """
    before = _count_tokens(trim_input, trim_input.messages)
    if before <= target:
        return TrimOffsets(), _make_trim(trim_input, TrimOffsets(), before, before, COMPACTED)
    return offsets, _make_trim(
        trim_input, offsets, before, _count_tokens(trim_input, trim_input.shown(offsets)), COMPACTED
    )


def _count_tokens(trim_input: TrimInput, messages: Iterable[Message]) -> int:
    return sum(count_message(message, trim_input.counter) for message in messages)


def _start_pass(trim_input: TrimInput, start: TrimOffsets, target: int) -> TrimPass:
    measure = partial(count_message, counter=trim_input.counter)
    return TrimPass(trim_input.shown(start), target, measure=measure, safety=1.0)


def _make_trim(
    trim_input: TrimInput, offsets: TrimOffsets, before: int, after: int, reason: str
) -> PlannedTrim:
    up_to = trim_input.find_entry_at(max(offsets.cleaned, offsets.trimmed))
    trimmed_to = trim_input.find_entry_at(offsets.trimmed)
    answers_to = trim_input.find_entry_at(offsets.answers) if offsets.answers else ""
    return PlannedTrim(up_to, trimmed_to, answers_to, before, after, reason)


def _find_offsets(
    trim_input: TrimInput,
    run: TrimPass,
    history_policy: HistoryPolicy,
    start: TrimOffsets,
    has_answers: bool,
    most: int,
) -> TrimOffsets:
    end = trim_input.latest_batch
    protected = min(end, keep_from_index(trim_input.messages, history_policy.keep_last))
    is_old = min(protected, trim_input.start_of_turn(history_policy.clean_after))
    cleaned_to = run.trim_until_under(start.cleaned, is_old, partial(_clean, trim_input))
    answers_to, first = start.answers, start.trimmed
    if has_answers:
        kept = min(protected, trim_input.find_first_kept_answer(history_policy.keep_last))
        answers_to = run.trim_until_under(
            start.answers, kept, partial(_trim_message, trim_input, True)
        )
        first = max(first, answers_to)
    trim = partial(_trim_message, trim_input, False)
    trimmed_to = run.trim_until_under(first, protected, trim)
    if run.tokens > most:
        trimmed_to = max(trimmed_to, run.trim_until_under(max(first, protected), end, trim))
    return TrimOffsets(
        max(start.cleaned, cleaned_to),
        max(start.trimmed, trimmed_to),
        max(start.answers, answers_to),
    )


def _clean(trim_input: TrimInput, message: Message) -> Message:
    return (
        message if message.id in trim_input.spared else clean_message(message, trim_input.counter)
    )


def _trim_message(trim_input: TrimInput, has_answers: bool, message: Message) -> Message:
    if message.id in trim_input.spared or not can_be_trimmed(message, has_answers):
        return message
    return trim_message(message, trim_input.counter)
