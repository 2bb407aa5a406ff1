"""Trimming in the pipeline: how much further the history and the work are shortened, and when.

At eighty percent of the budget, results of tools and what was said around them shrink from the
oldest on, until sixty percent are used, so that the boundary rests for many turns. A turn's last
words are worth more in a summary, so they are touched only where no summary can be made. The newest
messages of the assistant come last, and the results that were just brought in never.

Source: "Budget-Aware Trimming"; "Context Engineering Optimization", 3.5.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from context.boundaries import ANSWERS, MODEL, TRIMMED_TO, Epoch, Reach
from context.entries import TrimEntry
from context.inputs import Upkeep
from context.messages import Message
from context.shorter import cleaned, may_be_trimmed, trimmed
from context.tokens import TokenCounter, count_message
from context.trimming import TrimPass, keep_from_index
from context.turn_list import TurnList
from context.view import calls_of

TARGET: Final = 0.60
# Breaking the cache has to pay: where the target is out of reach, half of the way to it is asked.
LEAST_SHARE_OF_WAY: Final = 0.5
# A compaction breaks more of it, and forgets more, so that it is spared for less.
LEAST_SHARE_BEFORE_COMPACTION: Final = 0.3

REACHED: Final = "threshold"
UNREACHED: Final = "target_unreachable"


@dataclass(frozen=True)
class Line:
    """The messages that trimming looks at, in the order of the wire, as they were said.

    Attributes:
        history: the earlier turns, less those that rest left out.
        question: of the turn in progress; never touched.
        work: of that turn.
    """

    history: TurnList
    question: Message
    work: tuple[Message, ...]
    pinned: frozenset[str]
    counter: TokenCounter

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All of them."""
        return (*self.history.messages, self.question, *self.work)

    def shown(self, reach: Reach) -> tuple[Message, ...]:
        """Return the messages as they are sent within that reach."""
        return tuple(
            message if message.id in self.pinned else reach.form(at, message, self.counter)
            for at, message in enumerate(self.messages)
        )

    def start_of_turn(self, age: int) -> int:
        """Return the position of the first message that is not older than so many turns."""
        return self.history[: max(0, len(self.history) - age)].message_count

    @property
    def latest_batch(self) -> int:
        """The position of the latest calls of tools; without any, that of the question."""
        for at in range(len(self.messages) - 1, -1, -1):
            if calls_of(self.messages[at]) or self.messages[at] is self.question:
                return at
        return 0

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
        before: tokens of the messages so far, and `after` what they come to.
    """

    up_to: str
    trimmed_to: str
    before: int
    after: int
    has_answers: bool
    is_reached: bool

    def entry(self, place: tuple[str, str | None, str], epoch: Epoch) -> TrimEntry:
        """Return the trim as it is stored."""
        extra = {MODEL: epoch.model, TRIMMED_TO: self.trimmed_to, ANSWERS: self.has_answers}
        reason = REACHED if self.is_reached else UNREACHED
        return TrimEntry(*place, self.up_to, self.before, self.after, reason, epoch.budget, extra)


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
        has_answers: whether last words may be trimmed too.
        least_share: how much of the way to its target it has to cover where that is out of reach.
    """
    target = int(budget * TARGET) - beside
    measure = partial(count_message, counter=line.counter)
    run = TrimPass(line.shown(start), target, measure=measure, safety=1.0)
    before = run.tokens
    most = int(budget * upkeep.policy.trim_at) - beside
    if before <= most:
        return None
    reach = _reach(line, run, upkeep, start, has_answers, most)
    freed, way = before - run.tokens, before - target
    if freed <= 0 or (run.is_over and freed < way * least_share):
        return None
    up_to = line.entry_at(max(reach.cleaned, reach.trimmed))
    trimmed_to = line.entry_at(reach.trimmed)
    return Trim(up_to, trimmed_to, before, run.tokens, has_answers, not run.is_over)


def _reach(
    line: Line, run: TrimPass, upkeep: Upkeep, start: Reach, has_answers: bool, most: int
) -> Reach:
    """Clean what is old, then trim, then trim what is protected if there is no other way."""
    end = line.latest_batch
    protected = min(end, keep_from_index(line.messages, upkeep.keep_last))
    is_old = min(protected, line.start_of_turn(upkeep.clean_after))
    clean = partial(_cleaned, line)
    trim = partial(_trimmed, line, has_answers)
    first = start.answers if has_answers else start.trimmed
    cleaned_to = run.trim_until_under(start.cleaned, is_old, clean)
    trimmed_to = run.trim_until_under(first, protected, trim)
    if run.tokens > most:
        trimmed_to = max(trimmed_to, run.trim_until_under(max(first, protected), end, trim))
    answers_to = trimmed_to if has_answers else 0
    return Reach(
        max(start.cleaned, cleaned_to),
        max(start.trimmed, trimmed_to),
        max(start.answers, answers_to),
    )


def _cleaned(line: Line, message: Message) -> Message:
    return message if message.id in line.pinned else cleaned(message, line.counter)


def _trimmed(line: Line, has_answers: bool, message: Message) -> Message:
    if message.id in line.pinned or not may_be_trimmed(message, has_answers):
        return message
    return trimmed(message, line.counter)
