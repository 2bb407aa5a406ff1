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
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.widgets.controls import one_line
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from app.library.projects import Project

__all__ = ["ProjectList", "ProjectListModel"]

Index = QModelIndex | QPersistentModelIndex


class ProjectListModel(QAbstractListModel):
    """A Qt list model of projects. A project whose folder is missing is shown with a warning.

    Emits `renamed` with a project and the title that the user typed.
    """

    renamed = Signal(object, str)

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
        if not index.isValid():
            return None
        is_edited = role == Qt.ItemDataRole.EditRole
        row = _build_row(self._projects[index.row()])
        return row.data(Qt.ItemDataRole.DisplayRole if is_edited else role)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `renamed` with the typed title. The receiver must rename the project."""
        project, title = self.project(index), one_line(str(value)).strip()
        if role != Qt.ItemDataRole.EditRole or project is None:
            return False
        if title != index.data():
            self.renamed.emit(project, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a project, whose title can be edited."""
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable


class ProjectList(FitTree):
    """The list of projects. Enter or a click opens a project, F2 renames it.

    Signals:
        project_chosen: emitted with a project that the user wants to open.
        new_chat_requested: emitted with a project in which the user wants to start a chat.
        rename_requested: emitted with a project and its new title, which is blank for the name of
            its folder.
        settings_requested: emitted with a project whose settings the user wants to see.
        remove_requested: emitted with a project that the user wants to remove from the list.
    """

    project_chosen = Signal(object)
    new_chat_requested = Signal(object)
    rename_requested = Signal(object, str)
    settings_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Projects", parent)
        self._model = ProjectListModel(self)
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.chosen.connect(self._on_chosen)
        self.menu_wanted.connect(self._on_menu_wanted)
        # Queued, because the list is reloaded while the editor is still being closed.
        self._model.renamed.connect(self.rename_requested, Qt.ConnectionType.QueuedConnection)

    def set_projects(self, projects: "Sequence[Project]", current: str | None) -> None:
        """Replace the listed projects, and select the open chat's project.

        While the list has the focus, the current row stays current, so that keys still act on it.
        """
        kept = self._model.project(self.currentIndex()) if self.hasFocus() else None
        self._model.set_projects(projects)
        is_listed = kept is not None and self._model.find(kept.name).isValid()
        self.select(kept.name if kept is not None and is_listed else current)

    def select(self, name: str | None) -> None:
        """Select the project of the open chat, given its name. None clears the selection."""
        index = self._model.find(name) if name else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and return the focus to the list."""
        super().closeEditor(editor, hint)
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename the current project with F2. Enter in the title editor only ends the editing."""
        if self.state() == QAbstractItemView.State.EditingState:
            event.accept()
        elif event.key() == Qt.Key.Key_F2 and self.currentIndex().isValid():
            self.edit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_chosen(self, index: QModelIndex) -> None:
        self.project_chosen.emit(self._model.project(index))

    def _on_menu_wanted(self, index: QModelIndex, menu: QMenu) -> None:
        project = self._model.project(index)
        new_chat = menu.addAction("New chat in this project")
        new_chat.setEnabled(project is not None and project.is_there)
        new_chat.triggered.connect(lambda: self.new_chat_requested.emit(project))
        rename = menu.addAction("Rename", lambda: self.edit(index))
        rename.setShortcut("F2")
        settings = menu.addAction("Settings of this project…")
        settings.triggered.connect(lambda: self.settings_requested.emit(project))
        remove = menu.addAction("Remove from the list")
        remove.triggered.connect(lambda: self.remove_requested.emit(project))


def _build_row(project: "Project") -> Row:
    name = one_line(project.title)
    problem = "" if project.is_there else f"There is no folder at {project.folder}."
    return Row(name, icon="folder", problem=problem, tip=str(project.folder), is_file=True)
