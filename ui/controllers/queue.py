"""Queue messages while answers are generated. Each is sent when its chat's answer is complete."""

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import Signal

from chains.request.ask import Ask
from ui.controllers.drafts import DraftStore, join_messages
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn

__all__ = ["QueueController"]

_SENT_AFTER = frozenset({"complete", "limit"})


@dataclass(frozen=True)
class _Queued:
    """A queued message, and the vault that was open when it was queued."""

    ask: Ask
    vault: Path | None


class QueueController(ChatController):
    """Queues one message for each chat with a running turn, and shows it above the composer.

    The message is sent when the answer is complete, even if another chat has been opened. It is put
    back into the draft of its chat if the answer fails or is stopped, if another vault has been
    opened, or if the user asks for it.

    Emits `returned` with an `Ask` for the composer.

    Args:
        drafts: saves the queued messages, in case the program is killed.
    """

    returned = Signal(object)

    def __init__(
        self, shared: Collaborators, session: SessionController, drafts: DraftStore
    ) -> None:
        super().__init__(shared, session)
        self._drafts = drafts
        self._queued: dict[ChatTurn, _Queued] = {}
        self._due: _Queued | None = None  # sent as soon as the chat is loaded with its answer
        session.turn_ended.connect(self._on_turn_ended)
        session.loaded.connect(self._on_loaded)

    def add(self, ask: Ask) -> None:
        """Queue a message behind the running turn of the open chat.

        If a message is already queued, append the new one to it.
        """
        turn = self._session.turn
        if turn is None:
            return
        before = self._queued.get(turn)
        ask = ask if before is None else join_messages(before.ask, ask)
        self._queued[turn] = _Queued(self._session.address(ask), self._assistant.vault)
        self.update()

    def update(self) -> None:
        """Show the queued message of the open chat, and save all queued messages.

        If another chat has been opened, send a message whose answer is already complete.
        """
        due = self._due
        if due is not None and due.ask.session != self._session.session:
            self._due = None
            self._send(due)
        self._show()
        kept = {turn.session or "": queued.ask for turn, queued in self._queued.items()}
        if self._due is not None:
            kept[self._due.ask.session or ""] = self._due.ask
        self._drafts.set_queued(kept)

    def take_back(self) -> None:
        """Put the queued message back into the composer, in front of the composer's text."""
        shown, self._due = self._find_shown(), None
        if self._session.turn is not None:
            self._queued.pop(self._session.turn, None)
        self.update()
        if shown is not None:
            self.returned.emit(shown.ask)

    def _find_shown(self) -> _Queued | None:
        """Return the queued message of the open chat, or None."""
        turn = self._session.turn
        return self._due if turn is None else self._queued.get(turn)

    def _show(self) -> None:
        shown = self._find_shown()
        if shown is None:
            self._frame.composer.waiting.hide()
            return
        text = shown.ask.question
        self._frame.composer.show_waiting("Sent after this answer", text, self.take_back)

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        queued = self._queued.pop(turn, None)
        if queued is None:
            return
        queued = replace(queued, ask=replace(queued.ask, session=turn.session))
        is_answered = turn.result is not None and turn.result.answer.end.status in _SENT_AFTER
        if is_answered and queued.vault == self._assistant.vault:
            self._due = queued
            self.update()
            return
        self.update()
        if self._session.is_open(turn):
            self.returned.emit(queued.ask)
        else:
            self._drafts.give_back(turn.session, queued.ask)

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        due = self._due
        if due is not None and not self._session.is_running:
            self._due = None
            self.update()
            self._send(due)

    def _send(self, queued: _Queued) -> None:
        self._frame.count_sent_message()
        self._session.ask(queued.ask)
