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
from functools import cached_property, partial
from typing import Final

from context.boundaries import (
    ANEW,
    ANSWERS_TO,
    MODEL,
    TRIMMED_TO,
    Epoch,
    Reach,
    shown_messages,
    shown_turns,
)
from context.entries import TrimEntry
from context.history import guaranteed
from context.inputs import Upkeep
from context.measured import MeasuredTurn
from context.messages import Message
from context.shorter import cleaned, may_be_trimmed, trimmed
from context.tokens import TokenCounter, count_message
from context.trimming import TrimPass, keep_from_index
from context.turn_list import TurnList
from context.view import calls_of, is_final

TARGET: Final = 0.60
# Breaking the cache has to pay: where the target is out of reach, half of the way to it is asked.
LEAST_SHARE_OF_WAY: Final = 0.5
# A compaction breaks more of it, and forgets more, so that it is spared for less.
LEAST_SHARE_BEFORE_COMPACTION: Final = 0.3

REACHED: Final = "threshold"
UNREACHED: Final = "target_unreachable"
COMPACTED: Final = "compaction"


@dataclass(frozen=True)
class Line:
    """The messages that trimming looks at, in the order of the wire, as they were said.

    Attributes:
        history: the earlier turns, less those that rest left out.
        question: of the turn in progress, never touched; None between turns.
        work: of that turn.
    """

    history: TurnList
    question: Message | None
    work: tuple[Message, ...]
    pinned: frozenset[str]
    counter: TokenCounter

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All of them."""
        question = () if self.question is None else (self.question,)
        return (*self.history.messages, *question, *self.work)

    def shown(self, reach: Reach) -> tuple[Message, ...]:
        """Return the messages as they are sent within that reach."""
        return tuple(
            message if message.id in self.pinned else reach.form(at, message, self.counter)
            for at, message in enumerate(self.messages)
        )

    def shown_parts(self, reach: Reach) -> tuple[TurnList, tuple[Message, ...]]:
        """Return the history and the work as they are sent within that reach."""
        history = shown_turns(self.history, reach, self.pinned, self.counter)
        start = len(self.messages) - len(self.work)
        return history, shown_messages(self.work, start, reach, self.pinned, self.counter)

    def start_of_turn(self, age: int) -> int:
        """Return the position of the first message that is not older than so many turns."""
        return self.history[: max(0, len(self.history) - age)].message_count

    @property
    def latest_batch(self) -> int:
        """The position of the latest calls of this turn; without any, that of its question."""
        start = self.history.message_count
        for at in range(len(self.messages) - 1, start, -1):
            if calls_of(self.messages[at]):
                return at
        return start

    def first_kept_answer(self, keep_last: int) -> int:
        """Return the position of the first answer that is never trimmed.

        Args:
            keep_last: how many of the newest answers that goes for, beside the last complete turn.
        """
        last = guaranteed(self.history)
        end = at = self.history[:last].message_count
        kept = sum(_has_answer(turn) for turn in self.history[last:])
        for turn in reversed(self.history[:last]):
            if kept >= keep_last:
                return end
            at -= len(turn.messages)
            if _has_answer(turn):
                kept, end = kept + 1, at
        return end if kept >= keep_last else 0

    def entry_at(self, at: int) -> str:
        """Return the first entry at or behind a position; nothing made up is an entry."""
        names = (message.id for message in self.messages[at:])
        return next((name for name in names if name is not None and ":" not in name), "")


@dataclass(frozen=True, slots=True)
class Trim:
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

    def entry(self, place: tuple[str, str | None, str], epoch: Epoch) -> TrimEntry:
        """Return the trim as it is stored."""
        extra: dict[str, object] = {MODEL: epoch.model, TRIMMED_TO: self.trimmed_to}
        if self.answers_to:
            extra[ANSWERS_TO] = self.answers_to
        if self.reason == COMPACTED:
            extra[ANEW] = True
        sizes = self.before, self.after
        return TrimEntry(*place, self.up_to, *sizes, self.reason, epoch.budget, extra)


def plan_trim(
    line: Line,
    beside: int,
    budget: int,
    upkeep: Upkeep,
    start: Reach,
    *,
    has_answers: bool,
    least_share: float = LEAST_SHARE_OF_WAY,
) -> Trim | None:
    """Return how far to trim from here on; `None` where the boundary rests.

    Args:
        beside: the tokens that requests hold beside these messages, as far as that lasts.
        start: how far is trimmed already.
        has_answers: whether answers may be trimmed too.
        least_share: how much of the way to its target it has to cover where that is out of reach.
    """
    target = int(budget * TARGET) - beside
    most = int(budget * upkeep.policy.trim_at) - beside
    run = _pass(line, start, target)
    before = run.tokens
    if before <= most:
        return None
    reach = _reach(line, run, upkeep, start, has_answers, most)
    freed, way = before - run.tokens, before - target
    if freed <= 0 or (run.is_over and freed < way * least_share):
        return None
    return _trim(line, reach, before, run.tokens, UNREACHED if run.is_over else REACHED)


def plan_anew(line: Line, reach: Reach, target: int) -> tuple[Reach, Trim]:
    """Decide again how far the turns that a compaction kept are trimmed.

    Where they fit as they were said, nothing of them is. Otherwise the boundary stays: what would
    come back at the head of the history would be trimmed again soon, and break the cache there.

    Args:
        line: what was kept, as it was said.
        reach: how far it is trimmed otherwise; answers are left as they are.
        target: what the messages may take together.
    """
    before = _size(line, line.messages)
    if before <= target:
        return Reach(), _trim(line, Reach(), before, before, COMPACTED)
    return reach, _trim(line, reach, before, _size(line, line.shown(reach)), COMPACTED)


def _size(line: Line, messages: Iterable[Message]) -> int:
    return sum(count_message(message, line.counter) for message in messages)


def _pass(line: Line, start: Reach, target: int) -> TrimPass:
    measure = partial(count_message, counter=line.counter)
    return TrimPass(line.shown(start), target, measure=measure, safety=1.0)


def _trim(line: Line, reach: Reach, before: int, after: int, reason: str) -> Trim:
    up_to = line.entry_at(max(reach.cleaned, reach.trimmed))
    trimmed_to = line.entry_at(reach.trimmed)
    answers_to = line.entry_at(reach.answers) if reach.answers else ""
    return Trim(up_to, trimmed_to, answers_to, before, after, reason)


def _reach(
    line: Line, run: TrimPass, upkeep: Upkeep, start: Reach, has_answers: bool, most: int
) -> Reach:
    """Clean what is old, then trim, then trim what is protected if there is no other way."""
    end = line.latest_batch
    protected = min(end, keep_from_index(line.messages, upkeep.keep_last))
    is_old = min(protected, line.start_of_turn(upkeep.clean_after))
    cleaned_to = run.trim_until_under(start.cleaned, is_old, partial(_cleaned, line))
    answers_to, first = start.answers, start.trimmed
    if has_answers:
        kept = min(protected, line.first_kept_answer(upkeep.keep_last))
        answers_to = run.trim_until_under(start.answers, kept, partial(_trimmed, line, True))
        first = max(first, answers_to)
    trim = partial(_trimmed, line, False)
    trimmed_to = run.trim_until_under(first, protected, trim)
    if run.tokens > most:
        trimmed_to = max(trimmed_to, run.trim_until_under(max(first, protected), end, trim))
    return Reach(
        max(start.cleaned, cleaned_to),
        max(start.trimmed, trimmed_to),
        max(start.answers, answers_to),
    )


def _has_answer(turn: MeasuredTurn) -> bool:
    return any(is_final(message) for message in turn.messages)


def _cleaned(line: Line, message: Message) -> Message:
    return message if message.id in line.pinned else cleaned(message, line.counter)


def _trimmed(line: Line, has_answers: bool, message: Message) -> Message:
    if message.id in line.pinned or not may_be_trimmed(message, has_answers):
        return message
    return trimmed(message, line.counter)
