"""What is wanted of single messages: other words, other answers, other versions, a copy, a pin."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.sessions.branches import LeftBranch
from ui.chat.composer.attachment import Attachment
from ui.chat.message.action import Wish
from ui.controllers.session import Conversation
from ui.tasks import Task, TaskRunner

__all__ = ["Branches"]

LONG_TURNS = 3  # from so many on a summary of what was left is offered
_BUSY = "An answer is on its way. Stop it first."


class Branches(QObject):
    """Grants wishes in the open chat; nothing that was there is lost by any of them.

    `branched` carries the id of a new chat; `saw_requested` an entry; `failed` a sentence; `left`
    an entry of a long branch that the chat has just left, with its turns; `summarised` Markdown.
    """

    branched = Signal(str)
    saw_requested = Signal(str)
    failed = Signal(str)
    left = Signal(str, int)
    summarised = Signal(str)

    def __init__(self, assistant: Assistant, runner: TaskRunner, talk: Conversation) -> None:
        super().__init__(talk)
        self._assistant = assistant
        self._runner = runner
        self._talk = talk

    def grant(self, wish: Wish, attached: tuple[Attachment, ...] = ()) -> None:
        """Do what is wanted; `attached` is what goes along with the message."""
        session = self._talk.session
        if wish.kind == "saw":
            self.saw_requested.emit(wish.entry)
        elif session is None:
            return
        elif wish.kind == "branch":
            self._start(partial(self._assistant.fork, session, wish.entry), self._on_branched)
        elif self._talk.is_running:
            self.failed.emit(_BUSY)
        else:
            self._change(session, wish, attached)

    def continue_before(self, entry: str) -> None:
        """Make a chat of its own of what stood before an entry, such as a compaction."""
        session, assistant = self._talk.session, self._assistant
        if session is not None:
            self._start(
                lambda: assistant.fork(session, assistant.entry_before(session, entry)),
                self._on_branched,
            )

    def summarise(self, entry: str) -> None:
        """Sum up the branch of an entry, which the chat has left."""
        session, assistant, model = self._talk.session, self._assistant, self._talk.model
        if session is None:
            return
        task = self._runner.stream(
            lambda token: iter([assistant.summarise_branch(session, entry, token, model)])
        )
        task.yielded.connect(self.summarised.emit)
        task.failed.connect(self._on_failed)
        task.start()

    def _change(self, session: str, wish: Wish, attached: tuple[Attachment, ...]) -> None:
        assistant, entry = self._assistant, wish.entry
        match wish.kind:
            case "edit":
                self._talk.edit(entry, wish.text, attached)
            case "again":
                self._talk.regenerate(entry)
            case "select":
                self._start(partial(assistant.select_leaf, session, entry), self._on_selected)
            case "pin" | "unpin":
                is_on = wish.kind == "pin"
                self._start(partial(assistant.pin, session, entry, is_on), self._on_changed)
            case "label":
                self._start(partial(assistant.label, session, entry, wish.text), self._on_changed)

    def _start(self, work: Callable[[], object], done: Callable[..., object]) -> Task:
        task = self._runner.call(work)
        task.yielded.connect(done)
        task.failed.connect(self._on_failed)
        return task.start()

    def _on_branched(self, session: str) -> None:
        self.branched.emit(session)

    def _on_selected(self, left: LeftBranch) -> None:
        self._talk.load()
        if left.turns >= LONG_TURNS:
            self.left.emit(left.entry, left.turns)

    def _on_changed(self) -> None:
        self._talk.load()

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)
