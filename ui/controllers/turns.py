"""One question on its way to its answer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject

from app.errors import ErrorInfo
from app.library.attachments import Selection
from chains.cancel import CancelToken
from chains.events import AskResult, Event
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.tasks import Task

__all__ = ["Asked", "Begin", "Turn", "paths_of", "selections_of"]

Begin = Callable[[CancelToken], Iterator[Event]]


@dataclass(frozen=True)
class Asked:
    """What is asked, and where in the chat.

    Attributes:
        attached: what goes along with it.
        instead: the entry in whose place it is put; empty for the end of the chat.
        is_again: whether only the answer is made anew.
        reads_whole: whether what is attached and too large to be sent is read first.
    """

    question: str
    attached: tuple[Attachment, ...] = ()
    instead: str = ""
    is_again: bool = False
    reads_whole: bool = False


class Turn(QObject):
    """A turn that runs; it goes on when the user looks elsewhere.

    Attributes:
        view: which showing of a chat it was asked in; in a later one its text is not complete.
        is_stored: whether the chat goes on with the question; one of which no request could be
            made is in its log only.
    """

    def __init__(
        self, asked: Asked, session: str | None, view: int, task: Task, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.asked = asked
        self.session = session
        self.view = view
        self.task = task
        self.started_s = monotonic()
        self.is_stored = asked.is_again
        self.result: AskResult | None = None
        self.error: ErrorInfo | None = None
        self.sources: tuple[Segment, ...] = ()
        self.context: Mapping[str, Any] | None = None

    @property
    def question(self) -> str:
        """What is asked."""
        return self.asked.question


def paths_of(attached: tuple[Attachment, ...]) -> tuple[str, ...]:
    """Return what is attached whole, as the assistant names it."""
    return tuple(item.target for item in attached if item.lines is None)


def selections_of(attached: tuple[Attachment, ...]) -> tuple[Selection, ...]:
    """Return the lines that are attached, as the assistant names them."""
    return tuple(Selection(item.target, *item.lines) for item in attached if item.lines)
