"""Where the trims and drops of a path reach, and what requests show before that.

A boundary is the id of the first entry that stays as it is; positions are derived from it. It
binds as long as its epoch lasts: a larger budget or another model begins a new one, in which what
it left out may come back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from context.history.measured_turn import MeasuredTurn
from context.history.shorten import cleaned, may_be_trimmed, trimmed
from context.history.turn_list import TurnList
from context.log.entries import DropEntry, TrimEntry
from context.messages import Message
from context.tokens import TokenCounter, count_message

MODEL: Final = "model"
TRIMMED_TO: Final = "trimmedUpToEntryId"
ANSWERS_TO: Final = "answersUpToEntryId"
ANSWERS: Final = "answers"  # of earlier trims: the answers up to TRIMMED_TO are trimmed too
ANEW: Final = "anew"  # a trim that was decided after a compaction replaces the trims before it

Boundary = DropEntry | TrimEntry


@dataclass(frozen=True, slots=True)
class Epoch:
    """While these stay the same, boundaries only move forward."""

    budget: int
    model: str

    def binds(self, boundary: Boundary) -> bool:
        """Return whether what was decided then holds now."""
        is_large = boundary.budget is None or boundary.budget >= self.budget
        return self.is_of(boundary) and is_large

    def is_of(self, boundary: Boundary) -> bool:
        """Return whether it was decided for the model of this epoch."""
        return boundary.extra.get(MODEL) in (None, self.model)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far into a list of messages the trims of an epoch reach, as positions.

    Attributes:
        cleaned: before it, results are shown by their number of lines at the most.
        trimmed: before it, results and what was said around them are `[trimmed]`.
        answers: before it, last words are `[trimmed]` as well.
    """

    cleaned: int = 0
    trimmed: int = 0
    answers: int = 0

    def join(self, other: "Reach") -> "Reach":
        """Return the further of both."""
        return Reach(
            max(self.cleaned, other.cleaned),
            max(self.trimmed, other.trimmed),
            max(self.answers, other.answers),
        )

    def after(self, gone: int) -> "Reach":
        """Return the reach once so many of the oldest messages are gone; answers are in full."""
        return Reach(max(0, self.cleaned - gone), max(0, self.trimmed - gone))

    def form(self, at: int, message: Message, counter: TokenCounter) -> Message:
        """Return what stands for the message at a position."""
        if at < self.trimmed and may_be_trimmed(message, at < self.answers):
            return trimmed(message, counter)
        return cleaned(message, counter) if at < self.cleaned else message


def reach_of(trims: Sequence[TrimEntry], messages: Sequence[Message]) -> Reach:
    """Return how far trims reach into the messages; all of them have to bind."""
    if not trims:
        return Reach()
    cleaned_to = {trim.up_to_entry_id for trim in trims}
    trimmed_to = {trimmed_up_to(trim) for trim in trims}
    answers_to = {name for trim in trims if (name := answers_up_to(trim)) is not None}
    return Reach(*(_furthest(ids, messages) for ids in (cleaned_to, trimmed_to, answers_to)))


def trimmed_up_to(trim: TrimEntry) -> str:
    """Return before which entry a trim left nothing but `[trimmed]`."""
    found = trim.extra.get(TRIMMED_TO)
    return found if isinstance(found, str) else trim.up_to_entry_id


def answers_up_to(trim: TrimEntry) -> str | None:
    """Return before which entry the answers are trimmed too; None where no answer is."""
    found = trim.extra.get(ANSWERS_TO)
    if isinstance(found, str):
        return found
    return trimmed_up_to(trim) if trim.extra.get(ANSWERS) else None


def standing_trims(trims: tuple[TrimEntry, ...], new: TrimEntry) -> tuple[TrimEntry, ...]:
    """Return the trims that hold once a new one is stored; one decided anew stands alone."""
    return (new,) if new.extra.get(ANEW) else (*trims, new)


def resting_cut(drops: Iterable[DropEntry], turns: Sequence[MeasuredTurn], epoch: Epoch) -> int:
    """Return how many of the oldest turns the drops of this path leave out."""
    known = TurnList.of(turns)
    binding = (known.position(drop.up_to_entry_id) for drop in drops if epoch.binds(drop))
    return max((at for at in binding if at is not None), default=0)


def shown_turns(
    turns: TurnList, reach: Reach, pinned: frozenset[str], counter: TokenCounter
) -> TurnList:
    """Return the turns as they are shown within that reach; pinned messages stay as they are."""
    furthest = max(reach.cleaned, reach.trimmed)
    if not furthest:
        return turns
    shown: list[MeasuredTurn] = []
    start = 0
    for place, turn in enumerate(turns):
        if start >= furthest:
            return TurnList.of((*shown, *turns[place:]))
        shown.append(_shown_turn(turn, start, reach, pinned, counter))
        start += len(turn.messages)
    return TurnList.of(shown)


def shown_messages(
    messages: Sequence[Message],
    start: int,
    reach: Reach,
    pinned: frozenset[str],
    counter: TokenCounter,
) -> tuple[Message, ...]:
    """Return messages as they are shown; `start` is the position of the first."""
    return tuple(
        message if message.id in pinned else reach.form(at, message, counter)
        for at, message in enumerate(messages, start)
    )


def _shown_turn(
    turn: MeasuredTurn, start: int, reach: Reach, pinned: frozenset[str], counter: TokenCounter
) -> MeasuredTurn:
    messages = shown_messages(turn.messages, start, reach, pinned, counter)
    pairs = [pair for pair in zip(turn.messages, messages, strict=True) if pair[0] is not pair[1]]
    if not pairs:
        return turn
    freed = sum(count_message(a, counter) - count_message(b, counter) for a, b in pairs)
    return MeasuredTurn(turn.turn, messages, turn.tokens - freed, turn.counter)


def _furthest(ids: set[str], messages: Sequence[Message]) -> int:
    positions = range(len(messages) - 1, -1, -1) if ids else ()
    return next((at for at in positions if messages[at].id in ids), 0)
