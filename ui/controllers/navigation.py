"""Navigation: the list of chats, the palette, and the search in the open chat."""

from PySide6.QtCore import QObject

from app.assistant import Assistant
from app.errors import describe
from app.sessions.store import SessionInfo
from ui.actions import command_choices
from ui.chat.transcript.finder import Finder
from ui.controllers.notes import NotesController
from ui.controllers.session import SessionController
from ui.controllers.turns import ChatTurn
from ui.frame import WindowFrame
from ui.palette import Palette
from ui.tasks import LatestOnly, TaskRunner
from ui.widgets.completion_list import Choice
from ui.widgets.figures import ago
from ui.widgets.find_bar import FindBar

__all__ = ["PaletteController", "SessionListController"]


class SessionListController(QObject):
    """Keeps the list of chats in the sidebar up to date."""

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._frame, self._session = assistant, frame, session
        self._known: list[SessionInfo] = []
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_listed)
        self._asks.failed.connect(self._on_failed)
        session.turn_ended.connect(self._on_turn_ended)
        session.session_changed.connect(frame.sidebar.chats.select)

    def refresh(self) -> None:
        """Reload the list of chats."""
        self._asks.ask(self._assistant.list_sessions, now=True)

    def find_neighbour(self, step: int) -> str | None:
        """Return the session id of the chat above (-1) or below (1) the open one, or None."""
        return self._frame.sidebar.chats.neighbour(self._session.session, step)

    def choices(self) -> list[Choice]:
        """Return the chats as choices for the palette."""
        return [
            Choice(chat.session, chat.title or "New chat", "chat", ago(chat.updated), "chat")
            for chat in self._known
        ]

    def _on_turn_ended(self, _turn: ChatTurn) -> None:
        self.refresh()

    def _on_listed(self, chats: list[SessionInfo]) -> None:
        self._known = chats
        self._frame.sidebar.show_chats(chats, self._session.session)
        for chat in chats:
            if chat.session == self._session.session:
                self._frame.middle.set_title(chat.title)

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)


class PaletteController(QObject):
    """Owns the palette and the search in the open chat."""

    def __init__(
        self,
        frame: WindowFrame,
        sessions: SessionListController,
        notes: NotesController,
    ) -> None:
        super().__init__(frame)
        self._frame, self._sessions, self._notes = frame, sessions, notes
        bar = FindBar("Find in this chat")
        bar.hide()
        frame.middle.add_find_bar(bar)
        self._finder = Finder(frame.transcript, bar)
        self._palette = Palette(frame)
        self._palette.chosen.connect(self._on_chosen)

    def open(self) -> None:
        """Open the palette with all commands, chats and notes."""
        groups = [
            ("command", command_choices()),
            ("chat", self._sessions.choices()),
            ("note", self._notes.listing.offers.notes),
        ]
        self._palette.open(groups, "A command, a chat or a note")

    def open_notes(self) -> None:
        """Open the palette with notes only."""
        self._palette.open([("note", self._notes.listing.offers.notes)], "Open a note")

    def find(self) -> None:
        """Open the search bar of the open chat."""
        self._finder.open()

    def close(self) -> bool:
        """Close the palette; return False if it was not open."""
        return self._palette.dismiss()

    def _on_chosen(self, group: str, value: str) -> None:
        if group == "command":
            self._frame.navigation.run_command(value)
        elif group == "chat":
            self._frame.navigation.open_session(value)
        else:
            self._frame.navigation.show_note(value, 0, 0)
