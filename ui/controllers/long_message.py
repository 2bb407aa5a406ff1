"""Handle a message that is too long for one request: attach it as a file, or split it."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal

from app.errors import describe
from app.library.long_texts import PastedText
from chains.request.ask import Ask
from context.layers import Layer
from context.report.report import ContextReport
from ui.controllers.drafts import Draft
from ui.controllers.session import Collaborators, Controller
from ui.widgets.buttons import ButtonText, LabelledAction
from ui.widgets.formatting import count

__all__ = ["LongMessageController"]

_ATTACH = ButtonText("Attach as a file", "Send the text as an attachment, which is searched")
_SPLIT = ButtonText("Split it", "Send the text in parts, one after the other")
_JOIN = ButtonText("Join them again", "Make one message of the parts")
_PUT_BACK = ButtonText("Put it back", "Put the text back into the message box")
_LEAST_BUDGET = 200  # tokens; smaller parts would make no sense on their own
_NOTHING_FITS = "The instructions alone fill the limit, so nothing can be asked. Nothing was sent."
_SHARE = 0.5  # of the budget, so that the answer to the previous part still fits


class LongMessageController(Controller):
    """Attaches a long message as a file, or splits it into parts.

    Args:
        find_draft: returns the message in the composer.
        model: returns the name of the selected model.

    Signals:
        replaced: emitted with the `Draft` that is to replace the message in the composer.
        changed: emitted when the property `line` has changed.
        failed: emitted with an error message when attaching or splitting has failed.

    Attributes:
        waiting: the parts of a split message that will be sent after the one in the composer.
        parts: the total number of parts, or 0 if the message is not split.
    """

    replaced = Signal(object)
    changed = Signal()
    failed = Signal(str)

    def __init__(
        self, shared: Collaborators, find_draft: Callable[[], Draft], model: Callable[[], str]
    ) -> None:
        super().__init__(shared)
        self._find_draft, self._model = find_draft, model
        self._before: Draft | None = None
        self._given = Draft()
        self._budget = self._tokens = 0
        self.waiting: tuple[str, ...] = ()
        self.parts = 0

    @property
    def ways(self) -> list[LabelledAction]:
        """The actions offered if the message is too long: attach it as a file, or split it.

        This is an empty list if the message fits, or if fewer than 200 tokens are available.
        """
        if self._budget < _LEAST_BUDGET or self._tokens <= self._budget:
            return []
        return [(_ATTACH, self.attach), (_SPLIT, self.split)]

    @property
    def problem(self) -> str:
        """Why the message does not fit, with its token count and the free tokens."""
        if self._budget <= 0:
            return (
                "The instructions alone fill the limit, so nothing can be asked. Nothing was sent."
            )
        figures = f"It has {count(self._tokens)} tokens; {count(self._budget)} are free for it."
        return f"Your message does not fit. {figures} Nothing was sent."

    @property
    def line(self) -> tuple[str, list[LabelledAction]]:
        """The line shown above the composer while a message is split or attached as a file.

        It consists of a sentence and the actions that undo the change. The sentence is an empty
        string if there is nothing to show.
        """
        if self.parts:
            at = self.parts - len(self.waiting)
            follows = " The next one comes here when this one is sent." if self.waiting else ""
            back: list[LabelledAction] = [(_JOIN, self.join)] if self.waiting else []
            return f"Part {count(at)} of {count(self.parts)}.{follows}", back
        if self._before is not None:
            text = "The long text goes along as a file. Write here what you want to know of it."
            return text, [(_PUT_BACK, self.undo)]
        return "", []

    def measure(self, context: ContextReport) -> None:
        """Read the message's token count and the available tokens from a context report."""
        self._tokens = int(context.layers[Layer.L5].tokens)
        self._budget = int(context.budget) - int(context.used) + self._tokens

    def keep(self, draft: Draft) -> None:
        """Restore the remaining parts of a split message from a draft."""
        self._before = None
        self.waiting, self.parts = draft.waiting, draft.parts

    def next(self) -> Draft:
        """Return the next part of a split message, or an empty draft if no parts remain."""
        if not self.waiting:
            return Draft()
        return Draft(Ask(self.waiting[0]), self.waiting[1:], self.parts)

    def attach(self) -> None:
        """Move the message's long text to a file, and attach the file."""
        self._given = self._find_draft()
        text = self._given.ask.question
        task = self._runner.call(lambda: self._assistant.long_texts.as_file(text))
        task.yielded.connect(self._on_file)
        task.failed.connect(self._on_failed)
        task.start()

    def split(self) -> None:
        """Split the message into parts of at most half of the available tokens."""
        self._given = self._find_draft()
        text, most, model = self._given.ask.question, int(self._budget * _SHARE), self._model()
        task = self._runner.call(lambda: self._assistant.long_texts.split(text, most, model))
        task.yielded.connect(self._on_parts)
        task.failed.connect(self._on_failed)
        task.start()

    def join(self) -> None:
        """Join the unsent parts into one message again."""
        ask = self._find_draft().ask
        text = "\n\n".join((ask.question, *self.waiting))
        self.replaced.emit(Draft(replace(ask, question=text)))

    def undo(self) -> None:
        """Restore the message as it was before its text was moved into a file."""
        if self._before is not None:
            self.replaced.emit(self._before)

    def _on_file(self, pasted: PastedText) -> None:
        given = self._given
        if self._find_draft() == given:  # otherwise the user has changed it
            attach = (*given.ask.attach, str(pasted.path))
            ask = Ask(pasted.rest, attach=attach, selections=given.ask.selections)
            self.replaced.emit(Draft(ask))
            self._before = given
            self.changed.emit()

    def _on_parts(self, texts: tuple[str, ...]) -> None:
        given = self._given
        if self._find_draft() == given and len(texts) > 1:
            first, *others = texts
            waiting = (*others, *given.waiting)
            parts = len(waiting) + max(1, given.parts - len(given.waiting))
            self.replaced.emit(Draft(replace(given.ask, question=first), waiting, parts))

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)
