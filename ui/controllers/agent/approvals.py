"""Show the tool calls that an agent proposes, and pass on the user's approval or refusal.

While a tool call awaits approval, its turn's thread is blocked in the `ApprovalDesk`. For each
event `ApprovalRequested`, a card appears in the chat, and its buttons pass the user's decision to
the desk.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QTextEdit

from chains.events import ApprovalRequested, ToolEnded
from chains.tool import ApprovalRequest, Verdict
from chains.tools.approval_desk import ApprovalDesk
from ui.chat.message.approval_card import ApprovalCard
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import CallDecided, ChatTurn
from ui.notify import announce
from ui.widgets.buttons import ButtonText

__all__ = ["ApprovalController"]

_OPEN_CHAT = ButtonText("Open the chat", "Show the chat that waits for your decision")
_SHOW_CHAT = ButtonText("Show the chat", "Close the note, and show what waits for your decision")
_SHOW_END = ButtonText("Show it", "Scroll to what waits for your decision")
_TITLE_CHARS: Final = 60


@dataclass
class _Waiting:
    """A proposed tool call that the user has neither approved nor refused yet."""

    turn: ChatTurn
    request: ApprovalRequest
    card: ApprovalCard | None = None
    left_out: frozenset[int] = frozenset()


class ApprovalController(ChatController):
    """Shows tool calls that need approval as cards, and passes decisions to the `ApprovalDesk`."""

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._waiting: dict[str, _Waiting] = {}
        self._desk = ApprovalDesk()
        self._assistant.agents.connect(self._desk)
        session.event_arrived.connect(self._on_event)
        session.turn_ended.connect(self._on_turn_ended)
        session.session_changed.connect(self._on_session_changed)
        session.loaded.connect(self._on_loaded)

    @property
    def card(self) -> ApprovalCard | None:
        """The first unanswered approval card in the open chat, or None if there is none."""
        cards = [waiting.card for waiting in self._waiting.values() if waiting.card is not None]
        return cards[0] if cards else None

    def refuse(self) -> bool:
        """Refuse the proposed tool call in the open chat. Return False if there is none."""
        card = self.card
        if card is not None:
            card.decide("reject")
        return card is not None

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        if isinstance(event, ApprovalRequested):
            request = event.request
            self._forget_call(turn, request.call_id)  # the same call is proposed again
            self._desk.open(request.id, len(request.proposal.hunks))
            self._waiting[request.id] = _Waiting(turn, request)
            self._ask(request.id)
        elif isinstance(event, ToolEnded):
            self._forget_call(turn, event.step.id)

    def _ask(self, id: str) -> None:
        """Ask the user to approve a proposed tool call.

        If its chat is not open, show a toast that opens the chat.

        Args:
            id: the ID of the approval request.
        """
        turn = self._waiting[id].turn
        QApplication.alert(self._frame.window)
        if self._session.is_open(turn):
            self._show(id)
            if self._frame.middle.is_chat_covered:
                self._offer_card(id, "The chat behind this note", _SHOW_CHAT)
            elif not self._frame.transcript.scroller.is_following:
                self._offer_card(id, "The end of this chat", _SHOW_END)
            return
        title = turn.ask.question[:_TITLE_CHARS]
        session = turn.session
        self._frame.notifier.toast(
            f"“{title}” waits for your decision",
            (_OPEN_CHAT, partial(self._frame.navigation.open_session, session)),
        )

    def _offer_card(self, id: str, place: str, button_text: ButtonText) -> None:
        """Show a toast that says where the chat waits for a decision.

        The toast's action shows the chat and focuses the approval card.

        Args:
            id: the ID of the approval request.
            place: the location of the card, as the subject of the toast's sentence.
        """
        text = f"{place} waits for your decision"
        action = (button_text, partial(self._uncover, id))
        self._frame.notifier.toast(text, action, is_of_chat=True)

    def _uncover(self, id: str) -> None:
        self._frame.navigation.show_chat()
        waiting = self._waiting.get(id)
        if waiting is not None and waiting.card is not None:
            self._frame.transcript.reveal(waiting.card)
            waiting.card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, id: str) -> None:
        waiting = self._waiting[id]
        card = self._frame.transcript.show_approval(waiting.request)
        card.decided.connect(self._on_decided)
        waiting.card = card
        if card.hunks is not None:
            card.hunks.leave_out(waiting.left_out)
        announce(card, card.accessibleName(), is_urgent=True)
        if self._frame.transcript.scroller.is_following and not self._is_user_writing():
            card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _is_user_writing(self) -> bool:
        """Return whether the user has begun a message, or the focus is in another text field."""
        focus = QApplication.focusWidget()
        is_field = isinstance(focus, QLineEdit | QTextEdit) and not focus.isReadOnly()
        is_elsewhere = is_field and focus is not self._frame.composer.input
        return is_elsewhere or bool(self._frame.composer.text())

    def _on_decided(self, id: str, verdict: Verdict) -> None:
        waiting = self._waiting[id]
        self._forget(id)
        decided = CallDecided(waiting.request, verdict != "reject")
        self._session.take_event(waiting.turn, decided)
        self._desk.answer(id, verdict)

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        for id, waiting in list(self._waiting.items()):
            if waiting.turn is turn:
                self._forget(id)

    def _on_session_changed(self, _session: str | None) -> None:
        """Forget the cards of the previous chat, but remember which hunks were switched off.

        The chat's tool calls still wait for approval.
        """
        for waiting in self._waiting.values():
            hunks = waiting.card.hunks if waiting.card is not None else None
            if hunks is not None:
                waiting.left_out = frozenset(hunks.find_left_out())
            waiting.card = None

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        for id, waiting in self._waiting.items():
            if waiting.card is None and self._session.is_open(waiting.turn):
                self._show(id)

    def _forget_call(self, turn: ChatTurn, call: str) -> None:
        for id, waiting in list(self._waiting.items()):
            if waiting.turn is turn and waiting.request.call_id == call:
                self._forget(id)

    def _forget(self, id: str) -> None:
        """Forget a proposed tool call and remove its card.

        If the card had the focus, focus the composer.
        """
        card = self._waiting.pop(id).card
        if card is None:
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and card.isAncestorOf(focus)
        if had_focus:
            self._frame.composer.setFocus()
        self._frame.transcript.remove_approval(card)
