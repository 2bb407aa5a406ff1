"""Build turns from log entries. A turn is a user message with its answers.

The entries stay unchanged. Repairs are made in the messages, such as adding a result for an
interrupted tool call.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

from context.history.tool_pairing import (
    READS_ONLY,
    complete_tool_calls,
    is_final,
    list_tool_results,
    make_interruption,
    mark_interrupted,
    remove_reasoning,
)
from context.layers import Segment
from context.log.entries import (
    CustomMessageEntry,
    Entry,
    MessageEntry,
    SegmentsEntry,
    is_question,
)
from context.messages import NO_FIELDS, Message, is_merged
from context.offload import Offloaded, read_stub
from context.tokens import TokenCounter, count_merged, count_message

# The custom type of a hidden message that asks the model to continue an answer that broke off.
CONTINUATION: Final = "continuation"

TurnEntry = MessageEntry | CustomMessageEntry


@dataclass(frozen=True)
class LoggedTurn:
    """A user message with its answers and segments.

    Attributes:
        entry_ids: the ids of the turn's log entries, in order.
        user: the user message. It is None only for messages before the first user message.
        later_entries: the entries after the user message: answers, tool results, and messages added
            by hooks.
        segments: the pieces of context that are sent with the turn.
        stored_fields: other data stored with the segments. Older versions of Strata stored it with
            the user message.
    """

    turn_id: str
    entry_ids: tuple[str, ...]
    user: MessageEntry | None
    later_entries: tuple[TurnEntry, ...] = ()
    segments: tuple[Segment, ...] = ()
    stored_fields: Mapping[str, object] = NO_FIELDS

    @property
    def answers(self) -> tuple[MessageEntry, ...]:
        """The log entries of the turn's assistant messages and tool results."""
        return tuple(entry for entry in self.later_entries if isinstance(entry, MessageEntry))

    @property
    def read(self) -> frozenset[str]:
        """The ids of the tool results of which the log says that the tool only reads."""
        return frozenset(entry.id for entry in self.answers if entry.extra.get(READS_ONLY) is True)

    @property
    def is_complete(self) -> bool:
        """Whether the turn has a final answer with text."""
        return any(
            is_final(answer.message) and answer.message.text.strip() for answer in self.answers
        )

    @property
    def is_ended(self) -> bool:
        """Whether the turn ends with a final answer that the model was not asked to continue."""
        newest_entries = (
            one for one in reversed(self.later_entries) if _is_answer(one) or is_continuation(one)
        )
        last = next(newest_entries, None)
        return isinstance(last, MessageEntry) and is_final(last.message)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the turn as later turns repeat them, without this turn's context."""
        return self.close_turn(self.shown)

    @cached_property
    def shown(self) -> tuple[Message, ...]:
        """The messages of the turn before hooks or compactions change them.

        Interrupted answers are marked.
        """
        question = () if self.user is None else (self.user.message,)
        return (*question, *(_show_entry(entry) for entry in self.later_entries))

    def close_turn(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages of the turn with missing tool results added.

        If the turn has no final answer, a message that marks the interruption is added at the end.
        """
        sealed = complete_tool_calls(messages)
        if self.user is None or self.is_ended:
            return sealed
        return (*sealed, make_interruption(sealed[-1] if sealed else self.user.message))

    def is_sent_with(self, entry: SegmentsEntry) -> bool:
        """Return whether a log entry with segments belongs to this turn."""
        return self.user is not None and self.turn_id == entry.turn_id

    def with_segments(self, entry: SegmentsEntry) -> "LoggedTurn":
        """Return a copy of the turn with its segments replaced by those of a later log entry."""
        ids, stored_fields = (*self.entry_ids, entry.id), entry.extra or self.stored_fields
        return replace(self, entry_ids=ids, segments=entry.segments, stored_fields=stored_fields)

    def with_entry(self, entry: TurnEntry) -> "LoggedTurn":
        """Return a copy of the turn with one more log entry."""
        ids, entries = (*self.entry_ids, entry.id), (*self.later_entries, entry)
        return LoggedTurn(self.turn_id, ids, self.user, entries, self.segments, self.stored_fields)


def begin_turn(entry: TurnEntry, waiting: SegmentsEntry | None = None) -> LoggedTurn:
    """Start a turn with its first log entry.

    Args:
        entry: the log entry, usually a user message.
        waiting: segments that were stored before the entry, or None. They are added if they belong
            to the turn.
    """
    if isinstance(entry, CustomMessageEntry):
        return LoggedTurn("", (entry.id,), None, (entry,))
    own = waiting if waiting is not None and waiting.turn_id == entry.turn_id else None
    ids, segments = ((entry.id,), ()) if own is None else ((own.id, entry.id), own.segments)
    if entry.message.role == "user":
        return LoggedTurn(entry.turn_id, ids, entry, (), segments, entry.extra)
    return LoggedTurn(entry.turn_id, ids, None, (entry,), segments)


def list_turns(path: Iterable[Entry]) -> tuple[LoggedTurn, ...]:
    """Return the turns in the log entries of a branch, oldest first.

    A turn's segments are stored after its user message. Older versions of Strata stored them before
    it. If a turn was regenerated, it has several entries with segments, and the last one applies.
    """
    found: list[LoggedTurn] = []
    waiting: SegmentsEntry | None = None
    for entry in path:
        if isinstance(entry, SegmentsEntry):
            if found and found[-1].is_sent_with(entry):
                found[-1] = found[-1].with_segments(entry)
            waiting = entry
        elif isinstance(entry, MessageEntry | CustomMessageEntry):
            if not found or is_question(entry):
                found.append(begin_turn(entry, waiting))
            else:
                found[-1] = found[-1].with_entry(entry)
            waiting = waiting if isinstance(entry, CustomMessageEntry) else None
    return tuple(found)


def is_continuation(entry: TurnEntry) -> bool:
    """Return whether a log entry asks the model to continue an answer that was cut off."""
    return isinstance(entry, CustomMessageEntry) and entry.custom_type == CONTINUATION


def _is_answer(entry: TurnEntry) -> bool:
    return isinstance(entry, MessageEntry)


def _show_entry(entry: TurnEntry) -> Message:
    """Return the message of a log entry as requests repeat it: a final answer without reasoning."""
    message = entry.message
    if not isinstance(entry, MessageEntry) or not is_final(message):
        return message
    message = remove_reasoning(message)
    return mark_interrupted(message) if entry.status in ("interrupted", "error") else message


@dataclass
class MessageGroup:
    """Consecutive messages of one turn.

    Attributes:
        turn: the index of the turn, or None for messages that the patch of a hook or compaction
            added.
        messages: the messages.
    """

    turn: int | None
    messages: list[Message] = field(default_factory=list)


def group_messages(
    messages: Sequence[Message], owners: Mapping[str, int], last: int, question: Message | None
) -> tuple[list[MessageGroup], tuple[Message, ...]]:
    """Group messages by turn, and return the last turn's messages separately.

    Args:
        messages: the messages after a patch.
        owners: the index of the turn that each message id belonged to before the patch.
        last: the index of the last turn. It owns all messages from its first message on.
        question: the user message of the last turn. It is recognised by its content if the patch
            removed its id.
    """
    start = _find_last_turn(messages, owners, last, question)
    groups: list[MessageGroup] = []
    for message in messages[:start]:
        owner = None if message.id is None else owners.get(message.id)
        if not groups or _begins_group(groups[-1], message, owner):
            groups.append(MessageGroup(owner))
        groups[-1].messages.append(message)
    return groups, tuple(messages[start:])


def _find_last_turn(
    messages: Sequence[Message], owners: Mapping[str, int], last: int, question: Message | None
) -> int:
    for at, message in enumerate(messages):
        if message.id is not None and owners.get(message.id) == last:
            return at
    if question is not None:
        for at in range(len(messages) - 1, -1, -1):
            if messages[at].role == "user" and messages[at].content == question.content:
                return at
    return len(messages)


def _begins_group(group: MessageGroup, message: Message, owner: int | None) -> bool:
    if owner is not None:
        return owner != group.turn
    is_answered = any(is_final(earlier) for earlier in group.messages)
    return message.role == "user" and is_answered


@dataclass(frozen=True)
class MeasuredTurn:
    """A turn with its messages as they are sent, and their token count.

    Attributes:
        turn: the turn.
        messages: the messages as they are sent.
        tokens: the token count of the messages.
        counter: counts the tokens again if a message is merged with a message of another turn. None
            if that cannot happen.
    """

    turn: LoggedTurn
    messages: tuple[Message, ...]
    tokens: int
    counter: TokenCounter | None = None

    @classmethod
    def measure(
        cls, turn: LoggedTurn, messages: Sequence[Message], counter: TokenCounter
    ) -> "MeasuredTurn":
        """Return a turn with the token count of the given messages.

        Args:
            messages: the messages of the turn as they are sent.
            counter: counts the tokens.
        """
        tokens = sum(count_message(message, counter) for message in messages)
        joined: tuple[Message, ...] = ()
        for before, after in pairwise(messages):
            tokens -= count_merged(before, after, counter, joined=joined)
            joined = (before, after) if is_merged(before.role, after.role) else ()
        return cls(turn, tuple(messages), tokens, counter)

    def count_merged_with(self, before: "MeasuredTurn", *, is_joined: bool) -> int:
        """Return how many tokens are saved if the first message is merged with the one before it.

        Args:
            before: the previous turn.
            is_joined: whether the last message of `before` is itself merged with the one before it.
        """
        if self.counter is None or not self.messages or not before.messages:
            return 0
        pair = before.messages[-1], self.messages[0]
        joined = pair[:1] if is_joined else ()
        if len(self.messages) > 1 and is_merged(pair[1].role, self.messages[1].role):
            joined = (*joined, pair[1])
        return count_merged(*pair, self.counter, joined=joined)

    def is_last_joined(self, is_first_joined: bool) -> bool:
        """Return whether the turn's last message is sent as one with the message before it.

        Args:
            is_first_joined: whether the turn's first message is merged with the previous turn.
        """
        if len(self.messages) < 2:
            return is_first_joined
        return is_merged(self.messages[-2].role, self.messages[-1].role)

    @cached_property
    def digest(self) -> bytes:
        """A hash of the turn's messages as sent to the model."""
        return b"".join(message.digest for message in self.messages)

    @property
    def offloaded(self) -> tuple[Offloaded, ...]:
        """References to tool results of the turn that are stored outside of the request."""
        results = [part for message in self.messages for part in list_tool_results(message)]
        found = (read_stub(result.content) for result in results)
        return tuple(stub for stub in found if stub is not None) if results else ()
