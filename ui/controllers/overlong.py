"""A message that is too long: made a file that goes along, or sent in parts, one by one."""

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.library.long_texts import Pasted
from ui.chat.composer.attachment import Attachment
from ui.controllers.drafts import Written
from ui.tasks import TaskRunner
from ui.widgets.figures import count

__all__ = ["Overlong"]

Action = tuple[str, Callable[[], object]]

_LEAST_ROOM = 200  # tokens; a message cut into smaller parts says nothing any more
_SHARE = 0.5  # of the room, so that each part finds the answer before it still there


class Overlong(QObject):
    """The ways out of the message that is being written.

    `replaced` carries what is to be written instead, as `Written`; `changed` says that `line` is
    another one; `failed` carries why something cannot be done.

    Args of the constructor: `written` returns what is written now, `model` who it is for.

    Attributes:
        waiting: the parts of a message that follow the one that is shown.
        parts: how many parts it has; 0 where it is whole.
    """

    replaced = Signal(object)
    changed = Signal()
    failed = Signal(str)

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        written: Callable[[], Written],
        model: Callable[[], str],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._assistant, self._runner = assistant, runner
        self._written, self._model = written, model
        self._before: Written | None = None
        self._asked = Written()
        self._room = self._tokens = 0
        self.waiting: tuple[str, ...] = ()
        self.parts = 0

    @property
    def ways(self) -> list[Action]:
        """What can be done about the message; nothing where no message would fit."""
        if self._room < _LEAST_ROOM or self._tokens <= self._room:
            return []
        return [("Attach as a file", self.attach), ("Split it", self.split)]

    @property
    def line(self) -> tuple[str, list[Action]]:
        """What is said of the message, and the way back."""
        if self.parts:
            at = self.parts - len(self.waiting)
            follows = " The next one comes here when this one is sent." if self.waiting else ""
            back: list[Action] = [("Join them again", self.join)] if self.waiting else []
            return f"Part {count(at)} of {count(self.parts)}.{follows}", back
        if self._before is not None:
            text = "The long text goes along as a file. Write here what you want to know of it."
            return text, [("Put it back", self.undo)]
        return "", []

    def measure(self, context: Mapping[str, Any]) -> None:
        """Take how large the message is, and how large it may be."""
        self._tokens = int(context["layers"]["L5"]["tokens"])
        self._room = int(context["budget"]) - int(context["used"]) + self._tokens

    def keep(self, written: Written) -> None:
        """Begin with the parts of a message that comes back."""
        self._before = None
        self.waiting, self.parts = written.waiting, written.parts

    def next(self) -> Written:
        """Return what is to be written when the message has been sent: its next part, if any."""
        if not self.waiting:
            return Written()
        return Written(self.waiting[0], waiting=self.waiting[1:], parts=self.parts)

    def attach(self) -> None:
        """Make a file of the message that goes along with a short one."""
        self._asked = self._written()
        text = self._asked.text
        task = self._runner.call(lambda: self._assistant.long_texts.as_file(text))
        task.yielded.connect(self._on_file)
        task.failed.connect(self._on_failed)
        task.start()

    def split(self) -> None:
        """Make several messages of the one."""
        self._asked = self._written()
        text, most, model = self._asked.text, int(self._room * _SHARE), self._model()
        task = self._runner.call(lambda: self._assistant.long_texts.split(text, most, model))
        task.yielded.connect(self._on_parts)
        task.failed.connect(self._on_failed)
        task.start()

    def join(self) -> None:
        """Make one message of the parts that are not sent yet."""
        now = self._written()
        text = "\n\n".join((now.text, *self.waiting))
        self.replaced.emit(Written(text, now.attached, now.reads_whole))

    def undo(self) -> None:
        """Write the text again that went along as a file."""
        if self._before is not None:
            self.replaced.emit(self._before)

    def _on_file(self, pasted: Pasted) -> None:
        asked = self._asked
        if self._written() == asked:  # else something was written meanwhile, and stays
            attached = (*asked.attached, Attachment(str(pasted.path)))
            self.replaced.emit(Written(pasted.rest, attached))
            self._before = asked
            self.changed.emit()

    def _on_parts(self, texts: tuple[str, ...]) -> None:
        asked = self._asked
        if self._written() == asked and len(texts) > 1:
            first, *others = texts
            waiting = (*others, *asked.waiting)
            parts = len(waiting) + max(1, asked.parts - len(asked.waiting))
            self.replaced.emit(Written(first, asked.attached, asked.reads_whole, waiting, parts))

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)
