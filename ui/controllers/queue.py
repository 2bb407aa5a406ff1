"""The message that is queued while an answer is being generated, and sent when it is complete."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from ui.chat.composer.composer_controls import ComposerLine
from ui.controllers.drafts import UnsentMessage
from ui.controllers.session import SessionController
from ui.controllers.turns import ChatTurn
from ui.frame import WindowFrame
from ui.widgets.controls import one_line

__all__ = ["QueueController"]

_SHOWN_CHARS = 60
_SENT_AFTER = frozenset({"complete", "limit"})


class QueueController(QObject):
    """Queues one message while the chat is being answered, and shows it above the composer.

    The message is sent when the answer is complete. If the answer fails or is stopped, or if the
    user takes the message back, it returns to the composer. When another chat is opened, the
    message stays in the draft of the chat it was written in.

    Emits `returned` with an `UnsentMessage` for the composer.

    Args:
        frame: the main window.
        session: runs the turns.
        keep: a function that saves the draft: the queued message followed by the composer's text.
    """

    returned = Signal(object)

    def __init__(
        self,
        frame: WindowFrame,
        session: SessionController,
        keep: Callable[[], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._frame, self._session, self._keep = frame, session, keep
        self._line: ComposerLine = frame.composer.waiting
        self._message: UnsentMessage | None = None
        self._is_due = False
        session.turn_ended.connect(self._on_turn_ended)
        session.loaded.connect(self._on_loaded)

    def add(self, message: UnsentMessage) -> None:
        """Queue a message. If a message is queued already, append the new one to it."""
        self._set(message if self._message is None else self._message.before(message))
        self._keep()

    def before(self, unsent: UnsentMessage) -> UnsentMessage:
        """Return the queued message, if any, followed by the message `unsent` from the composer."""
        return unsent if self._message is None else self._message.before(unsent)

    def take_back(self) -> None:
        """Put the queued message back into the composer, in front of the composer's text."""
        message = self._message
        self.drop()
        if message is not None:
            self.returned.emit(message)

    def drop(self) -> None:
        """Discard the queued message. The chat's draft still contains it."""
        self._is_due = False
        self._set(None)

    def _set(self, message: UnsentMessage | None) -> None:
        self._message = message
        if message is None:
            self._line.hide()
            return
        text = one_line(message.text)
        shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS].rstrip()}…"
        self._line.say(f"Sent after this answer: {shown}", [("Take it back", self.take_back)])

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        if self._message is None or not self._session.is_open(turn):
            return
        if turn.result is not None and turn.result.status in _SENT_AFTER:
            self._is_due = True  # sent when the chat has been loaded with the answer
        else:
            self.take_back()

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        message, is_due = self._message, self._is_due
        if message is None or not is_due or self._session.is_running:
            return
        self.drop()
        self._keep()
        self._frame.count_sent_message()
        self._session.ask(message.text, message.attached, message.reads_whole)
