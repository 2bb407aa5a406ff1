"""A turn in progress: the message that was sent, and the results so far."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from PySide6.QtCore import QObject

from app.errors import ErrorInfo, describe
from app.library.attachments import Selection
from chains.cancel import CancelToken
from chains.events import AskResult, Event, MessageEnded, Retrieved, TurnEnded
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.tasks import Task

__all__ = ["ChatTurn", "OutgoingMessage", "StartTurn", "list_paths", "list_selections"]

StartTurn = Callable[[CancelToken], Iterator[Event]]


@dataclass(frozen=True)
class OutgoingMessage:
    """A user message and its place in the chat.

    Attributes:
        attached: the attachments of the message.
        instead: the entry that this message is another version of; empty for a new message.
        is_again: whether the message stays the same and only its answer is regenerated.
        reads_whole: whether attachments that are too large to be sent are read whole.
    """

    text: str
    attached: tuple[Attachment, ...] = ()
    instead: str = ""
    is_again: bool = False
    reads_whole: bool = False


class ChatTurn(QObject):
    """A turn in a background task, which continues when the user opens another chat.

    Attributes:
        view: the value of the session controller's counter of opened chats when the turn began. If
            a chat has been opened since, the turn's text is not shown, since it would be
            incomplete.
        is_stored: whether the user message is part of the chat. If no request could be made, the
            message is taken back and only remains in the log.
    """

    def __init__(
        self, request: OutgoingMessage, session: str | None, view: int, task: Task, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.request = request
        self.session = session
        self.view = view
        self.task = task
        self.started_s = monotonic()
        self.is_stored = request.is_again
        self.result: AskResult | None = None
        self.error: ErrorInfo | None = None
        self.sources: Sequence[Segment] = ()

    def record(self, event: object) -> None:
        """Store the result, sources or session id that an event contains."""
        if isinstance(event, TurnEnded):
            self.result = event.result
            self.session = self.session or event.result.session
        elif isinstance(event, Retrieved):
            self.sources = event.segments
        elif isinstance(event, MessageEnded) and event.role == "user":
            self.is_stored = True
            self.session = self.session or event.session

    def record_failure(self, error: Exception) -> None:
        """Store the error that ended the turn."""
        self.error = describe(error)
        self.is_stored = self.is_stored and not self.error.is_taken_back
        self.session = self.session or self.error.session


def list_paths(attached: tuple[Attachment, ...]) -> tuple[str, ...]:
    """Return the paths of the attachments that are not line selections."""
    return tuple(item.target for item in attached if item.lines is None)


def list_selections(attached: tuple[Attachment, ...]) -> tuple[Selection, ...]:
    """Return the attachments that are line selections."""
    return tuple(Selection(item.target, *item.lines) for item in attached if item.lines)
