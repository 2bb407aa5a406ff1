"""From the entries of a log to the turns of a conversation.

Nothing here edits an entry: what is repaired, is repaired in the view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from context.entries import Entry, MessageEntry, SegmentsEntry
from context.layers import Segment
from context.messages import Message, TextPart
from context.tree import EntryTree

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
        entries: a whole log.
        leaf: where the path ends; otherwise at the active leaf.

    Raises:
        UnknownEntry: when `leaf` is not a path entry of the log.
    """
    return EntryTree(entries).path(leaf)


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
