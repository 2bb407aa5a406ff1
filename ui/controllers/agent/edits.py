"""Show the changes that an agent made to notes, and undo them.

Each chat shows a card for the last agent run that changed notes, unless the user has undone the
changes. The card appears after the turn, and again when the chat is reopened, even after a restart.
"""

from functools import partial

from app.errors import describe
from chains.events import RunEdits
from ui.chat.message.edits_card import EditsCard, summarise_edits
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn
from ui.notify import announce
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText

__all__ = ["EditsController"]

_OPEN_CHAT = ButtonText("Open the chat", "Show the chat in which the notes were changed")


class EditsController(ChatController):
    """Shows a card in the open chat with the notes that an agent changed, and undoes changes."""

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._finds = LatestOnly(self._runner, 0, self)
        self._finds.answered.connect(self._on_found)
        self._finds.failed.connect(self._on_failed)
        session.turn_ended.connect(self._on_turn_ended)
        session.loaded.connect(self._on_loaded)

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        edits = None if turn.result is None else turn.result.edits
        if turn.result is None and self._session.is_open(turn):
            self._find_last()  # the notes may have been changed before the turn failed
        if edits is None:
            return
        if self._session.is_open(turn):
            self._show(edits)
        else:
            self._frame.notifier.toast(
                summarise_edits(edits.notes),
                (_OPEN_CHAT, partial(self._frame.navigation.open_session, turn.session)),
            )

    def _on_loaded(self, _transcript: object, is_new: bool) -> None:
        if is_new and not self._session.is_running:
            self._find_last()

    def _find_last(self) -> None:
        session = self._session.session
        if session is not None:
            find = self._assistant.edits.describe_last_run
            self._finds.ask(lambda: (session, find(session)), now=True)

    def _on_found(self, answer: tuple[str, RunEdits | None]) -> None:
        session, edits = answer
        if edits is not None and session == self._session.session:
            self._show(edits)

    def _show(self, edits: RunEdits) -> None:
        shown = self._frame.transcript.list_edits()
        if all(card.run != edits.run for card in shown):
            card = self._frame.transcript.show_edits(edits)
            card.undo_requested.connect(self._on_undo_requested)
            card.note_requested.connect(self._frame.navigation.show_note)
            announce(card, card.text)

    def _on_undo_requested(self, run: str) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._on_undone(run))
        task.failed.connect(lambda error: self._on_refused(run, error))
        task.start()

    def _on_undone(self, run: str) -> None:
        for card in self._find_cards(run):
            card.show_undone()
            announce(card, card.state)

    def _on_refused(self, run: str, error: Exception) -> None:
        for card in self._find_cards(run):
            card.show_failure(describe(error).message)
            announce(card, card.state, is_urgent=True)

    def _find_cards(self, run: str) -> list[EditsCard]:
        return [card for card in self._frame.transcript.list_edits() if card.run == run]

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
