"""Ask again what an answer answered, without some of what the model saw."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from app.errors import describe
from app.rehearsal.result import EachResult, RehearsalProgress, RehearsalResult
from chains.events import TextDelta, TextTakenBack
from ui.controllers.context import ContextController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.panels.rehearsal.dialog import RehearsalDialog
from ui.tasks import LatestOnly, Task

__all__ = ["RehearsalController"]

_BUSY: Final = "An answer is on its way. Stop it first."
_NOTHING: Final = "Nothing has been asked in this chat yet."


class RehearsalController(ChatController):
    """Lets the user leave out parts of the shown request, and asks again. The chat is unchanged."""

    def __init__(
        self, shared: Collaborators, session: SessionController, context: ContextController
    ) -> None:
        super().__init__(shared, session)
        self._context = context
        self._chat = ""
        self._entry: str | None = None
        self._task: Task | None = None
        self._offers = LatestOnly(self._runner, 0, self)
        self._offers.failed.connect(self._on_failed)
        self._prices = LatestOnly(self._runner, 0, self)
        self._prices.failed.connect(self._on_failed)
        self._frame.column.context.rehearsal_requested.connect(self.open)

    @cached_property
    def dialog(self) -> RehearsalDialog:
        """The dialog with the switches."""
        made = RehearsalDialog(self._frame.window)
        made.parts_changed.connect(self._offer)
        made.ask_requested.connect(self._ask)
        made.price_requested.connect(self._find_price)
        made.each_requested.connect(self._ask_each)
        made.stop_requested.connect(self._stop)
        made.left.connect(self._leave)
        self._offers.answered.connect(made.show_offer)
        self._prices.answered.connect(made.confirm_each)
        return made

    def open(self) -> None:
        """Open the dialog for the answer whose request the context panel shows."""
        session = self._session.session
        if session is None or self._session.is_running:
            self._frame.notifier.toast(_NOTHING if session is None else _BUSY)
            return
        self._chat, self._entry = session, self._context.shown_entry
        self.dialog.begin()
        self._offer(())

    def _offer(self, keys: Sequence[str]) -> None:
        rehearser, chat, entry = self._assistant.rehearser, self._chat, self._entry
        self._offers.ask(lambda: rehearser.offer(chat, entry, keys), now=True)

    def _find_price(self) -> None:
        rehearser, chat, entry = self._assistant.rehearser, self._chat, self._entry
        self._prices.ask(lambda: rehearser.offer(chat, entry, each=True), now=True)

    def _ask(self, keys: Sequence[str]) -> None:
        rehearser, chat, entry = self._assistant.rehearser, self._chat, self._entry
        self._run(self._runner.stream(lambda token: rehearser.ask(chat, entry, keys, token)))

    def _ask_each(self) -> None:
        rehearser, chat, entry = self._assistant.rehearser, self._chat, self._entry
        self._run(self._runner.stream(lambda token: rehearser.ask_each(chat, entry, token)))

    def _run(self, task: Task) -> None:
        if self._task is not None:
            return
        self._task = task
        task.yielded.connect(self._on_event)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _on_event(self, event: object) -> None:
        if isinstance(event, RehearsalProgress):
            self.dialog.show_progress(event)
        elif isinstance(event, TextDelta):
            self.dialog.add_text(event.text)
        elif isinstance(event, TextTakenBack):
            self.dialog.take_back()
        elif isinstance(event, RehearsalResult):
            self.dialog.show_answer(event)
        elif isinstance(event, EachResult):
            self.dialog.show_table(event)

    def _on_finished(self) -> None:
        self._task = None
        self.dialog.end()
        if self.dialog.isVisible():
            self._offer(self.dialog.parts.left_out)

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        self.dialog.show_failure(info.message)

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _leave(self) -> None:
        self._stop()
        self._offers.forget()
        self._prices.forget()
