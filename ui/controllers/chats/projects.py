"""Fill the list of projects, and open, rename and remove projects."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from app.errors import describe
from app.library.projects import Project, find_project_folder
from app.sessions.session_info import SessionInfo
from ui.controllers.navigation import SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.settings.project import ProjectDialog
from ui.tasks import LatestOnly
from ui.widgets.buttons import DISMISS, ButtonText
from ui.widgets.completion_list import Choice
from ui.widgets.dialogs import choose_folder
from ui.widgets.texts import word_hint

__all__ = ["ProjectController"]

_LOOK_AGAIN = ButtonText("Look again", "Try to open the folder again")
_REMOVE = ButtonText("Remove from the list", "Remove the project; its notes and chats stay")
_UNDO_REMOVE = ButtonText("Undo", "Put the project back into the list")


class ProjectController(ChatController):
    """Fills the list of projects, keeps it up to date, and opens projects."""

    def __init__(
        self, shared: Collaborators, session: SessionController, sessions: SessionListController
    ) -> None:
        super().__init__(shared, session)
        self._sessions = sessions
        self._known: Sequence[Project] = ()
        self._dialogs: dict[str, ProjectDialog] = {}
        self._lists = LatestOnly(self._runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_failed)
        sidebar = self._frame.sidebar
        sidebar.projects.project_chosen.connect(self._on_chosen)
        sidebar.projects.new_chat_requested.connect(self._on_new_chat)
        sidebar.projects.rename_requested.connect(self._on_rename)
        sidebar.projects.settings_requested.connect(self._on_settings_requested)
        sidebar.projects.remove_requested.connect(self._on_remove)
        sidebar.project_requested.connect(self.choose_folder)
        session.loaded.connect(self._on_loaded)
        session.session_changed.connect(self._on_session_changed)

    def refresh(self) -> None:
        """Reload the list of projects."""
        self._lists.ask(self._assistant.projects.list, now=True)

    def choose_folder(self) -> None:
        """Let the user choose a folder and open it as a project."""
        start = str(self._assistant.vault or Path.home())
        chosen = choose_folder(self._frame, "Open a folder as a project", start)
        if chosen:
            self.open(chosen)

    def open(self, named: str) -> None:
        """Open a folder as a project and begin a chat in it.

        Args:
            named: the folder's path, either relative to the vault or absolute.
        """
        task = self._runner.call(lambda: self._assistant.projects.add(named))
        task.yielded.connect(self._begin_chat)
        task.failed.connect(self._on_failed)
        task.start()

    def choices(self) -> list[Choice]:
        """Return the projects as choices for the palette."""
        return [
            Choice(str(project.folder), project.title, "folder", str(project.folder), "project")
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
        """Continue a project's latest chat, or start one if it has no chat."""
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

    def _on_rename(self, project: Project, title: str) -> None:
        name = str(project.folder)
        task = self._runner.call(lambda: self._assistant.projects.rename(name, title))
        task.yielded.connect(lambda _none: self._on_renamed(name))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_renamed(self, name: str) -> None:
        if name in self._dialogs:
            self._dialogs[name].refresh()
        self.refresh()
        self._session.refresh_empty()

    def _on_remove(self, project: Project) -> None:
        task = self._runner.call(lambda: self._assistant.projects.remove(str(project.folder)))
        task.yielded.connect(lambda _none: self._on_removed(project))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_removed(self, project: Project) -> None:
        self.refresh()
        text = f"{project.title} was removed from the list."
        self._frame.notifier.toast(text, (_UNDO_REMOVE, lambda: self._restore(project)))

    def _restore(self, project: Project) -> None:
        """Put a removed project back into the list."""
        task = self._runner.call(lambda: self._assistant.projects.add(str(project.folder)))
        task.yielded.connect(lambda _name: self.refresh())
        task.failed.connect(self._on_failed)
        task.start()

    def _on_settings_requested(self, project: Project) -> None:
        """Open a project's settings in a dialog, which keeps unsaved input when it is closed."""
        projects, name = self._assistant.projects, str(project.folder)
        if name not in self._dialogs:
            self._dialogs[name] = ProjectDialog(projects, name, self._runner, self._frame)
        self._dialogs[name].refresh()
        self._dialogs[name].open()

    def _show_lost(self, project: Project) -> None:
        middle = self._frame.middle
        remove = (_REMOVE, partial(self._remove_lost, project))
        middle.show_notice(
            "amber",
            f"There is no folder at {project.folder}.",
            "The chats of the project are kept.",
            (_LOOK_AGAIN, partial(self._look_again, project)),
            remove,
            (DISMISS, middle.clear_notice),
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
        sidebar = self._frame.sidebar
        if not projects and sidebar.projects.hasFocus():
            self._frame.composer.setFocus()  # the list is hidden when it is empty
        sidebar.show_projects(projects, self._session.project)

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        middle = self._frame.middle
        dismiss = (DISMISS, middle.clear_notice)
        middle.show_notice("amber", info.message, word_hint(info.hint), dismiss)
