"""Navigation: the lists of chats and projects, the palette, and the search in the open chat."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.assistant import Assistant
from app.errors import describe
from app.library.projects import Project, find_project_folder
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

__all__ = ["PaletteController", "ProjectController", "SessionListController"]


class SessionListController(QObject):
    """Keeps the list of chats in the sidebar up to date.

    Attributes:
        known: the chats as listed last, the most recently used first.
    """

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._frame, self._session = assistant, frame, session
        self.known: list[SessionInfo] = []
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
            for chat in self.known
        ]

    def _on_turn_ended(self, _turn: ChatTurn) -> None:
        self.refresh()

    def _on_listed(self, chats: list[SessionInfo]) -> None:
        self.known = chats
        self._frame.sidebar.show_chats(chats, self._session.session)
        for chat in chats:
            if chat.session == self._session.session:
                self._frame.middle.set_title(chat.title)

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)


class ProjectController(QObject):
    """Keeps the list of projects up to date, and opens projects."""

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
        sessions: SessionListController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._runner, self._frame = assistant, runner, frame
        self._session, self._sessions = session, sessions
        self._known: Sequence[Project] = ()
        self._lists = LatestOnly(runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_failed)
        sidebar = frame.sidebar
        sidebar.projects.project_chosen.connect(self._on_chosen)
        sidebar.projects.new_chat_requested.connect(self._on_new_chat)
        sidebar.projects.remove_requested.connect(self._on_remove)
        sidebar.project_requested.connect(self.choose_folder)
        session.loaded.connect(self._on_loaded)
        session.session_changed.connect(self._on_session_changed)

    def refresh(self) -> None:
        """Reload the list of projects."""
        self._lists.ask(self._assistant.projects.list, now=True)

    def choose_folder(self) -> None:
        """Let the user choose a folder, and open it as a project."""
        start = str(self._assistant.vault or Path.home())
        chosen = QFileDialog.getExistingDirectory(self._frame, "Open a folder as a project", start)
        if chosen:
            self.open(chosen)

    def open(self, named: str) -> None:
        """Open a folder as a project, and begin a chat in it.

        Args:
            named: the folder, relative to the vault, or its full path.
        """
        task = self._runner.call(lambda: self._assistant.projects.add(named))
        task.yielded.connect(self._begin_chat)
        task.failed.connect(self._on_failed)
        task.start()

    def choices(self) -> list[Choice]:
        """Return the projects as choices for the palette."""
        return [
            Choice(
                str(project.folder), project.folder.name, "folder", str(project.folder), "project"
            )
            for project in self._known
        ]

    def _begin_chat(self, name: str) -> None:
        vault = self._assistant.vault
        session = self._assistant.sessions.begin(None if vault is None else str(vault), name)
        self._frame.middle.clear_notice()
        self._frame.middle.show_chat(True)
        self._frame.navigation.open_session(session)
        self.refresh()

    def _on_chosen(self, project: Project) -> None:
        """Continue the last chat of a project, or begin one."""
        if not project.is_there:
            self._show_lost(project)
            return
        last = next((one for one in self._sessions.known if self._is_in(one, project)), None)
        if last is None:
            self._begin_chat(project.name)
        else:
            self._frame.navigation.open_session(last.session)

    def _is_in(self, chat: SessionInfo, project: Project) -> bool:
        name = chat.project
        return name is not None and find_project_folder(chat.vault, name) == project.folder

    def _on_new_chat(self, project: Project) -> None:
        self._begin_chat(project.name)

    def _on_remove(self, project: Project) -> None:
        task = self._runner.call(lambda: self._assistant.projects.remove(str(project.folder)))
        task.yielded.connect(lambda _none: self.refresh())
        task.failed.connect(self._on_failed)
        task.start()

    def _show_lost(self, project: Project) -> None:
        middle = self._frame.middle
        remove = ("Remove from the list", partial(self._remove_lost, project))
        middle.show_notice(
            "amber",
            f"There is no folder at {project.folder}.",
            "The chats of the project are kept.",
            ("Look again", partial(self._look_again, project)),
            remove,
            ("Dismiss", middle.clear_notice),
        )

    def _look_again(self, project: Project) -> None:
        self._frame.middle.clear_notice()
        self.open(str(project.folder))

    def _remove_lost(self, project: Project) -> None:
        self._frame.middle.clear_notice()
        self._on_remove(project)

    def _on_loaded(self, _transcript: object, _is_new: bool) -> None:
        self._frame.sidebar.projects.select(self._session.project)

    def _on_session_changed(self, session: str | None) -> None:
        if session is None:
            self._frame.sidebar.projects.select(None)

    def _on_listed(self, projects: Sequence[Project]) -> None:
        self._known = projects
        self._frame.sidebar.show_projects(projects, self._session.project)

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        middle = self._frame.middle
        dismiss = ("Dismiss", middle.clear_notice)
        middle.show_notice("amber", info.message, info.hint or "", dismiss)


class PaletteController(QObject):
    """Owns the palette and the search in the open chat."""

    def __init__(
        self,
        frame: WindowFrame,
        sessions: SessionListController,
        projects: ProjectController,
        notes: NotesController,
    ) -> None:
        super().__init__(frame)
        self._frame, self._sessions, self._notes = frame, sessions, notes
        self._projects = projects
        bar = FindBar("Find in this chat")
        bar.hide()
        frame.middle.add_find_bar(bar)
        self._finder = Finder(frame.transcript, bar)
        self._palette = Palette(frame)
        self._palette.chosen.connect(self._on_chosen)

    def open(self) -> None:
        """Open the palette with all commands, chats, projects and notes."""
        groups = [
            ("command", command_choices()),
            ("chat", self._sessions.choices()),
            ("project", self._projects.choices()),
            ("note", self._notes.listing.offers.notes),
        ]
        self._palette.open(groups, "A command, a chat, a project or a note")

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
        elif group == "project":
            self._frame.navigation.open_project(value)
        else:
            self._frame.navigation.show_note(value, 0, 0)
