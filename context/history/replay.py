"""Build turns from log entries. An earlier replay of the same session can be continued.

A `context_transform` entry stores the patch of a hook or a compaction. The patch applies to exactly
the messages before the entry, and no hook runs again. Since a log only grows at its end, the next
replay reads only the new entries. The last few results are cached, which affects only speed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from context.envelope import ContextEnvelope, Messages
from context.errors import BadInputs, ContextError
from context.history.boundaries import add_trim
from context.history.memory import Memory
from context.history.pins import NO_PINS, Pins
from context.history.sources import CarriedSources, SourceCollector
from context.history.tool_pairing import complete_tool_calls
from context.history.turn_list import TurnList, count_summaries
from context.history.turns import (
    LoggedTurn,
    MeasuredTurn,
    MessageGroup,
    TurnEntry,
    begin_turn,
    group_messages,
)
from context.log.entries import (
    CustomMessageEntry,
    DropEntry,
    Entry,
    MemoryUpdateEntry,
    MessageEntry,
    PinEntry,
    SegmentsEntry,
    TransformEntry,
    TrimEntry,
    is_question,
)
from context.messages import Message
from context.patches import apply_patch, request_ops
from context.tokens import TokenCounter

REMEMBERED_READINGS: Final = 8
LOOKED_AT_FIRST: Final = 8  # paths mostly differ at their ends
WITHHELD: Final = "withheld"  # the key of the notes that a summary was made without


@dataclass(frozen=True)
class CurrentTurn:
    """The last turn, which may still be in progress.

    Attributes:
        patched: the turn's messages after the last patch of a hook or compaction, or None if there
            was no patch.
        seen: the number of the turn's messages to which the patch applied, including the user
            message.
        memory: the session's memory at the start of the turn.
    """

    turn: LoggedTurn
    memory: Memory
    patched: tuple[Message, ...] | None = None
    seen: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the turn, as sent while the turn is in progress."""
        return complete_tool_calls(self._so_far)

    @property
    def parts(self) -> tuple[tuple[Message, ...], Message, tuple[Message, ...]]:
        """The messages before the user message, the user message, and the messages after it.

        If a patch removed the user message, the original is used.

        Raises:
            BadInputs: when the turn has no user message.
        """
        messages, asked = self.messages, self.turn.user
        if asked is None:
            raise BadInputs("Nothing was asked in this turn.")
        for at, message in enumerate(messages):
            if message.id == asked.id:
                return messages[:at], message, messages[at + 1 :]
        for at in range(len(messages) - 1, -1, -1):
            if (messages[at].role, messages[at].content) == ("user", asked.message.content):
                return messages[:at], messages[at], messages[at + 1 :]
        return (), asked.message, messages

    @property
    def as_history(self) -> tuple[Message, ...]:
        """The messages of the turn, as sent in later turns."""
        return self.turn.messages if self.patched is None else self.turn.close_turn(self._so_far)

    @property
    def _so_far(self) -> tuple[Message, ...]:
        if self.patched is None:
            return self.turn.shown
        return (*self.patched, *self.turn.shown[self.seen :])

    def measure(self, counter: TokenCounter) -> MeasuredTurn:
        """Count the tokens of the turn as if it were complete, and return the measured turn.

        The result is cached per token counter.
        """
        known = self._measured.get(counter)
        if known is None:
            measured = MeasuredTurn.measure(self.turn, self.as_history, counter)
            known = self._measured.setdefault(counter, measured)
        return known

    @cached_property
    def _measured(self) -> dict[TokenCounter, MeasuredTurn]:
        return {}

    def with_entry(self, entry: TurnEntry) -> "CurrentTurn":
        """Return a copy of the turn with one more message."""
        return CurrentTurn(self.turn.with_entry(entry), self.memory, self.patched, self.seen)

    def after_patch(self, messages: Sequence[Message]) -> "CurrentTurn":
        """Return a copy of the turn with its messages replaced by the result of a patch.

        The patch comes from a hook or a compaction.
        """
        return replace(self, patched=tuple(messages), seen=len(self.turn.shown))


