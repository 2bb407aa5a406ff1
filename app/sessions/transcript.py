"""The values that make up a chat's transcript."""

import json
import re
from dataclasses import KW_ONLY, dataclass
from typing import Final

from chains.citations.changes import ChangedSource
from chains.events import Mode
from chains.request.ask import Selection
from chains.retrieval.listing_query import FilterPart
from chains.turn_answer import TurnAnswer
from context.exam import SummaryExam
from context.fit import guard_steps
from context.layers import Segment
from context.messages import thaw
from context.report.report import Compaction

_MOST_PROPS_CHARS: Final = 10_000


@dataclass(frozen=True)
class MessageItem:
    """A user message or an answer, with the ids of its versions.

    Attributes:
        entry: the id of the log entry. For an interrupted answer, this is the entry of the turn's
            last message.
        time: the time, in ISO 8601 and UTC.
        siblings: the entry ids of all versions, in log order.
        label: the user's label, or an empty string.
        is_pinned: whether the message is always sent in full.
    """

    entry: str
    time: str
    _: KW_ONLY
    siblings: tuple[str, ...] = ()
    label: str = ""
    is_pinned: bool = False


@dataclass(frozen=True)
class UserItem(MessageItem):
    """A user message.

    Attributes:
        mode: the mode of the turn, or None if it was not recorded.
        attach: the names of the attached notes, folders and files.
        selections: the attached line ranges.
        sent: the segments sent with the message.
    """

    text: str
    mode: Mode | None = None
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    sent: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class AnswerItem(MessageItem):
    """An answer at its place in the chat.

    Attributes:
        changed: the cited notes that have changed since the answer.
        cost: the price of the turn in dollars, 0 for a model on this computer, or None if unknown.
        where: the host that answered, or "this computer". An empty string if it is not stored.
        filter_parts: the parts of a list's filter, each in words and with the message that asks for
            the list without it.
        can_continue: whether this is the chat's last answer, it was cut off, and a model can
            continue it.
    """

    answer: TurnAnswer
    changed: tuple[ChangedSource, ...] = ()
    cost: float | None = None
    where: str = ""
    filter_parts: tuple[FilterPart, ...] = ()
    can_continue: bool = False

    @property
    def text(self) -> str:
        """The text of the answer, as of any message."""
        return self.answer.text


@dataclass(frozen=True)
class CustomItem:
    """A message added by another program."""

    entry: str
    text: str
    time: str


@dataclass(frozen=True)
class DroppedItem:
    """A divider below turns that are no longer sent.

    Attributes:
        turns: the number of dropped turns.
        tokens: the number of tokens saved.
        reason: why the turns were dropped.
    """

    turns: int
    tokens: int
    reason: str


@dataclass(frozen=True)
class SummaryItem:
    """A divider below turns that are sent as a summary.

    Attributes:
        compaction: the compaction, as requests repeat it.
        summary: the summary.
        is_in_use: whether requests contain this summary. A later summary replaces an earlier one,
            because it covers the same turns.
        change: how the last request changed the summary to make room: `summary` if the request left
            it out, `summary_shortened` if it contained a part of it, and empty if it contained the
            whole summary. These are the reasons of the request report.
    """

    compaction: Compaction
    summary: str
    is_in_use: bool = True
    change: str = ""

    @property
    def entry(self) -> str:
        """The id of the compaction's log entry. The chat can go on from the entry before it."""
        return self.compaction.entry

    @property
    def exam(self) -> SummaryExam | None:
        """What a request still says of the turns above, or None if that is not known."""
        return self.compaction.exam

    @property
    def is_searchable(self) -> bool:
        """Whether the summary is in use, and has lost facts that notes may say."""
        return self.is_in_use and self.exam is not None and self.exam.not_checked > 0

    @property
    def sentence(self) -> str:
        """What became of the turns above, as a sentence without its full stop."""
        is_outline = self.compaction.by == "outline"
        noun = "Outline" if is_outline else "Summary"
        match self.change:
            case guard_steps.SUMMARY:
                return f"{noun} left out of the last request"
            case guard_steps.SUMMARY_HALVED:
                return f"{noun} shortened in the last request"
            case _ if is_outline:
                return "Earlier messages became an outline"
            case _:
                return "Earlier messages summarised"


@dataclass(frozen=True)
class HookChangeItem:
    """A change that a hook made, as an item of the transcript.

    Attributes:
        entry: the log entry id.
        hook: the name of the hook.
        title: the heading, which may be empty.
        summary: a short description, which may be empty.
        markdown: the full description, which may be empty.
        renderer_id: the name of a renderer for this change, which may be empty.
        renderer_props: the data for the renderer, or None.
    """

    entry: str
    hook: str
    title: str
    summary: str = ""
    markdown: str = ""
    renderer_id: str = ""
    renderer_props: object = None

    @property
    def details(self) -> str:
        """The description in Markdown, with the data for the renderer listed as it is."""
        if self.renderer_props is None:
            return self.markdown
        props = json.dumps(thaw(self.renderer_props), ensure_ascii=False, indent=2)
        if len(props) > _MOST_PROPS_CHARS:
            props = f"{props[:_MOST_PROPS_CHARS]}…"
        ticks = max(map(len, re.findall("`+", props)), default=0)
        fence = "`" * max(3, ticks + 1)
        name = "".join(self.renderer_id.split()).replace("`", "")
        head = f"Data for the renderer `{name}`:" if name else "Data:"
        return "\n\n".join(filter(None, (self.markdown, head, f"{fence}\n{props}\n{fence}")))


TranscriptItem = UserItem | AnswerItem | CustomItem | DroppedItem | HookChangeItem | SummaryItem


@dataclass(frozen=True)
class ChatCost:
    """The price of a chat.

    Attributes:
        dollars: the sum of the known prices.
        is_estimate: whether some prices are unknown, so that the sum is too low.
    """

    dollars: float
    is_estimate: bool


@dataclass(frozen=True)
class ChatTranscript:
    """A whole chat, from its first to its last message.

    Attributes:
        title: the title of the chat.
        items: the messages and dividers, in display order.
        project: the chat's project, or None.
        cost: the price of all model calls, including other versions, summaries and titles, or None
            if unknown.
    """

    title: str
    items: tuple[TranscriptItem, ...]
    project: str | None = None
    cost: ChatCost | None = None
