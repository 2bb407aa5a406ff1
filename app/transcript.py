"""A chat as it is read: what was asked, what was answered, what is no longer sent."""

from dataclasses import dataclass

from chains.citations import Citation, Unverified
from context.layers import Segment


@dataclass(frozen=True)
class UserItem:
    """What the user wrote.

    Attributes:
        entry: its place in the log.
        time: ISO 8601, UTC.
    """

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class AnswerItem:
    """An answer with the sources it was given.

    Attributes:
        status: complete, interrupted, limit or error.
        sources: the passages that were sent with the question, numbered.
        seconds: from the question to the end of the answer; None where it cannot be told.
    """

    entry: str
    text: str
    time: str
    model: str
    status: str
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    sources: tuple[Segment, ...]
    seconds: float | None


@dataclass(frozen=True)
class DroppedItem:
    """The turns above this line are not sent any more.

    Attributes:
        turns: how many turns above are left out in all.
        tokens: what leaving them out saved.
    """

    turns: int
    tokens: int
    reason: str


TranscriptItem = UserItem | AnswerItem | DroppedItem


@dataclass(frozen=True)
class Transcript:
    """A whole chat, from its first message to its last."""

    title: str
    items: tuple[TranscriptItem, ...]
