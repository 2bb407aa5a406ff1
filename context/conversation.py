"""A path read as turns, continued from where an earlier reading of the same chat ended.

A chat only grows at its end, so reading it again costs what is new. The last few readings are
remembered; a reading depends on the path alone, so forgetting one changes nothing but speed.
"""

from dataclasses import dataclass
from typing import Final

from context.draft import MeasuredTurn
from context.entries import Entry, MessageEntry
from context.replay import Turn, turns
from context.tokens import TokenCounter

REMEMBERED_READINGS: Final = 4


@dataclass(frozen=True)
class Conversation:
    """The turns of a path.

    Attributes:
        before: the entries up to the end of the earlier turns.
        earlier: all turns but the last, measured, oldest first.
        current: the last turn; `None` where nothing was said yet.
    """

    counter: TokenCounter
    before: tuple[Entry, ...] = ()
    earlier: tuple[MeasuredTurn, ...] = ()
    current: Turn | None = None

    def is_begun_by(self, path: tuple[Entry, ...], counter: TokenCounter) -> bool:
        """Return whether these earlier turns are those of the path too."""
        return self.counter == counter and path[: len(self.before)] == self.before


@dataclass
class _Memory:
    readings: tuple[Conversation, ...] = ()


_memory: Final = _Memory()


def read_path(path: tuple[Entry, ...], counter: TokenCounter) -> Conversation:
    """Return the turns of a path, the earlier ones measured with the counter."""
    start = _known_start(path, counter)
    found = turns(path[len(start.before) :])
    if start.before and (not found or found[0].user is None):
        # The path goes on with an answer, which belongs to a turn that seemed to have ended.
        start, found = Conversation(counter), turns(path)
    if not found:
        return Conversation(counter)
    measured = tuple(MeasuredTurn.measure(turn, turn.messages, counter) for turn in found[:-1])
    earlier, current = (*start.earlier, *measured), found[-1]
    reading = Conversation(counter, _before(path, current), earlier, current)
    if measured:
        _memory.readings = (reading, *_memory.readings)[:REMEMBERED_READINGS]
    return reading


def _known_start(path: tuple[Entry, ...], counter: TokenCounter) -> Conversation:
    known = [reading for reading in _memory.readings if reading.is_begun_by(path, counter)]
    return max(known, key=lambda reading: len(reading.before), default=Conversation(counter))


def _before(path: tuple[Entry, ...], current: Turn) -> tuple[Entry, ...]:
    """The entries up to the last message before a turn; what stands between belongs to neither."""
    first = current.user or current.answers[0]
    at = next(at for at in range(len(path) - 1, -1, -1) if path[at] is first)
    while at and not isinstance(path[at - 1], MessageEntry):
        at -= 1
    return path[:at]
