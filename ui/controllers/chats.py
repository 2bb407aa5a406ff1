"""The list of chats, and the way from one to the next."""

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import describe
from app.sessions.store import SessionInfo
from ui.controllers.session import Conversation
from ui.panels.sidebar import Sidebar
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.choices import Choice
from ui.widgets.figures import ago

__all__ = ["Chats"]


class Chats(QObject):
    """Keeps the sidebar's list in step with the chats there are.

    `titled` carries the title of the open one; `failed` a sentence.
    """

    titled = Signal(str)
    failed = Signal(str)

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, talk: Conversation, sidebar: Sidebar
    ) -> None:
        super().__init__(talk)
        self._assistant = assistant
        self._talk, self._sidebar = talk, sidebar
        self._known: list[SessionInfo] = []
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_listed)
        self._asks.failed.connect(lambda error: self.failed.emit(describe(error).message))

    def refresh(self) -> None:
        """Ask what chats there are now."""
        self._asks.ask(self._assistant.list_sessions, now=True)

    def neighbour(self, step: int) -> str | None:
        """Return the chat above (-1) or below (1) the open one; None at either end."""
        return self._sidebar.chats.neighbour(self._talk.session, step)

    def choices(self) -> list[Choice]:
        """Return the chats as the palette offers them."""
        return [
            Choice(chat.session, chat.title or "New chat", "chat", ago(chat.updated), "chat")
            for chat in self._known
        ]

    def _on_listed(self, chats: list[SessionInfo]) -> None:
        self._known = chats
        self._sidebar.show_chats(chats, self._talk.session)
        for chat in chats:
            if chat.session == self._talk.session:
                self.titled.emit(chat.title)