@dataclass(frozen=True)
class ReplayedPath:
    """The turns and other state that were rebuilt from the log entries of a branch.

    Attributes:
        before: the log entries that were replayed.
        earlier: all turns except the last one, with their token counts, oldest first.
        open: the last turn, which may be in progress, or None if there is no message.
        waiting: the last log entry with segments, or None if a message has followed it.
        drops: the log entries that leave out old turns.
        trims: the log entries that shorten old messages.
        transforms: the log entries whose patches were applied, in order.
        problems: one sentence for each patch that could not be applied.
        carried: attachments and cited notes from the turns before the last one, for carry-forward.
        summarised: the turns that the summary in `earlier` replaces, as they were before.
        withheld: the notes whose text was left out of these turns when the summary was made.
        excluded: the notes whose text was left out of the turns after the replay.
        withheld_tokens: by how many tokens each message is shorter without it, by message id.
    """

    counter: TokenCounter
    before: tuple[Entry, ...] = ()
    earlier: TurnList = field(default_factory=TurnList.of)
    open: CurrentTurn | None = None
    waiting: SegmentsEntry | None = None
    drops: tuple[DropEntry, ...] = ()
    trims: tuple[TrimEntry, ...] = ()
    pins: Pins = NO_PINS
    transforms: tuple[TransformEntry, ...] = ()
    problems: tuple[str, ...] = ()
    memory: Memory = field(default_factory=Memory)
    carried: CarriedSources = field(default_factory=CarriedSources)
    summarised: TurnList = field(default_factory=TurnList.of)
    withheld: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    withheld_tokens: Mapping[str, int] = field(default_factory=dict)

    @property
    def current(self) -> LoggedTurn | None:
        """The last turn, or None if there are no messages."""
        return None if self.open is None else self.open.turn

    @property
    def turns(self) -> TurnList:
        """All turns. The tokens of the last one are counted as if it were complete."""
        if self.open is None:
            return self.earlier
        return self.earlier.with_turn(self.open.measure(self.counter))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the branch, as changed by the patches of hooks and compactions."""
        return (*self.earlier.messages, *(self.open.messages if self.open else ()))

    def is_begun_by(self, path: tuple[Entry, ...], counter: TokenCounter) -> bool:
        """Return whether a replay of `path` can continue from this replay.

        This is possible if the path starts with the entries of this replay, and the token counter
        is the same.
        """
        count, last = len(self.before), max(0, len(self.before) - LOOKED_AT_FIRST)
        is_likely = self.counter == counter and path[last:count] == self.before[last:]
        return is_likely and path[:count] == self.before


@dataclass
class _ReplayCache:
    readings: tuple[ReplayedPath, ...] = ()


_memory: Final = _ReplayCache()


def replay_path(path: tuple[Entry, ...], counter: TokenCounter) -> ReplayedPath:
    """Replay the log entries of a branch, and count the tokens of its earlier turns."""
    start = _find_known_start(path, counter)
    asked = max(len(start.before), _find_last_question(path))
    before_question = _continue_replay(start, path[:asked])
    reading = _continue_replay(before_question, path)
    others = (
        known for known in _memory.readings if known is not reading and known is not before_question
    )
    _memory.readings = (reading, before_question, *others)[:REMEMBERED_READINGS]
    return reading


def read_withheld(entry: TransformEntry) -> frozenset[str]:
    """Return the notes whose text was left out of the turns of which a summary was made."""
    found = (op.get(WITHHELD, ()) for op in entry.patch)
    return frozenset(str(path) for paths in found if isinstance(paths, tuple) for path in paths)


def apply_request_ops(
    envelope: ContextEnvelope, transforms: Iterable[TransformEntry]
) -> ContextEnvelope:
    """Apply the stored changes of hooks to the instructions, tools and options of an envelope."""
    for transform in transforms:
        if ops := request_ops(transform.patch):
            envelope = apply_patch(envelope, ops).envelope
    return envelope


def replay(
    path: tuple[Entry, ...], base: ContextEnvelope, counter: TokenCounter
) -> ContextEnvelope:
    """Build the envelope (the complete request) for the log entries of a branch.

    Args:
        path: the log entries of the branch.
        base: the instructions, tools and options to start from. Its messages are replaced.
        counter: counts the tokens.
    """
    reading = replay_path(path, counter)
    shaped = apply_request_ops(base, reading.transforms)
    return replace(shaped, messages=Messages(reading.messages))


def _find_known_start(path: tuple[Entry, ...], counter: TokenCounter) -> ReplayedPath:
    longest_first = sorted(_memory.readings, key=lambda known: -len(known.before))
    known = (reading for reading in longest_first if reading.is_begun_by(path, counter))
    return next(known, ReplayedPath(counter))


def _find_last_question(path: tuple[Entry, ...]) -> int:
    """Return the index of the last user message.

    If segments are stored directly before the message, return their index instead.
    """
    at = len(path) - 1
    while at > 0 and not is_question(path[at]):
        at -= 1
    while at > 0 and isinstance(path[at - 1], SegmentsEntry):
        at -= 1
    return max(at, 0)


def _continue_replay(start: ReplayedPath, path: tuple[Entry, ...]) -> ReplayedPath:
    if len(start.before) == len(path):
        return start
    reader = _Replayer(start)
    for at in range(len(start.before), len(path)):
        reader.read(path[at], path[:at] if isinstance(path[at], PinEntry) else ())
    return reader.make_path(path)


class _Replayer:
    """Builds a replayed path from log entries, one by one."""

    def __init__(self, start: ReplayedPath) -> None:
        self._counter = start.counter
        self._earlier = start.earlier
        self._open = start.open
        self._waiting = start.waiting
        self._drops = start.drops
        self._trims = start.trims
        self._pins = start.pins
        self._transforms = list(start.transforms)
        self._problems = list(start.problems)
        self._memory = start.memory
        self._carried = SourceCollector(start.carried)
        self._summarised, self._withheld = start.summarised, start.withheld

    def make_path(self, path: tuple[Entry, ...]) -> ReplayedPath:
        return ReplayedPath(
            counter=self._counter,
            before=path,
            earlier=self._earlier,
            open=self._open,
            waiting=self._waiting,
            drops=self._drops,
            trims=self._trims,
            pins=self._pins,
            transforms=tuple(self._transforms),
            problems=tuple(self._problems),
            memory=self._memory,
            carried=self._carried.collect(),
            summarised=self._summarised,
            withheld=self._withheld,
        )

    def read(self, entry: Entry, before: Sequence[Entry] = ()) -> None:
        """Apply one log entry to the turns and the state.

        Args:
            entry: the log entry.
            before: the path up to the entry, which is needed only if the entry pins something.
        """
        match entry:
            case MessageEntry() | CustomMessageEntry():
                self._say(entry)
            case SegmentsEntry():
                self._send_along(entry)
            case TransformEntry():
                self._transform(entry)
            case DropEntry():
                self._drops = (*self._drops, entry)
            case TrimEntry():
                self._trims = add_trim(self._trims, entry)
            case PinEntry():
                self._pins = self._pins.after(entry, before)
            case MemoryUpdateEntry():
                self._memory = self._memory.after(entry)
            case _:
                pass  # the entry changes nothing that is sent

    def _send_along(self, entry: SegmentsEntry) -> None:
        if self._open is not None and self._open.turn.is_sent_with(entry):
            self._open = replace(self._open, turn=self._open.turn.with_segments(entry))
        self._waiting = entry

    def _say(self, entry: TurnEntry) -> None:
        if self._open is None or is_question(entry):
            self._close()
            self._open = CurrentTurn(begin_turn(entry, self._waiting), self._memory)
        else:
            self._open = self._open.with_entry(entry)
        if isinstance(entry, MessageEntry):
            self._waiting = None

    def _close(self) -> None:
        if self._open is not None:
            self._earlier = self._earlier.with_turn(self._open.measure(self._counter))
            self._carried.add(self._open.turn)

    def _transform(self, entry: TransformEntry) -> None:
        open_messages = self._open.messages if self._open else ()
        before = (*self._earlier.messages, *open_messages)
        envelope = ContextEnvelope(messages=Messages(before))
        try:
            patched = apply_patch(envelope, entry.patch, entry_id=entry.id).envelope
        except ContextError as error:
            self._problems.append(
                f"The transform {entry.transformer_name!r} is passed over: {error}."
            )
            return
        self._transforms.append(entry)
        if patched.messages is not envelope.messages:
            self._regroup(patched.messages.cached, entry)

    def _regroup(self, messages: Sequence[Message], entry: TransformEntry) -> None:
        earlier = self._earlier
        owners = {str(m.id): at for at, turn in enumerate(earlier) for m in turn.messages}
        last, asked = len(earlier), None
        if self._open is not None:
            owners |= {str(m.id): last for m in self._open.messages}
            asked = self._open.turn.user
        question = None if asked is None else asked.message
        groups, rest = group_messages(messages, owners, last, question)
        measured = (self._measure(group, earlier) for group in groups)
        self._earlier = TurnList.of([turn for turn in measured if turn.messages])
        if count_summaries(self._earlier) and 0 not in (kept := {one.turn for one in groups}):
            self._remember_summarised(earlier, kept)
            self._withheld = read_withheld(entry)
        if self._open is not None:
            self._open = self._open.after_patch(rest)
        self._forget_void_boundaries()

    def _remember_summarised(self, before: TurnList, kept: Collection[int | None]) -> None:
        """Remember the turns that a summary has replaced, with those of the summary before it.

        Args:
            before: the turns before the last patch.
            kept: the indexes of those that the patch kept.
        """
        first = count_summaries(before)
        earlier = self._summarised if first else TurnList.of()
        gone = (turn for at, turn in enumerate(before) if at >= first and at not in kept)
        self._summarised = TurnList.of((*earlier, *gone))

    def _forget_void_boundaries(self) -> None:
        entry_ids = set(self._earlier.entries)
        if self._open is not None:
            entry_ids.update(self._open.turn.entry_ids)
        self._drops = tuple(drop for drop in self._drops if drop.up_to_entry_id in entry_ids)
        self._trims = tuple(trim for trim in self._trims if trim.up_to_entry_id in entry_ids)

    def _measure(self, group: MessageGroup, earlier: Sequence[MeasuredTurn]) -> MeasuredTurn:
        """Count the tokens of a group of messages as a turn. Missing tool results are added."""
        messages = complete_tool_calls(group.messages)
        if group.turn is None:
            ids = tuple(message.id for message in messages if message.id is not None)
            return MeasuredTurn.measure(LoggedTurn("", ids, None), messages, self._counter)
        before = earlier[group.turn]
        if before.messages == messages:
            return before
        return MeasuredTurn.measure(before.turn, messages, self._counter)
