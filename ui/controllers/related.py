"""Show related notes, and the reason why a note was or was not sent to the model."""

from PySide6.QtCore import QObject

from app.assistant import Assistant
from app.errors import describe
from app.sessions.request_history import NOT_ASKED, explain_sending
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn
from ui.panels.docks import RightColumn
from ui.tasks import LatestOnly, TaskRunner
from vault.notes.kinds import MARKDOWN, find_kind
from vault.search.related import RelatedNote
from vault.vault import Vault

__all__ = ["ReasonController", "RelatedController"]

# The path of a note, what is related to it, and the title of the project that this stays in.
Answer = tuple[str, list[RelatedNote] | Exception, str]


class RelatedController(QObject):
    """Shows the notes related to the open note, or to the last cited note if no note is open.

    The panel is only filled while it is visible. It is refreshed when the notes change.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner, column: RightColumn) -> None:
        super().__init__(column)
        self._assistant = assistant
        self._panel = column.related
        self._open = self._cited = ""
        self._project: str | None = None
        self._shown: str | None = None
        self._asks = LatestOnly(runner, 0, self)
        self._asks.answered.connect(self._on_answered)
        self._panel.looked_at.connect(self._show)
        column.sources.cited.connect(self.set_cited)

    def set_project(self, project: str | None) -> None:
        """Set the project of the open chat. What is related to a note in it stays in it.

        Args:
            project: the name of the project, or None.
        """
        if project != self._project:
            self._project = project
            self.refresh()

    def set_open(self, path: str) -> None:
        """Set the path of the open note, or an empty string if no note is open."""
        self._open = path
        self._show()

    def set_cited(self, path: str) -> None:
        """Set the note whose related notes are shown while no note is open, or "" for none."""
        self._cited = path
        self._show()

    def refresh(self) -> None:
        """Search for related notes again, because notes have changed."""
        self._shown = None
        self._show()

    def forget(self) -> None:
        """Forget the open note and the cited note, because another vault has been opened."""
        self._open = self._cited = ""
        self.refresh()

    def _show(self) -> None:
        path = self._open or self._cited
        if not self._panel.isVisible() or path == self._shown:
            return
        self._shown = path
        if not path:
            self._asks.forget()
            self._panel.show_nothing()
            return
        self._panel.begin(path)
        project = self._project
        self._asks.ask(lambda: self._find(path, project), now=True)

    def _find(self, path: str, project: str | None) -> Answer:
        library = self._assistant.library
        try:
            if project is not None and (notes := self._open_project(project, path)) is not None:
                title = self._assistant.projects.find_title(project)
                return path, notes.find_related(path), title
            return path, [] if library is None else library.vault.find_related(path), ""
        except Exception as error:  # noqa: BLE001 - the panel shows the error
            return path, error, ""

    def _open_project(self, project: str, path: str) -> Vault | None:
        """Return the notes of a project, or None if a note is not one of them."""
        notes = self._assistant.projects.open(project)
        is_inside = any(notes.name_path(note.path) == path for note in notes.notes())
        return notes if is_inside else None

    def _on_answered(self, answer: Answer) -> None:
        path, found, project = answer
        if isinstance(found, Exception):
            self._panel.show_error(path, describe(found).message)
        else:
            can_link = path == self._open and find_kind(path) is MARKDOWN
            self._panel.show_notes(path, found, can_link=can_link, project=project)


class ReasonController(ChatController):
    """Shows the reason why a note was or was not sent to the model for the last answer."""

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._asks = LatestOnly(self._runner, 0, self)
        self._asks.answered.connect(self._on_answered)
        self._asks.failed.connect(self._on_failed)
        self._frame.column.sources.reason_requested.connect(self.explain)
        self._frame.sidebar.notes.reason_requested.connect(self.explain)
        session.turn_begun.connect(self._on_turn_begun)
        session.session_changed.connect(self._on_session_changed)

    def explain(self, path: str) -> None:
        """Show why a note was or was not sent to the model with the last user message."""
        session = self._session.session
        if session is None:
            self._show(NOT_ASKED)
        else:
            self._asks.ask(lambda: self._reason(session, path), now=True)

    def _reason(self, session: str, path: str) -> str:
        assistant = self._assistant
        if assistant.library is None:
            return "No folder is open."
        chat = assistant.sessions.read(session)
        k = assistant.settings.values.retrieval_top_k
        return explain_sending(assistant.library.vault, chat, path, k)

    def _on_turn_begun(self, _turn: ChatTurn) -> None:
        self._forget()

    def _on_session_changed(self, _session: str | None) -> None:
        self._forget()

    def _forget(self) -> None:
        self._asks.forget()
        self._frame.column.sources.hide_reason()

    def _on_answered(self, reason: str) -> None:
        self._show(reason)

    def _on_failed(self, error: Exception) -> None:
        self._show(describe(error).message)

    def _show(self, reason: str) -> None:
        self._frame.column.sources.show_reason(reason)
        self._frame.docking.show_sources()
