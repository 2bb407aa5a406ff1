"""The transcript of a chat as values for display."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final

from app.library.attachments import Selection
from chains.citations.changes import ChangedSource
from chains.citations.check import Citation, Unverified
from chains.events import Mode, ToolStatus
from context.layers import Segment

MOST_STEP_CHARS: Final = 2_000


@dataclass(frozen=True)
class MessageItem:
    """A user message or an answer, with its versions.

    Attributes:
        entry: the id in the log; for a turn that was cut off, the id of its last message.
        time: ISO 8601, UTC.
        siblings: the versions of the message including itself, in the order of the log.
        label: the user's label.
        is_pinned: whether the message is always sent word for word.
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
    """A user message.

    Attributes:
        mode: the mode; None if an older version did not record it.
        attach: the names of the attached notes, folders and files.
        sent: the segments that were sent with the message.
    """

    mode: Mode | None = None
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    sent: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class StepItem:
    """A tool call on the way to an answer.

    Attributes:
        seconds: the run time of the tool; None if it is not known.
        ref_id: the reference of a large stored result.
        text: the beginning of the result; empty if there is none.
        said: the text of the model before the call; empty if there is none.
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
    """An answer with its sources.

    Attributes:
        status: complete, interrupted, limit or error.
        sources: the numbered sources that were sent with the question or read by tools.
        seconds: the time from the question to the end of the answer; None if it is not known.
        steps: the tool calls, in order.
        changed: the cited notes that have changed since the answer.
    """

    model: str
    status: str
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    sources: tuple[Segment, ...]
    seconds: float | None
    steps: tuple[StepItem, ...] = ()
    changed: tuple[ChangedSource, ...] = ()


@dataclass(frozen=True)
class CustomItem:
    """A message that a program added to the chat."""

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class DroppedItem:
    """A divider: the turns above it are no longer sent.

    Attributes:
        turns: the number of dropped turns.
        tokens: the tokens saved by dropping them.
    """

    turns: int
    tokens: int
    reason: str


@dataclass(frozen=True)
class SummaryItem:
    """A divider: the turns above it are sent as a summary.

    Attributes:
        entry: the entry of the compaction; the chat can be continued from before it.
        after_tokens: the tokens after the compaction; None if they were not recorded.
        by: model or outline.
    """

    entry: str
    summary: str
    before_tokens: int
    after_tokens: int | None
    by: str


@dataclass(frozen=True)
class HookChangeItem:
    """A change that a hook made to later requests and wants to show.

    Attributes:
        entry: the log entry of the change.
        hook: the name of the hook.
        title: the heading, in the hook's own words; may be empty.
        markdown: the full text; may be empty.
    """

    entry: str
    hook: str
    title: str
    summary: str = ""
    markdown: str = ""


TranscriptItem = UserItem | AnswerItem | CustomItem | DroppedItem | HookChangeItem | SummaryItem


@dataclass(frozen=True)
class ChatTranscript:
    """A whole chat, from its first message to its last.

    Attributes:
        project: the project of the chat; None for none.
    """

    title: str
    items: tuple[TranscriptItem, ...]
    project: str | None = None
