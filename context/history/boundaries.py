"""Apply the trims and drops that the log stores: shorten messages and leave out old turns.

Each trim or drop names the first log entry that stays unchanged. It is valid for one epoch: a
period in which the model stays the same and the token budget does not grow. A larger token budget
or another model starts a new epoch, in which shortened and omitted content may return.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from context.history.shorten import can_be_trimmed, clean_message, trim_message
from context.history.tool_pairing import is_final
from context.history.turn_list import TurnList, count_summaries, find_guaranteed_turn
from context.history.turns import MeasuredTurn
from context.log.entries import DropEntry, TrimEntry
from context.messages import Message, list_tool_calls
from context.tokens import TokenCounter, count_message

MODEL: Final = "model"
TRIMMED_TO: Final = "trimmedUpToEntryId"
ANSWERS_TO: Final = "answersUpToEntryId"
ANSWERS: Final = "answers"  # in earlier trims: the answers up to TRIMMED_TO are trimmed too
ANEW: Final = "anew"  # a trim that was decided after a compaction replaces the previous trims

Boundary = DropEntry | TrimEntry


@dataclass(frozen=True, slots=True)
class Epoch:
    """The token budget and the model for which stored trims and drops are valid.

    While the model stays the same and the budget does not grow, messages that were shortened or
    left out are not restored.
    """

    budget: int
    model: str

    def binds(self, boundary: Boundary) -> bool:
        """Return whether a stored trim or drop applies with this token budget and model."""
        is_large = boundary.budget is None or boundary.budget >= self.budget
        return self.is_of(boundary) and is_large

    def is_of(self, boundary: Boundary) -> bool:
        """Return whether a stored trim or drop was decided with the same model."""
        return boundary.extra.get(MODEL) in (None, self.model)


@dataclass(frozen=True, slots=True)
class TrimOffsets:
    """The indexes up to which the messages of a list are shortened.

    Attributes:
        cleaned: tool results before this index are replaced with line counts, unless they are
            trimmed.
        trimmed: tool results and the text around tool calls before this index become `[trimmed]`.
        answers: final answers before this index become `[trimmed]` as well.
    """

    cleaned: int = 0
    trimmed: int = 0
    answers: int = 0

    def join(self, other: "TrimOffsets") -> "TrimOffsets":
        """Combine two sets of offsets, taking the larger index for each kind of message."""
        return TrimOffsets(
            max(self.cleaned, other.cleaned),
            max(self.trimmed, other.trimmed),
            max(self.answers, other.answers),
        )

    def after(self, gone: int) -> "TrimOffsets":
        """Adjust the offsets after the `gone` oldest messages were removed from the list.

        The remaining answers are not shortened.
        """
        return TrimOffsets(max(0, self.cleaned - gone), max(0, self.trimmed - gone))

    def form(self, at: int, message: Message, counter: TokenCounter) -> Message:
        """Return a message as sent to the model, shortened if its index is before the offsets.

        The oldest messages are replaced with `[trimmed]`. In the messages after them, tool results
        are replaced with their line counts. All other messages are unchanged.

        Args:
            at: the index of the message.
            counter: counts tokens. A message is not replaced if this would make it larger.
        """
        if at < self.trimmed and can_be_trimmed(message, at < self.answers):
            return trim_message(message, counter)
        return clean_message(message, counter) if at < self.cleaned else message


def find_trim_offsets(trims: Sequence[TrimEntry], messages: Sequence[Message]) -> TrimOffsets:
    """Return the indexes up to which messages are shortened.

    Args:
        trims: the log entries that shorten messages, and that apply to the current token budget and
            model.
        messages: all messages of the history.
    """
    if not trims:
        return TrimOffsets()
    cleaned_to = {trim.up_to_entry_id for trim in trims}
    trimmed_to = {find_trimmed_end(trim) for trim in trims}
    answers_to = {name for trim in trims if (name := find_answers_end(trim)) is not None}
    return TrimOffsets(
        *(_find_furthest(ids, messages) for ids in (cleaned_to, trimmed_to, answers_to))
    )


def find_trimmed_end(trim: TrimEntry) -> str:
    """Return the id of the first log entry that a trim entry does not replace with `[trimmed]`."""
    found = trim.extra.get(TRIMMED_TO)
    return found if isinstance(found, str) else trim.up_to_entry_id


def find_answers_end(trim: TrimEntry) -> str | None:
    """Return the id of the first answer that a trim entry keeps in full.

    The result is None if the trim entry keeps all answers in full.
    """
    found = trim.extra.get(ANSWERS_TO)
    if isinstance(found, str):
        return found
    return find_trimmed_end(trim) if trim.extra.get(ANSWERS) else None


def add_trim(trims: tuple[TrimEntry, ...], new: TrimEntry) -> tuple[TrimEntry, ...]:
    """Add a new trim entry to those in effect, and return the result.

    Args:
        trims: the entries in effect before.
        new: the new entry. If it is the first one after a compaction, it replaces all earlier ones.
    """
    return (new,) if new.extra.get(ANEW) else (*trims, new)


def count_dropped_turns(
    drops: Iterable[DropEntry], turns: Sequence[MeasuredTurn], epoch: Epoch
) -> int:
    """Return the number of old turns that requests leave out because of drop entries in the log.

    Args:
        drops: the drop entries.
        turns: all turns, oldest first.
        epoch: the current model and token budget. Drop entries of another epoch are ignored.
    """
    known = TurnList.of(turns)
    binding = (known.position(drop.up_to_entry_id) for drop in drops if epoch.binds(drop))
    return max((at for at in binding if at is not None), default=0)


def split_dropped_turns(
    drops: Iterable[DropEntry], turns: TurnList, epoch: Epoch
) -> tuple[TurnList, TurnList]:
    """Return the turns that requests contain, and those that the log's drop entries leave out.

    The summary of an earlier compaction is never left out. It is no turn, and stands for many.

    Args:
        drops: the drop entries.
        turns: all turns, oldest first.
        epoch: the current model and token budget. Drop entries of another epoch are ignored.
    """
    first, end = count_summaries(turns), count_dropped_turns(drops, turns, epoch)
    return turns.without(first, end), turns[first:end]


def show_turns(
    turns: TurnList, reach: TrimOffsets, spared: frozenset[str], counter: TokenCounter
) -> TurnList:
    """Return turns as sent to the model, with old messages shortened.

    Args:
        reach: the indexes up to which messages are shortened.
        spared: the ids of messages that are not shortened.
    """
    furthest = max(reach.cleaned, reach.trimmed)
    if not furthest:
        return turns
    shown: list[MeasuredTurn] = []
    start = 0
    for place, turn in enumerate(turns):
        if start >= furthest:
            return TurnList.of((*shown, *turns[place:]))
        shown.append(_show_turn(turn, start, reach, spared, counter))
        start += len(turn.messages)
    return TurnList.of(shown)


def show_messages(
    messages: Sequence[Message],
    start: int,
    reach: TrimOffsets,
    spared: frozenset[str],
    counter: TokenCounter,
) -> tuple[Message, ...]:
    """Return messages as sent to the model, with old messages shortened.

    Args:
        start: the index of the first message in the whole list.
        reach: the indexes up to which messages are shortened.
        spared: the ids of messages that are not shortened.
    """
    return tuple(
        message if message.id in spared else reach.form(at, message, counter)
        for at, message in enumerate(messages, start)
    )


def _show_turn(
    turn: MeasuredTurn,
    start: int,
    reach: TrimOffsets,
    spared: frozenset[str],
    counter: TokenCounter,
) -> MeasuredTurn:
    messages = show_messages(turn.messages, start, reach, spared, counter)
    pairs = [pair for pair in zip(turn.messages, messages, strict=True) if pair[0] is not pair[1]]
    if not pairs:
        return turn
    freed = sum(count_message(a, counter) - count_message(b, counter) for a, b in pairs)
    return MeasuredTurn(turn.turn, messages, turn.tokens - freed, turn.counter)


def _find_furthest(ids: set[str], messages: Sequence[Message]) -> int:
    positions = range(len(messages) - 1, -1, -1) if ids else ()
    return next((at for at in positions if messages[at].id in ids), 0)


@dataclass(frozen=True)
class TrimInput:
    """The full messages that may be shortened, in sending order.

    Attributes:
        history: the earlier turns, without those that requests no longer contain.
        question: the user message of the current turn, which is never shortened, or None if no turn
            is in progress.
        work: the tool calls and results of the current turn.
        spared: the ids of messages that are not shortened.
        counter: counts the tokens.
    """

    history: TurnList
    question: Message | None
    work: tuple[Message, ...]
    spared: frozenset[str]
    counter: TokenCounter

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages: the history, the user message, and the tool calls with their results."""
        question = () if self.question is None else (self.question,)
        return (*self.history.messages, *question, *self.work)

    def shown(self, reach: TrimOffsets) -> tuple[Message, ...]:
        """Return the messages as sent to the model, with old messages shortened.

        Args:
            reach: the indexes up to which messages are shortened.
        """
        return tuple(
            message if message.id in self.spared else reach.form(at, message, self.counter)
            for at, message in enumerate(self.messages)
        )

    def list_shown_parts(self, reach: TrimOffsets) -> tuple[TurnList, tuple[Message, ...]]:
        """Return the history, and the tool calls of the current turn, as they are sent.

        Args:
            reach: the indexes up to which messages are shortened.
        """
        history = show_turns(self.history, reach, self.spared, self.counter)
        start = len(self.messages) - len(self.work)
        return history, show_messages(self.work, start, reach, self.spared, self.counter)

    def start_of_turn(self, age: int) -> int:
        """Return the index of the first message of the last `age` turns."""
        return self.history[: max(0, len(self.history) - age)].message_count

    @property
    def latest_batch(self) -> int:
        """The index of the current turn's latest tool calls, or else of its user message."""
        start = self.history.message_count
        for at in range(len(self.messages) - 1, start, -1):
            if list_tool_calls(self.messages[at]):
                return at
        return start

    def find_first_kept_answer(self, keep_last: int) -> int:
        """Return the index from which answers must not be shortened.

        Args:
            keep_last: how many of the newest answers to protect. The last complete turn is always
                protected.
        """
        last = find_guaranteed_turn(self.history)
        end = at = self.history[:last].message_count
        kept = sum(_has_answer(turn) for turn in self.history[last:])
        for turn in reversed(self.history[:last]):
            if kept >= keep_last:
                return end
            at -= len(turn.messages)
            if _has_answer(turn):
                kept, end = kept + 1, at
        return end if kept >= keep_last else 0

    def find_entry_at(self, at: int) -> str:
        """Return the id of the first log entry at or after an index.

        Messages that Strata generated have no log entry and are skipped. If no entry follows, the
        result is an empty string.
        """
        names = (message.id for message in self.messages[at:])
        return next((name for name in names if name is not None and ":" not in name), "")


def _has_answer(turn: MeasuredTurn) -> bool:
    return any(is_final(message) for message in turn.messages)
