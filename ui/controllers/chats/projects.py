"""Fill the list of projects, and open, rename and remove projects."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from app.errors import describe
from app.library.projects import Project
from ui.controllers.navigation import SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.settings.project import ProjectView
from ui.tasks import LatestOnly
from ui.widgets.buttons import DISMISS, ButtonText
from ui.widgets.completion_list import Choice
from ui.widgets.dialogs import choose_folder
from ui.widgets.texts import word_hint, word_message

__all__ = ["ProjectController"]

_LOOK_AGAIN = ButtonText("Look again", "Try to open the folder again")
_REMOVE = ButtonText("Remove from the list", "Remove the project; its notes and chats stay")
_UNDO_MOVE = ButtonText("Undo", "Move the chat back")
_UNDO_REMOVE = ButtonText("Undo", "Put the project back into the list")


class ProjectController(ChatController):
    """Fills the list of projects, keeps it up to date, and opens projects.

    The signal `changed` is emitted after something was saved on the page of a project.
    """

    changed = Signal()

    def __init__(
        self, shared: Collaborators, session: SessionController, sessions: SessionListController
    ) -> None:
        super().__init__(shared, session)
        self._sessions = sessions
        self._pages: dict[str, ProjectView] = {}
        self._lists = LatestOnly(self._runner, 0, self)
        self._lists.answered.connect(self._on_listed)
        self._lists.failed.connect(self._on_failed)
        sidebar = self._frame.sidebar
        sidebar.projects.project_chosen.connect(self._on_chosen)
        sidebar.projects.new_chat_requested.connect(self._on_new_chat)
        sidebar.projects.rename_requested.connect(self._on_rename)
        sidebar.projects.settings_requested.connect(self._on_settings_requested)
        sidebar.projects.remove_requested.connect(self._on_remove)
        sidebar.chats.move_requested.connect(self._move)
        self._frame.middle.project_requested.connect(self.show_page)
        sidebar.project_requested.connect(self.choose_folder)
        session.loaded.connect(self._on_loaded)
        session.session_changed.connect(self._on_session_changed)

    def refresh(self) -> None:
        """Reload the list of projects."""
        self._lists.ask(self._assistant.projects.list, now=True)

    def choose_folder(self) -> None:
        """Let the user choose a folder and open it as a project."""
        start = str(self._assistant.vault or Path.home())
        chosen = choose_folder(self._frame.window, "Open a folder as a project", start)
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
            for project in self._sessions.projects
        ]

    def begin_again(self, name: str) -> str:
        """Begin a chat in place of one in which nothing was asked before the program was closed.

        Args:
            name: the project of the chat, or an empty string.

        Returns:
            The session ID of the chat, or an empty string for a new chat that is in no project.
        """
        is_known = any(name == project.name for project in self._assistant.projects.list())
        return self._create_chat(name) if is_known else ""

    def _create_chat(self, name: str) -> str:
        vault = self._assistant.vault
        return self._assistant.sessions.begin(None if vault is None else str(vault), name)

    def _begin_chat(self, name: str) -> None:
        session = self._create_chat(name)
        self._frame.middle.clear_notice()
        self._frame.middle.show_chat(True)
        self._frame.navigation.open_session(session)
        self.refresh()

    def _on_chosen(self, project: Project) -> None:
        """Continue a project's latest chat, or start one if it has no chat."""
        if not project.is_there:
            self._show_lost(project)
            return
        known = self._sessions.known
        last = next((chat for chat in known if chat.project_folder == project.folder), None)
        if last is None:
            self._begin_chat(project.name)
        else:
            self._frame.navigation.open_session(last.session)

    def _on_new_chat(self, project: Project) -> None:
        self._begin_chat(project.name)

    def _on_rename(self, project: Project, title: str) -> None:
        name = str(project.folder)
        task = self._runner.call(lambda: self._assistant.projects.rename(name, title))
        task.yielded.connect(lambda _none: self._on_renamed(name))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_renamed(self, name: str) -> None:
        if name in self._pages:
            self._pages[name].refresh()
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
        self._show_page(str(project.folder))

    def show_page(self) -> None:
        """Show the page of the open chat's project, or a message if it has none."""
        if self._session.project is None:
            self._frame.notifier.toast("This chat is in no project.")
        else:
            self._show_page(str(self._assistant.projects.find_folder(self._session.project)))

    def _show_page(self, name: str) -> None:
        middle = self._frame.middle
        if name not in self._pages:
            page = ProjectView(self._assistant, name, self._runner, middle)
            page.model_wanted.connect(self._frame.navigation.set_model)
            page.titled.connect(partial(middle.set_page_title, page))
            page.changed.connect(self.changed)
            self._pages[name] = page
        page = self._pages[name]
        page.refresh()
        self._frame.columns.close_drawer()
        self._frame.navigation.show_chat()  # a note may cover it
        middle.show_page(page, page.accessibleName())

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
        self._show_project()

    def _on_session_changed(self, session: str | None) -> None:
        if session is None:
            self._show_project()

    def _show_project(self) -> None:
        """Show the project of the open chat in the sidebar and in the header."""
        name, sidebar = self._session.project, self._frame.sidebar
        sidebar.projects.select(name, self._session.session)
        title = "" if name is None else self._assistant.projects.find_title(name)
        sidebar.search_scope.show_project(title)
        folder = "" if name is None else str(self._assistant.projects.find_folder(name))
        self._frame.middle.set_project(title, name or "", folder)

    def _move(self, session: str, folder: str) -> None:
        """Move a chat to the project in a folder, or out of its project if `folder` is empty."""
        chat = self._sessions.find(session)
        if chat is None or self._sessions.refuse_running(session):
            return
        projects, before = self._assistant.projects, chat.project_folder

        def move() -> str:
            name = projects.name_for_chat(folder, chat.vault) if folder else None
            self._assistant.branches.move_to_project(session, name)
            return "" if name is None else projects.find_title(folder)

        task = self._runner.call(move)
        task.yielded.connect(lambda title: self._on_moved(session, title, before))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_moved(self, session: str, title: str, before: Path | None) -> None:
        self._sessions.refresh()
        if session == self._session.session:
            self._session.load()
        where = f"is in {title}" if title else "is in no project"
        undo = partial(self._move, session, "" if before is None else str(before))
        name = self._sessions.shorten_title(session)
        self._frame.notifier.toast(f"The chat “{name}” {where}.", (_UNDO_MOVE, undo))

    def _on_listed(self, projects: Sequence[Project]) -> None:
        self._sessions.projects = projects
        if not projects and self._frame.sidebar.projects.hasFocus():
            self._frame.composer.setFocus()  # the list is hidden when it is empty
        self._sessions.show_known()
        self._show_project()

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        middle = self._frame.middle
        dismiss = (DISMISS, middle.clear_notice)
        middle.show_notice("amber", word_message(info), word_hint(info.hint), dismiss)
