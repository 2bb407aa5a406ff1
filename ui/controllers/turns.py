"""A running turn: what was asked, and the results received so far."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import monotonic

from PySide6.QtCore import QObject

from app.errors import ErrorInfo, describe
from app.sessions.transcript import ChatTranscript, UserItem
from chains.cancel import CancelToken
from chains.citations.answer_sources import list_sources
from chains.events import (
    ApprovalRequested,
    AskResult,
    Event,
    MessageEnded,
    ModelLoadProgressed,
    ReadingPart,
    Retrieved,
    Step,
    TextDelta,
    TextTakenBack,
    ThoughtDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from chains.request.ask import Ask, Selection
from chains.tool import ApprovalRequest
from chains.turn_answer import ToolStep
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer
from ui.chat.message.step_words import describe_running_step
from ui.chat.transcript.live import LiveTurn
from ui.tasks import Task

__all__ = [
    "FIRST_STEPS",
    "THINKING",
    "WRITING",
    "CallDecided",
    "ChatTurn",
    "StartTurn",
    "attach_to",
    "list_attachments",
    "list_paths",
    "list_selections",
    "show_event",
    "show_live_event",
]

THINKING = "Thinking…"
WRITING = "Writing…"
_WAITING = "Waiting for you"
FIRST_STEPS = {
    "chat": "Waiting…",
    "vault": "Searching…",
    "project": "Searching…",
    "agent": THINKING,
}
StartTurn = Callable[[CancelToken], Iterator[Event]]


@dataclass(frozen=True)
class CallDecided:
    """An event: the user has approved or refused a proposed tool call."""

    request: ApprovalRequest
    is_approved: bool


class ChatTurn(QObject):
    """A turn that runs in a background task, and continues when the user opens another chat.

    Attributes:
        ask: what was asked.
        instead: the entry ID of the message that this one replaces as a new version, or an empty
            string for a new message.
        is_again: whether the message stays the same and only its answer is regenerated or
            continued.
        continues: the entry ID of the interrupted answer to continue, or an empty string.
        session: the session ID of the chat, or None until a new chat is stored.
        view: a number that identifies the view of the chat in which the turn is shown, or 0 if it
            is not shown. The number changes each time a chat is opened.
        task: the task that runs the turn.
        started_s: the start time in seconds of the monotonic clock.
        result: the result of the turn, or None until the turn has ended.
        error: the error that ended the turn, or None.
        sources: the segments that were retrieved for the turn.
        is_waiting: whether a proposed tool call waits for the user's decision.
        entry: the entry ID of the user message, or an empty string until it is stored.
        events: all events so far. They are used to show the turn when its chat is opened again.
        is_stored: whether the user message is part of the chat. This is False if no request could
            be built, in which case the message remains in the log but not in the chat.
    """

    def __init__(
        self,
        ask: Ask,
        view: int,
        task: Task,
        parent: QObject,
        *,
        instead: str = "",
        is_again: bool = False,
        continues: str = "",
    ) -> None:
        super().__init__(parent)
        self.ask, self.session = ask, ask.session
        self.instead, self.is_again, self.continues = instead, is_again, continues
        self.view = view
        self.task = task
        self.started_s = monotonic()
        self.is_stored = is_again
        self.entry = instead if is_again else ""
        self.events: list[object] = []
        self.result: AskResult | None = None
        self.error: ErrorInfo | None = None
        self.sources: Sequence[Segment] = ()
        self._wait: tuple[str, int, float] | None = None
        self._waited_s, self._waits_since_s = 0.0, 0.0
        self.is_waiting = False

    @property
    def elapsed_s(self) -> float:
        """The duration of the turn so far, without the time in which it waited for the user."""
        until_s = self._waits_since_s if self.is_waiting else monotonic()
        return until_s - self.started_s - self._waited_s

    @property
    def state(self) -> str:
        """The state of the turn, as shown in the list of chats, such as "answering"."""
        return "waits for you" if self.is_waiting else "answering"

    def count_down(self, step: str) -> str:
        """Return the description of the turn's current step with an updated waiting time.

        If the step is a pause before the model is called again, the description contains the
        seconds that remain.

        Args:
            step: the description of the step, with the seconds that the whole pause takes.
        """
        if self._wait is None or self._wait[0] != step:
            return step
        text, seconds, since_s = self._wait
        left = max(0, ceil(seconds - (monotonic() - since_s)))
        return text.replace(f"{seconds} s", f"{left} s", 1)

    def record(self, event: object) -> None:
        """Store an event of the turn, and update the attributes of the turn that depend on it."""
        self.events.append(event)
        if isinstance(event, Step) and event.seconds is not None:
            self._wait = event.text, event.seconds, monotonic()
        elif isinstance(event, TurnEnded):
            self.result = event.result
            self.session = self.session or event.result.session
        elif isinstance(event, Retrieved):
            self.sources = event.segments
        elif isinstance(event, ApprovalRequested | CallDecided | ToolEnded):
            self._set_waiting(isinstance(event, ApprovalRequested))
        elif isinstance(event, MessageEnded) and event.role == "user":
            self.is_stored, self.entry = True, event.entry_id
            self.session = self.session or event.session

    def _set_waiting(self, is_waiting: bool) -> None:
        if is_waiting != self.is_waiting:
            now_s = monotonic()
            self._waited_s += 0.0 if is_waiting else now_s - self._waits_since_s
            self.is_waiting, self._waits_since_s = is_waiting, now_s

    def find_entry(self, chat: ChatTranscript) -> None:
        """Set `entry` to the chat's last entry, if that is the user message of this turn.

        This is necessary if the message has been stored, but its event has not arrived yet.

        Args:
            chat: the transcript of the turn's chat.
        """
        last = chat.items[-1] if chat.items else None
        if not self.entry and isinstance(last, UserItem) and last.text == self.ask.question:
            self.entry = last.entry

    def record_failure(self, error: Exception) -> None:
        """Store the error that ended the turn."""
        self.error = describe(error)
        is_taken_back = self.error.is_taken_back and not self.is_again
        self.is_stored = self.is_stored and not is_taken_back
        self.session = self.session or self.error.session


def attach_to(ask: Ask, attached: tuple[Attachment, ...]) -> Ask:
    """Return what is asked with the given attachments in place of those that it has."""
    return replace(ask, attach=list_paths(attached), selections=list_selections(attached))


def show_live_event(event: object, turn: ChatTurn, live: LiveTurn) -> str:
    """Show an event of a running turn in its chat.

    Args:
        turn: the running turn.
        live: shows the turn in the transcript.

    Returns:
        A description of the step that the event begins, or an empty string if it begins no step.
    """
    match event:
        case TextDelta():
            live.append(event.text)
            return WRITING
        case TextTakenBack():
            live.take_back()
            return THINKING
        case ThoughtDelta():
            live.append_thought(event.text, event.seconds)
        case ToolStarted():
            live.begin_tool(event.step)
            return describe_running_step(event.step)
        case ToolEnded():
            live.end_tool(event.step)
            return THINKING if turn.is_waiting else ""
        case ApprovalRequested():
            return _WAITING
        case CallDecided(request, is_approved):
            call = ToolStep(request.call_id, request.tool, request.arguments)
            return describe_running_step(call) if is_approved else THINKING
        case Retrieved():
            live.show_sources(event.segments)
        case Step() | ReadingPart() | ModelLoadProgressed():
            return event.text
    return ""


def show_event(event: object, turn: ChatTurn, answer: Answer) -> None:
    """Show an event of a running turn in the widget of its answer."""
    match event:
        case TextDelta():
            answer.append(event.text)
            if answer.step.text != WRITING:
                answer.show_step(WRITING, turn.elapsed_s)
        case TextTakenBack():
            answer.set_text("")
        case ThoughtDelta():
            answer.append_thought(event.text, event.seconds)
        case Retrieved():
            answer.set_sources(list_sources(event.segments))
        case Step():
            answer.show_step(turn.count_down(event.text), turn.elapsed_s)


def list_attachments(ask: Ask) -> tuple[Attachment, ...]:
    """Return the attachments of what is asked: the paths, then the line selections."""
    selected = (Attachment(one.path, (one.first, one.last)) for one in ask.selections)
    return (*map(Attachment, ask.attach), *selected)


def list_paths(attached: tuple[Attachment, ...]) -> tuple[str, ...]:
    """Return the paths, tags and addresses of all attachments except line selections."""
    return tuple(item.target for item in attached if item.lines is None)


def list_selections(attached: tuple[Attachment, ...]) -> tuple[Selection, ...]:
    """Return the line selections among the attachments."""
    return tuple(Selection(item.target, *item.lines) for item in attached if item.lines)
