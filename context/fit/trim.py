"""Trimming in the pipeline: how much further the history and the work are shortened, and when.

At eighty percent of the budget, results of tools and what was said around them shrink from the
oldest on, until sixty percent are used, so that the boundary rests for many turns. The answers that
end a turn are worth more in a summary: they are trimmed only where no compaction can run, and never
the newest ones. The newest messages of the assistant come last, and the results that were just
brought in never. After a compaction all of this is decided anew for what it kept.

Source: "Budget-Aware Trimming"; "Context Engineering Optimization", 3.5.
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
    can_be_trimmed,
    clean_message,
    trim_message,
)
from context.log.entries import TrimEntry
from context.messages import Message
from context.tokens import count_message
from context.trimming import TrimPass, keep_from_index

TARGET: Final = 0.60
# Breaking the cache has to pay: where the target is out of reach, half of the way to it is asked.
LEAST_SHARE_OF_WAY: Final = 0.5
# A compaction breaks more of it, and forgets more, so that it is spared for less.
LEAST_SHARE_BEFORE_COMPACTION: Final = 0.3

REACHED: Final = "threshold"
UNREACHED: Final = "target_unreachable"
COMPACTED: Final = "compaction"


@dataclass(frozen=True, slots=True)
class PlannedTrim:
    """A trim that is worth its price.

    Attributes:
        up_to: the first entry that stays as it is.
        trimmed_to: the first entry of which more is left than `[trimmed]`.
        answers_to: the first entry whose answers stay; empty where all answers do.
        before: tokens of the messages so far, and `after` what they come to.
        reason: whether the target was reached, or that it was decided after a compaction.
    """

    up_to: str
    trimmed_to: str
    answers_to: str
    before: int
    after: int
    reason: str

    def make_entry(self, place: tuple[str, str | None, str], epoch: Epoch) -> TrimEntry:
        """Return the trim as it is stored."""
        extra: dict[str, object] = {MODEL: epoch.model, TRIMMED_TO: self.trimmed_to}
        if self.answers_to:
            extra[ANSWERS_TO] = self.answers_to
        if self.reason == COMPACTED:
            extra[ANEW] = True
        sizes = self.before, self.after
        return TrimEntry(*place, self.up_to, *sizes, self.reason, epoch.budget, extra=extra)


def plan_trim(
    line: TrimInput,
    beside: int,
    budget: int,
    history_policy: HistoryPolicy,
    start: TrimOffsets,
    *,
    has_answers: bool,
    least_share: float = LEAST_SHARE_OF_WAY,
) -> PlannedTrim | None:
    """Return how far to trim from here on; `None` where the boundary rests.

    Args:
        beside: the tokens that requests hold beside these messages, as far as that lasts.
        start: how far is trimmed already.
        has_answers: whether answers may be trimmed too.
        least_share: how much of the way to its target it has to cover where that is out of reach.
    """
    target = int(budget * TARGET) - beside
    most = int(budget * history_policy.policy.trim_at) - beside
    run = _start_pass(line, start, target)
    before = run.tokens
    if before <= most:
        return None
    reach = _find_offsets(line, run, history_policy, start, has_answers, most)
    freed, way = before - run.tokens, before - target
    if freed <= 0 or (run.is_over and freed < way * least_share):
        return None
    return _make_trim(line, reach, before, run.tokens, UNREACHED if run.is_over else REACHED)


def plan_trim_after_compaction(
    line: TrimInput, reach: TrimOffsets, target: int
) -> tuple[TrimOffsets, PlannedTrim]:
    """Decide again how far the turns that a compaction kept are trimmed.

    Where they fit as they were said, nothing of them is. Otherwise the boundary stays: what would
    come back at the head of the history would be trimmed again soon, and break the cache there.

    Args:
        line: what was kept, as it was said.
        reach: how far it is trimmed otherwise; answers are left as they are.
        target: what the messages may take together.
    """
    before = _count_tokens(line, line.messages)
    if before <= target:
        return TrimOffsets(), _make_trim(line, TrimOffsets(), before, before, COMPACTED)
    return reach, _make_trim(line, reach, before, _count_tokens(line, line.shown(reach)), COMPACTED)


def _count_tokens(line: TrimInput, messages: Iterable[Message]) -> int:
    return sum(count_message(message, line.counter) for message in messages)


def _start_pass(line: TrimInput, start: TrimOffsets, target: int) -> TrimPass:
    measure = partial(count_message, counter=line.counter)
    return TrimPass(line.shown(start), target, measure=measure, safety=1.0)


def _make_trim(
    line: TrimInput, reach: TrimOffsets, before: int, after: int, reason: str
) -> PlannedTrim:
    up_to = line.entry_at(max(reach.cleaned, reach.trimmed))
    trimmed_to = line.entry_at(reach.trimmed)
    answers_to = line.entry_at(reach.answers) if reach.answers else ""
    return PlannedTrim(up_to, trimmed_to, answers_to, before, after, reason)


def _find_offsets(
    line: TrimInput,
    run: TrimPass,
    history_policy: HistoryPolicy,
    start: TrimOffsets,
    has_answers: bool,
    most: int,
) -> TrimOffsets:
    """Clean what is old, then trim, then trim what is protected if there is no other way."""
    end = line.latest_batch
    protected = min(end, keep_from_index(line.messages, history_policy.keep_last))
    is_old = min(protected, line.start_of_turn(history_policy.clean_after))
    cleaned_to = run.trim_until_under(start.cleaned, is_old, partial(_clean, line))
    answers_to, first = start.answers, start.trimmed
    if has_answers:
        kept = min(protected, line.first_kept_answer(history_policy.keep_last))
        answers_to = run.trim_until_under(start.answers, kept, partial(_trim_message, line, True))
        first = max(first, answers_to)
    trim = partial(_trim_message, line, False)
    trimmed_to = run.trim_until_under(first, protected, trim)
    if run.tokens > most:
        trimmed_to = max(trimmed_to, run.trim_until_under(max(first, protected), end, trim))
    return TrimOffsets(
        max(start.cleaned, cleaned_to),
        max(start.trimmed, trimmed_to),
        max(start.answers, answers_to),
    )


def _clean(line: TrimInput, message: Message) -> Message:
    return message if message.id in line.pinned else clean_message(message, line.counter)


def _trim_message(line: TrimInput, has_answers: bool, message: Message) -> Message:
    if message.id in line.pinned or not can_be_trimmed(message, has_answers):
        return message
    return trim_message(message, line.counter)
