"""The list of projects in the sidebar."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QMenu, QWidget

from ui.widgets.controls import one_line
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from app.library.projects import Project

__all__ = ["ProjectList", "ProjectListModel"]

Index = QModelIndex | QPersistentModelIndex


class ProjectListModel(QAbstractListModel):
    """A Qt list model of projects. A project whose folder is missing is shown with a warning."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._projects: tuple[Project, ...] = ()

    def set_projects(self, projects: "Sequence[Project]") -> None:
        """Replace all projects in the list."""
        self.beginResetModel()
        self._projects = tuple(projects)
        self.endResetModel()

    def project(self, index: Index) -> "Project | None":
        """Return the project in a row, or None for an invalid index."""
        return self._projects[index.row()] if index.isValid() else None

    def find(self, name: str) -> QModelIndex:
        """Return the index of a project, or an invalid index if it is not listed.

        Args:
            name: the name of the project.
        """
        for row, project in enumerate(self._projects):
            if project.name == name:
                return self.index(row, 0)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of projects."""
        return 0 if parent.isValid() else len(self._projects)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a project for a Qt item role."""
        return _build_row(self._projects[index.row()]).data(role) if index.isValid() else None


class ProjectList(FitTree):
    """The list of projects.

    Signals:
        project_chosen: emitted with a project that the user wants to open.
        new_chat_requested: emitted with a project in which the user wants to start a chat.
        settings_requested: emitted with a project whose settings the user wants to see.
        remove_requested: emitted with a project that the user wants to remove from the list.
    """

    project_chosen = Signal(object)
    new_chat_requested = Signal(object)
    settings_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Projects", parent)
        self._model = ProjectListModel(self)
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.chosen.connect(self._on_chosen)
        self.menu_wanted.connect(self._on_menu_wanted)

    def set_projects(self, projects: "Sequence[Project]", current: str | None) -> None:
        """Replace the listed projects, and select the open chat's project."""
        self._model.set_projects(projects)
        self.select(current)

    def select(self, name: str | None) -> None:
        """Select the project of the open chat, given its name. None clears the selection."""
        index = self._model.find(name) if name else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def _on_chosen(self, index: QModelIndex) -> None:
        self.project_chosen.emit(self._model.project(index))

    def _on_menu_wanted(self, index: QModelIndex, menu: QMenu) -> None:
        project = self._model.project(index)
        new_chat = menu.addAction("New chat in this project")
        new_chat.setEnabled(project is not None and project.is_there)
        new_chat.triggered.connect(lambda: self.new_chat_requested.emit(project))
        settings = menu.addAction("Settings of this project…")
        settings.triggered.connect(lambda: self.settings_requested.emit(project))
        remove = menu.addAction("Remove from the list")
        remove.triggered.connect(lambda: self.remove_requested.emit(project))


def _build_row(project: "Project") -> Row:
    name = one_line(project.folder.name or str(project.folder))
    problem = "" if project.is_there else f"There is no folder at {project.folder}."
    return Row(name, icon="folder", problem=problem, tip=str(project.folder), is_file=True)
