"""The offer to read large attachments in parts (map-reduce), with an estimate of its cost.

An offer applies to the attachments, mode, model, chat and budget that it was made for. When one of
these changes, a new offer is made, which the user has to accept again.
"""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal

from chains.errors import CannotRead
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from chains.retrieval.map_reduce_plan import ReadingCost
from ui.controllers.session import Collaborators, Controller
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText, LabelledAction
from ui.widgets.formatting import count, money, plural

__all__ = ["ReadWholeController"]

_READ_ALL = ButtonText("Read it all", "Send all of it to the model, in parts")
_SEARCH = ButtonText("Search it instead", "Send only the passages that fit the question")
_LONGEST_NAME = 32


class ReadWholeController(Controller):
    """Offers to read large attachments in parts.

    The signal `changed` is emitted when the offer changes, and when the user accepts or declines
    it.
    """

    changed = Signal()

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._cost: ReadingCost | None = None
        self._refusal = ""
        self._agreed: ReadingCost | None = None
        self._kept: tuple[object, ...] = ()
        self._about: tuple[object, ...] = ()
        self._looks = LatestOnly(self._runner, 0, self)
        self._looks.answered.connect(self._on_cost)
        self._looks.failed.connect(self._on_failed)

    @property
    def is_wanted(self) -> bool:
        """Whether the user accepted the current offer to read large attachments in parts."""
        return self._cost is not None and self._cost == self._agreed

    @property
    def parts(self) -> Mapping[str, int]:
        """The number of parts in which each large attachment will be read, by attachment path."""
        if self._cost is None:
            return {}
        return {source: parts for source, _, _, parts in self._cost.attachments}

    @property
    def line(self) -> tuple[str, list[LabelledAction]]:
        """The line shown above the composer if an attachment is too large to be sent whole.

        It consists of a sentence and the action that accepts or declines the offer. If an
        attachment cannot be read in parts, the sentence is the reason and there is no action. The
        sentence is an empty string if all attachments fit.
        """
        if self._cost is None:
            return self._refusal, []
        text = _SEARCH if self.is_wanted else _READ_ALL
        return self._describe(self._cost), [(text, partial(self.want, not self.is_wanted))]

    def _describe(self, cost: ReadingCost) -> str:
        sources = [source for source, *_ in cost.attachments]
        what, it = f"{count(len(sources))} attachments", "all of them"
        if len(sources) == 1:
            what, it = _short(sources[0].rpartition("/")[2]), "all of it"
        takes = ", ".join(self._figures(cost))
        if self.is_wanted:
            return f"Read whole before the answer: {what}, in {takes}."
        goes = "goes" if len(sources) == 1 else "go"
        return f"{what} {goes} in excerpts, closest to your question. Reading {it} takes {takes}."

    def look(self, ask: Ask, budget: int) -> None:
        """Estimate in the background what it costs to read the large attachments in parts.

        The offer is updated with the result. Do nothing if the budget, the attachments and the
        other options of the message are unchanged.

        Args:
            ask: what the unsent message asks.
            budget: the maximum number of tokens in a request.
        """
        about = (ask.attach, ask.selections, ask.mode, ask.model, ask.session, budget)
        if about == self._about:
            return
        self._about = about
        if self._agreed is not None:
            self.want(False)
        has_attachments = bool(ask.attach or ask.selections)
        if not has_attachments or self._find_model(ask) == EXTRACTIVE:
            self._looks.forget()
            self._show(None)
            return
        self._looks.ask(partial(self._assistant.estimate_reading, ask), now=True)

    def want(self, is_wanted: bool) -> None:
        """Accept or decline the offer to read large attachments in parts.

        If the user declines, the attachments are searched instead.
        """
        self._agreed = self._cost if is_wanted else None
        self.changed.emit()

    def keep(self, ask: Ask) -> None:
        """Begin anew for another message. If `ask` reads large attachments in parts, accept that.

        The next offer is accepted automatically if it covers exactly the attachments of `ask`.
        """
        kept = (ask.attach, ask.selections) if ask.reads_whole else ()
        self._kept, self._about, self._agreed = kept, (), None
        self._looks.forget()
        self._show(None)

    def _find_model(self, ask: Ask) -> str:
        return ask.model or self._assistant.settings.values.chat_model

    def _figures(self, cost: ReadingCost) -> list[str]:
        takes = [f"up to {plural(cost.calls, 'call')}", f"{count(cost.prompt_tokens)} tokens"]
        return takes if cost.price is None else [*takes, f"at most {money(cost.price)}"]

    def _on_cost(self, cost: ReadingCost | None) -> None:
        if self._kept and self._about[:2] == self._kept:
            self._agreed, self._kept = cost, ()
        self._show(cost)

    def _on_failed(self, error: Exception) -> None:
        """Show why an attachment cannot be read in parts. Other errors are shown on the chips."""
        self._show(None, str(error) if isinstance(error, CannotRead) else "")

    def _show(self, cost: ReadingCost | None, refusal: str = "") -> None:
        if (cost, refusal) != (self._cost, self._refusal):
            self._cost, self._refusal = cost, refusal
            self.changed.emit()


def _short(name: str) -> str:
    """Elide the middle of a name that is longer than 32 characters."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:16]}…{name[-12:]}"
