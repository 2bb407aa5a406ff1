"""From the entries of a log to the turns of a conversation.

Nothing here edits an entry: what is repaired, is repaired in the view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from context.entries import Entry, MessageEntry, OtherEntry, SegmentsEntry, is_path_entry
from context.errors import UnknownEntry
from context.layers import Segment
from context.messages import Message, TextPart

INTERRUPTED: Final = "[interrupted]"


@dataclass(frozen=True)
class Turn:
    """A user message, what was said in answer to it, and what was sent along.

    Attributes:
        entry_ids: the entries it is made of, in their order.
        user: `None` only for answers that stand before any question.
    """

    turn_id: str
    entry_ids: tuple[str, ...]
    user: MessageEntry | None
    answers: tuple[MessageEntry, ...] = ()
    segments: tuple[Segment, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether something was answered."""
        return any(answer.message.text.strip() for answer in self.answers)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The turn as history: bare user text and answers, an interrupted end marked as such."""
        said = tuple(_as_history(answer) for answer in self.answers)
        if self.user is None:
            return said
        if said:
            return (self.user.message, *said)
        marker = Message("assistant", INTERRUPTED, f"{self.user.id}:interrupted")
        return (self.user.message, marker)


def active_path(entries: Sequence[Entry], leaf: str | None = None) -> tuple[Entry, ...]:
    """Return the path entries from the root to a leaf, in their order.

    Args:
        entries: a whole log. A missing parent is the path entry above, and where an id stands
            twice, the nearest one above is meant.
        leaf: where the path ends; otherwise what the last `leaf` entry names, or the last path
            entry of the log, whichever stands later.

    Raises:
        UnknownEntry: when `leaf` is not a path entry of the log.
    """
    parents, positions = _tree(entries)
    at = _leaf_position(entries, positions) if leaf is None else positions.get(leaf)
    if leaf is not None and at is None:
        raise UnknownEntry(f"There is no message {leaf} in this chat.")
    path: list[Entry] = []
    while at is not None:
        path.append(entries[at])
        at = parents[at]
    return tuple(reversed(path))


def _tree(entries: Sequence[Entry]) -> tuple[dict[int, int | None], dict[str, int]]:
    parents: dict[int, int | None] = {}
    positions: dict[str, int] = {}
    above: int | None = None
    for at, entry in enumerate(entries):
        if is_path_entry(entry):
            root = entry.parent_id is None
            parents[at] = None if root else positions.get(str(entry.parent_id), above)
            positions[entry.id] = above = at
    return parents, positions


def _leaf_position(entries: Sequence[Entry], positions: dict[str, int]) -> int | None:
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if is_path_entry(entry):
            return at
        if isinstance(entry, OtherEntry) and entry.type == "leaf":
            target = entry.data.get("target")
            if target is None:
                return None
            if isinstance(target, str) and target in positions:
                return positions[target]
    return None


@dataclass
class _Gathered:
    turn_id: str
    entry_ids: list[str]
    user: MessageEntry | None = None
    answers: list[MessageEntry] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    def finish(self) -> Turn:
        return Turn(
            self.turn_id,
            tuple(self.entry_ids),
            self.user,
            tuple(self.answers),
            tuple(self.segments),
        )


def turns(path: Iterable[Entry]) -> tuple[Turn, ...]:
    """Return the turns of a path, oldest first; each begins with its segments, if it has any."""
    gathered: list[_Gathered] = []
    waiting: SegmentsEntry | None = None
    for entry in path:
        if isinstance(entry, SegmentsEntry):
            waiting = entry
        elif isinstance(entry, MessageEntry):
            if entry.message.role == "user" or not gathered:
                gathered.append(_begin(entry, waiting))
            else:
                gathered[-1].answers.append(entry)
                gathered[-1].entry_ids.append(entry.id)
            waiting = None
    return tuple(turn.finish() for turn in gathered)


def _begin(entry: MessageEntry, waiting: SegmentsEntry | None) -> _Gathered:
    begun = _Gathered(entry.turn_id, [])
    if waiting is not None and waiting.turn_id == entry.turn_id:
        begun.segments.extend(waiting.segments)
        begun.entry_ids.append(waiting.id)
    begun.entry_ids.append(entry.id)
    if entry.message.role == "user":
        begun.user = entry
    else:
        begun.answers.append(entry)
    return begun


def _as_history(answer: MessageEntry) -> Message:
    if answer.status not in ("interrupted", "error"):
        return answer.message
    content = answer.message.content
    if not isinstance(content, str):
        return replace(answer.message, content=(*content, TextPart(INTERRUPTED)))
    marked = f"{content}\n\n{INTERRUPTED}" if content.strip() else INTERRUPTED
    return replace(answer.message, content=marked)
