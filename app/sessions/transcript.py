"""The values that make up a chat's transcript, for display."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final

from app.library.attachments import Selection
from chains.citations.changes import ChangedSource
from chains.citations.check import Citation, Unverified
from chains.citations.sources import insert_numbers, name_share
from chains.events import Mode, ToolStatus
from context.layers import Segment

MOST_STEP_CHARS: Final = 2_000


@dataclass(frozen=True)
class MessageItem:
    """A user message or an answer, with its versions.

    Attributes:
        entry: the id of the log entry. If the answer was cut off, that of the turn's last message.
        text: the text of the message.
        time: the UTC time in ISO 8601 format.
        siblings: the entry ids of all versions of the message, in the order of the log.
        label: the user's label for the message, or an empty string if it has none.
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
        mode: the mode of the turn, or None if an older version of Strata did not record it.
        attach: the names of the attached notes, folders and files.
        selections: the attached line ranges.
        sent: the segments that were sent with the message.
    """

    mode: Mode | None = None
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    sent: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class StepItem:
    """A tool call that the model made before its answer.

    Attributes:
        id: the id of the tool call.
        name: the name of the tool.
        arguments: the arguments of the call, by name.
        status: the outcome of the call.
        seconds: the tool's run time, or None if it was not recorded.
        ref_id: the reference to the stored result if it was too large for a request, otherwise
            None.
        text: the beginning of the result, or an empty string if the call has no result.
        said: the text that the model wrote before the call; may be empty.
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
        model: the name of the model that answered, or an empty string if unknown.
        status: `complete`, `interrupted`, `limit` or `error`.
        citations: the citations of sources.
        unverified: the claims and quotes that could not be verified.
        sources: the numbered sources that were sent with the question or read by tools.
        seconds: the time from the question to the end of the answer, or None if unknown.
        steps: the tool calls, in order.
        changed: the cited notes that have changed since the answer.
        reason: why the answer is missing or incomplete, or an empty string if it is complete or the
            user stopped it.
        cost: the price of the turn's model calls in dollars, or 0 for a model on this computer,
            None if unknown.
        error_code: the code of the error that ended the turn, or an empty string if unknown or no
            error ended it.
        sentences: the number of sentences for which Strata looked for a source, because the model
            cited none, or 0 if the model cited sources itself.
    """

    model: str
    status: str
    citations: tuple[Citation, ...]
    unverified: tuple[Unverified, ...]
    sources: tuple[Segment, ...]
    seconds: float | None
    steps: tuple[StepItem, ...] = ()
    changed: tuple[ChangedSource, ...] = ()
    reason: str = ""
    cost: float | None = None
    error_code: str = ""
    sentences: int = 0

    @property
    def shown_text(self) -> str:
        """The answer's text, with the numbers of the sources that Strata found."""
        return insert_numbers(self.text, self.citations) if self.sentences else self.text

    @property
    def found_sources(self) -> str:
        """A sentence about the sources that Strata found, or an empty string if it found none."""
        is_found = self.sentences and self.citations
        return name_share(self.citations, self.sentences) if is_found else ""


@dataclass(frozen=True)
class CustomItem:
    """A message that another program added to the chat."""

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class DroppedItem:
    """A divider in a transcript: the turns above it are no longer sent.

    Attributes:
        turns: the number of dropped turns.
        tokens: the number of tokens saved by dropping them.
        reason: why the turns were dropped.
    """

    turns: int
    tokens: int
    reason: str


@dataclass(frozen=True)
class SummaryItem:
    """A divider in a transcript: the turns above it are sent as a summary.

    Attributes:
        entry: the id of the compaction's log entry. The chat can be continued from before it.
        summary: the text of the summary.
        before_tokens: the number of tokens before the compaction.
        after_tokens: the number of tokens after the compaction, or None if it was not recorded.
        by: `model`, or `outline` if no model was set.
    """

    entry: str
    summary: str
    before_tokens: int
    after_tokens: int | None
    by: str


@dataclass(frozen=True)
class HookChangeItem:
    """A hook's change to later requests, which the hook wants to show in the transcript.

    Attributes:
        entry: the id of the change's log entry.
        hook: the name of the hook.
        title: the hook's heading for the change; may be empty.
        summary: a short description; may be empty.
        markdown: the full description; may be empty.
    """

    entry: str
    hook: str
    title: str
    summary: str = ""
    markdown: str = ""


TranscriptItem = UserItem | AnswerItem | CustomItem | DroppedItem | HookChangeItem | SummaryItem


@dataclass(frozen=True)
class ChatCost:
    """The price of a chat.

    Attributes:
        dollars: the sum of the known prices of the chat's model calls.
        is_estimate: whether the price of some call is unknown, so that the sum is too low.
    """

    dollars: float
    is_estimate: bool


@dataclass(frozen=True)
class ChatTranscript:
    """A whole chat, from its first message to its last.

    Attributes:
        title: the title of the chat.
        items: the messages and dividers, in the order of display.
        project: the chat's project, or None if it has none.
        cost: the price of all the chat's model calls, including other versions, summaries and
            titles, or None if no call has a known price.
    """

    title: str
    items: tuple[TranscriptItem, ...]
    project: str | None = None
    cost: ChatCost | None = None
