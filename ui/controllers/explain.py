"""Why a note is a source of the last answer or not, asked for by a menu and told in a panel."""

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.sessions.request_history import NOT_ASKED, why_sent
from ui.controllers.session import Conversation
from ui.panels.notes.sources import SourcesPanel
from ui.tasks import LatestOnly, TaskRunner

__all__ = ["Explaining"]


class Explaining(QObject):
    """Looks up the reason and shows it above the sources; `told` is emitted when it is there."""

    told = Signal()

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, talk: Conversation, panel: SourcesPanel
    ) -> None:
        super().__init__(talk)
        self._assistant, self._talk, self._panel = assistant, talk, panel
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_answered)
        self._asks.failed.connect(self._on_failed)
        panel.reason_requested.connect(self.explain)
        talk.turn_begun.connect(self.forget)
        talk.session_changed.connect(self.forget)

    def explain(self, path: str) -> None:
        """Find out why a note was given to the model for the last question, or why not."""
        session = self._talk.session
        if session is None:
            self._show(NOT_ASKED)
        else:
            self._asks.ask(lambda: self._reason(session, path), now=True)

    def forget(self) -> None:
        """Another question or another chat is open now."""
        self._asks.forget()
        self._panel.hide_reason()

    def _reason(self, session: str, path: str) -> str:
        assistant = self._assistant
        if assistant.library is None:
            return "No folder is open."
        chat = assistant.sessions.read(session)
        return why_sent(assistant.library, chat, path, assistant.settings.values.retrieval_top_k)

    def _on_answered(self, reason: str) -> None:
        self._show(reason)

    def _on_failed(self, error: Exception) -> None:
        self._show(describe(error).message)

    def _show(self, reason: str) -> None:
        self._panel.show_reason(reason)
        self.told.emit()
