"""An immutable list of turns with cached token counts. Slicing it does not copy the turns."""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar, overload

from context.history.tool_pairing import find_acts
from context.history.turns import MeasuredTurn
from context.messages import Message
from context.offload import Offloaded

REMEMBERED_DIGESTS: Final = 4
REMEMBERED_VALUES: Final = 18  # six values of a request, for each of the last starting positions
_MESSAGES: Final = "messages"
_WITHOUT: Final = "without"
_ACTS: Final = "acts"
KEPT_CLAIMS: Final = 64

T = TypeVar("T")


class TurnList(Sequence[MeasuredTurn]):
    """An immutable list of turns with their token counts, oldest first.

    Lists that begin with the same turns share their data, so the tokens of a slice need not be
    counted again.
    """

    __slots__ = ("_start", "_stop", "_store")

    def __init__(self, store: "_Store", start: int, stop: int) -> None:
        self._store = store
        self._start = start
        self._stop = stop

    @classmethod
    def of(cls, turns: Iterable[MeasuredTurn] = ()) -> "TurnList":
        """Build a list of turns. A `TurnList` is returned unchanged."""
        if isinstance(turns, TurnList):
            return turns
        store = _Store(turns)
        return cls(store, 0, len(store.turns))

    def __len__(self) -> int:
        return self._stop - self._start

    @overload
    def __getitem__(self, at: int) -> MeasuredTurn: ...

    @overload
    def __getitem__(self, at: "slice[Any, Any, Any]") -> "TurnList": ...

    def __getitem__(self, at: "int | slice[Any, Any, Any]") -> "MeasuredTurn | TurnList":
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if step != 1:
                return TurnList.of(tuple(self)[at])
            return TurnList(self._store, self._start + start, self._start + max(start, stop))
        place = self._start + at if at >= 0 else self._stop + at
        if not self._start <= place < self._stop:
            raise IndexError("There is no such turn.")
        return self._store.turns[place]

    def __iter__(self) -> Iterator[MeasuredTurn]:
        turns = self._store.turns
        return (turns[at] for at in range(self._start, self._stop))

    def __reversed__(self) -> Iterator[MeasuredTurn]:
        turns = self._store.turns
        return (turns[at] for at in range(self._stop - 1, self._start - 1, -1))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TurnList) and other._place == self._place:
            return True
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"TurnList({list(self)!r})"

    def with_turn(self, turn: MeasuredTurn) -> "TurnList":
        """Return a new list with one more turn at the end."""
        if self._store.append(turn, self._stop):
            return TurnList(self._store, self._start, self._stop + 1)
        return TurnList.of((*self, turn))

    def common(self, other: "TurnList") -> int:
        """Return how many leading turns two lists share because one was built from the other."""
        if other._store is not self._store or other._start != self._start:
            return 0
        return min(len(self), len(other))

    def position(self, entry: str) -> int | None:
        """Return the index of the turn that contains a log entry, or None if no turn does.

        Args:
            entry: the id of the log entry.
        """
        place = self._store.places.get(entry)
        if place is None or not self._start <= place < self._stop:
            return None
        return place - self._start

    def without(self, start: int, stop: int) -> "TurnList":
        """Return the list without a range of its turns.

        Further turns can be appended to the result at little cost.

        Args:
            start: the index of the first turn to leave out.
            stop: the index of the first turn after them.
        """
        if stop <= start:
            return self
        if not start:
            return self[stop:]
        head = self[:start]

        def extend(known: "TurnList | None", turns: Sequence[MeasuredTurn]) -> "TurnList":
            joined = TurnList.of((*head,)) if known is None else known
            for turn in turns:
                joined = joined.with_turn(turn)
            return joined

        return self[stop:].accumulate((_WITHOUT, self._start, start), extend)

    @property
    def tokens(self) -> int:
        """The token count of all turns, minus the tokens saved by merging messages."""
        return self._store.count(self._start, self._stop)

    @property
    def is_last_joined(self) -> bool:
        """Whether the last message is sent as one with the message before it."""
        return bool(self) and self._store.is_joined(self._stop - 1, self._start)

    @property
    def message_count(self) -> int:
        """The number of messages in all turns."""
        return self._store.messages[self._stop] - self._store.messages[self._start]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of all turns, in order."""
        return self.accumulate(_MESSAGES, _add_messages)

    def accumulate(
        self, form: Hashable, extend: "Callable[[T | None, Sequence[MeasuredTurn]], T]"
    ) -> T:
        """Compute a value over all turns, reusing the cached value for the first turns.

        Args:
            form: the cache key. Each `extend` function needs its own key.
            extend: receives the cached value, or None, and the turns that it does not cover.
                Returns the value for all turns.
        """
        value: T = self._store.accumulate(form, self._start, self._stop, extend)
        return value

    @property
    def entries(self) -> "EntryIds":
        """The ids of the log entries of all turns."""
        return EntryIds(self)

    @property
    def offloaded(self) -> Iterator[Offloaded]:
        """References to tool results of these turns that are stored outside of the request."""
        places, turns = self._store.with_stubs, self._store.turns
        for place in places[bisect_left(places, self._start) : bisect_left(places, self._stop)]:
            yield from turns[place].offloaded

    def find_acts(self, reading_tools: frozenset[str]) -> frozenset[str]:
        """Return the ids of the messages with results of tools that may have changed something.

        Args:
            reading_tools: the names of the tools that only read.
        """

        def extend(known: frozenset[str] | None, turns: Sequence[MeasuredTurn]) -> frozenset[str]:
            acts = (find_acts(one.messages, one.turn.read, reading_tools) for one in turns)
            return (known or frozenset()).union(*acts)

        return self.accumulate((_ACTS, reading_tools), extend)

    @property
    def digest(self) -> bytes:
        """A hash of all messages as sent to the model."""
        return self._store.digest(self._start, self._stop)

    @property
    def _place(self) -> tuple[int, int, int]:
        return id(self._store), self._start, self._stop


def _add_messages(
    known: tuple[Message, ...] | None, turns: Sequence[MeasuredTurn]
) -> tuple[Message, ...]:
    return (*(known or ()), *(message for turn in turns for message in turn.messages))


class EntryIds(Sequence[str]):
    """The ids of the log entries of a list of turns, computed on demand."""

    __slots__ = ("_turns",)

    def __init__(self, turns: TurnList) -> None:
        self._turns = turns

    def __len__(self) -> int:
        return sum(len(turn.turn.entry_ids) for turn in self._turns)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: "slice[Any, Any, Any]") -> Sequence[str]: ...

    def __getitem__(self, at: "int | slice[Any, Any, Any]") -> "str | Sequence[str]":
        return tuple(self)[at]

    def __iter__(self) -> Iterator[str]:
        return (entry for turn in self._turns for entry in turn.turn.entry_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class _Store:
    """The turns and cached values shared by lists that begin with the same turns.

    Turns are added, but never removed.
    """

    def __init__(self, turns: Iterable[MeasuredTurn]) -> None:
        self.turns: list[MeasuredTurn] = []
        self.tokens = [0]
        self._merged: list[int] = []
        self.messages = [0]
        self.places: dict[str, int] = {}
        self.with_stubs: list[int] = []
        self._made: dict[tuple[Hashable, int], tuple[int, Any]] = {}
        self._digests: dict[int, tuple[int, hashlib._Hash]] = {}
        self._claims: dict[int, object] = {}
        for turn in turns:
            self._add(turn)

    def append(self, turn: MeasuredTurn, at: int) -> bool:
        """Add a turn to the end of the list if `at` is the list's length.

        Return whether `turn` is now at the index `at`. Return False if another turn has that index,
        or if another thread is adding one.
        """
        if at < len(self.turns) and self.turns[at] is turn:
            return True
        claim = object()
        # Two threads can extend the same session. The one that sets the key first adds the turn.
        if at != len(self.turns) or self._claims.setdefault(at, claim) is not claim:
            return False
        self._add(turn)
        self._claims.pop(at - KEPT_CLAIMS, None)
        return True

    def digest(self, start: int, stop: int) -> bytes:
        """Return a hash of a range of turns. The cached hash of its first turns is reused."""
        reached, known = self._digests.pop(start, (start, hashlib.sha256()))
        if reached > stop:
            reached, known = start, hashlib.sha256()
        for turn in self.turns[reached:stop]:
            known.update(turn.digest)
        result = known.digest()
        self._digests[start] = (stop, known)
        for old in list(self._digests)[:-REMEMBERED_DIGESTS]:
            self._digests.pop(old, None)
        return result

    def accumulate(
        self, form: Hashable, start: int, stop: int, extend: Callable[[Any, Any], Any]
    ) -> Any:
        """Compute a value over a range of turns, reusing the cached value for its first turns.

        Args:
            form: the cache key.
            start: the index of the first turn.
            stop: the index after the last turn.
            extend: receives the cached value, or None, and the turns that it does not cover.
                Returns the value for the whole range.
        """
        key = form, start
        reached, value = self._made.pop(key, (start, None))
        if reached > stop:
            reached, value = start, None
        if reached < stop or value is None:
            value = extend(value, self.turns[reached:stop])
        self._made[key] = stop, value
        for old in list(self._made)[:-REMEMBERED_VALUES]:
            self._made.pop(old, None)
        return value

    def count(self, start: int, stop: int) -> int:
        """Count the tokens of a range of turns, as if the history started with the range.

        Args:
            start: the index of the first turn.
            stop: the index after the last turn.
        """
        if start >= stop:
            return 0
        tokens = self.tokens[stop] - self.tokens[start] + self._merged[start]
        following = start + 1
        if self._merged[start] and following < stop and self._merged[following]:
            fresh = self.turns[following].count_merged_with(
                self.turns[start], is_joined=self.is_joined(start, start)
            )
            tokens += self._merged[following] - fresh
        return tokens

    def is_joined(self, place: int, start: int) -> bool:
        """Return whether a turn's last message is sent as one with the message before it.

        Args:
            place: the index of the turn.
            start: the index of the first turn that is sent.
        """
        turn = self.turns[place]
        return turn.is_last_joined(place > start and self._merged[place] > 0)

    def _add(self, turn: MeasuredTurn) -> None:
        place = len(self.turns)
        if turn.offloaded:
            self.with_stubs.append(place)
        self.places.update(dict.fromkeys(turn.turn.entry_ids, place))
        is_joined = bool(place) and self.is_joined(place - 1, 0)
        merged = turn.count_merged_with(self.turns[-1], is_joined=is_joined) if place else 0
        self._merged.append(merged)
        self.tokens.append(self.tokens[-1] + turn.tokens - merged)
        self.messages.append(self.messages[-1] + len(turn.messages))
        self.turns.append(turn)


def find_guaranteed_turn(turns: Sequence[MeasuredTurn]) -> int:
    """Return the index of the last answered turn, or of the last turn if none was answered."""
    for at in range(len(turns) - 1, -1, -1):
        if turns[at].turn.is_complete:
            return at
    return max(0, len(turns) - 1)


def count_summaries(turns: Sequence[MeasuredTurn]) -> int:
    """Return how many turns at the start hold a summary of all that was said before: 1 or 0.

    A compaction or an imported log adds this summary as a message that belongs to no turn. Its id
    is that of its log entry, while messages that a hook adds have ids with a colon.
    """
    return int(bool(turns) and any(is_summary(turns[0], one) for one in turns[0].messages))


def is_summary(turn: MeasuredTurn, message: Message) -> bool:
    """Return whether a message is the summary of earlier turns.

    Args:
        turn: the turn that contains the message.
    """
    is_added = turn.turn.user is None and not turn.turn.later_entries
    return is_added and message.role == "user" and message.id is not None and ":" not in message.id
