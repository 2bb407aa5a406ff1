"""What is attached and too large to be sent: whether all of it is read, and what that takes.

Reading is offered with its cost, and wanted only for what that was told of: with other attachments,
another model or another limit it is offered anew.
"""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.sessions.ask import AskRequest
from chains.errors import CannotRead
from chains.models import EXTRACTIVE
from chains.retrieval.map_reduce.plan import ReadingCost
from ui.chat.composer.attachment import Attachment
from ui.controllers.context import Draft
from ui.controllers.turns import paths_of, selections_of
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.figures import count, money, plural

__all__ = ["Reading"]

_LONGEST_NAME = 32


class Reading(QObject):
    """Whether what goes along with the message is read whole; `changed` when that is another."""

    changed = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._cost: ReadingCost | None = None
        self._refusal = ""
        self._agreed: ReadingCost | None = None
        self._kept: tuple[Attachment, ...] = ()
        self._about: tuple[object, ...] = ()
        self._looks = LatestOnly(runner, 0, self)
        self._looks.answered.connect(self._on_cost)
        self._looks.failed.connect(self._on_failed)

    @property
    def is_wanted(self) -> bool:
        """Whether the user wants all of it to be read, as it was offered."""
        return self._cost is not None and self._cost == self._agreed

    @property
    def is_offered(self) -> bool:
        """Whether there is anything to be read."""
        return self._cost is not None

    @property
    def parts(self) -> Mapping[str, int]:
        """The parts that each source would be read in."""
        if self._cost is None:
            return {}
        return {source: parts for source, _, _, parts in self._cost.attachments}

    @property
    def sentence(self) -> str:
        """What is done with what is too large; nothing where all of it fits."""
        if self._cost is None:
            return self._refusal
        sources = [source for source, *_ in self._cost.attachments]
        what, it = f"{count(len(sources))} attachments", "all of them"
        if len(sources) == 1:
            what, it = _short(sources[0].rpartition("/")[2]), "all of it"
        takes = ", ".join(self._figures(self._cost))
        if self.is_wanted:
            return f"Read whole before the answer: {what}, in {takes}."
        goes = "goes" if len(sources) == 1 else "go"
        return f"{what} {goes} in excerpts, closest to your question. Reading {it} takes {takes}."

    def look(self, draft: Draft, budget: int) -> None:
        """Find out what is too large in what is about to be sent."""
        about = (draft.attached, draft.mode, draft.model, draft.session, budget)
        if about == self._about:
            return
        self._about = about
        if self._agreed is not None:
            self.want(False)
        if not draft.attached or self._model_of(draft) == EXTRACTIVE:
            self._looks.forget()
            self._show(None)
            return
        request = AskRequest(
            draft.text,
            draft.mode,
            draft.model,
            draft.session,
            attach=paths_of(draft.attached),
            selections=selections_of(draft.attached),
        )
        self._looks.ask(partial(self._assistant.reading_cost, request), now=True)

    def want(self, is_wanted: bool) -> None:
        """Have all of it read when the message is sent, or have it searched."""
        self._agreed = self._cost if is_wanted else None
        self.changed.emit()

    def keep(self, attached: tuple[Attachment, ...]) -> None:
        """Take it that these are wanted whole as soon as they are what is attached again."""
        self._kept, self._about, self._agreed = attached, (), None
        self._looks.forget()
        self._show(None)

    def _model_of(self, draft: Draft) -> str:
        return draft.model or self._assistant.settings.values.chat_model

    def _figures(self, cost: ReadingCost) -> list[str]:
        takes = [f"up to {plural(cost.calls, 'call')}", f"{count(cost.prompt_tokens)} tokens"]
        return takes if cost.price is None else [*takes, f"at most {money(cost.price)}"]

    def _on_cost(self, cost: ReadingCost | None) -> None:
        if self._kept and self._about[0] == self._kept:
            self._agreed, self._kept = cost, ()
        self._show(cost)

    def _on_failed(self, error: Exception) -> None:
        """Say why something cannot be read; what else is wrong with it, its chip says."""
        self._show(None, str(error) if isinstance(error, CannotRead) else "")

    def _show(self, cost: ReadingCost | None, refusal: str = "") -> None:
        if (cost, refusal) != (self._cost, self._refusal):
            self._cost, self._refusal = cost, refusal
            self.changed.emit()


def _short(name: str) -> str:
    """Return a name that fits a sentence: without the middle of one that is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:16]}…{name[-12:]}"
