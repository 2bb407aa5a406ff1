"""The transcript of a chat as values, for whoever shows it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final

from app.library.attachments import Selection
from chains.citations.check import Citation, Unverified
from chains.events import Mode, ToolStatus
from context.layers import Segment

MOST_STEP_CHARS: Final = 2_000


@dataclass(frozen=True)
class MessageItem:
    """A message of the user or an answer, with its place among its versions.

    Attributes:
        entry: its id in the log; of a turn that broke off, that of the last message.
        time: ISO 8601, UTC.
        siblings: its versions, itself included, in the order of the log.
        label: the user's name for it.
        is_pinned: whether it is sent word for word whatever else is left out.
    """

    entry: str
    text: str
    time: str
    _: KW_ONLY
    siblings: tuple[str, ...] = ()
    label: str = ""
    is_pinned: bool = False


@dataclass(frozen=True)
class UserItem(MessageItem):
    """A message of the user.

    Attributes:
        mode: None where an older version did not say.
        attach: what was named to be attached.
        sent: what was sent along with it.
    """

    mode: Mode | None = None
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    sent: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class StepItem:
    """A tool that was called on the way to an answer.

    Attributes:
        seconds: how long it took; None where that is not known.
        ref_id: where a large result is kept.
        text: the beginning of its result; empty where there is none.
        said: what the model said before it called; empty where it said nothing.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    status: ToolStatus
    seconds: float | None
    ref_id: str | None
    text: str
    said: str = ""


@dataclass(frozen=True)
class AnswerItem(MessageItem):
    """An answer with the sources it was given.

    Attributes:
        status: complete, interrupted, limit or error.
        sources: what was sent with the question or read by tools, and can be cited by its number.
        seconds: from the question to the end of the answer; None where it cannot be told.
        steps: the tools that were called, in their order.
    """

    model: str
    status: str
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    sources: tuple[Segment, ...]
    seconds: float | None
    steps: tuple[StepItem, ...] = ()


@dataclass(frozen=True)
class CustomItem:
    """A message that a program put into the chat."""

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class DroppedItem:
    """The turns above this line are not sent any more.

    Attributes:
        turns: how many they are.
        tokens: what leaving them out saves.
    """

    turns: int
    tokens: int
    reason: str


@dataclass(frozen=True)
class SummaryItem:
    """What stands above this line is sent as a summary.

    Attributes:
        entry: where that was decided; the chat can be continued from before it.
        after_tokens: None where it was not noted.
        by: model or outline.
    """

    entry: str
    summary: str
    before_tokens: int
    after_tokens: int | None
    by: str


@dataclass(frozen=True)
class HookChangeItem:
    """A hook changed what later requests hold, and wants that to be seen.

    Attributes:
        entry: where the change is kept.
        hook: its name.
        title: what it did, in its own words; empty where it only tells more.
        markdown: the whole of it; empty where there is no more to say.
    """

    entry: str
    hook: str
    title: str
    summary: str = ""
    markdown: str = ""


TranscriptItem = UserItem | AnswerItem | CustomItem | DroppedItem | HookChangeItem | SummaryItem


@dataclass(frozen=True)
class ChatTranscript:
    """A whole chat, from its first message to its last."""

    title: str
    items: tuple[TranscriptItem, ...]
