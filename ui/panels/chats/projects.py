"""The list of projects in the sidebar, with the chats of each below it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.panels.chats.chats_model import (
    CHAT_TYPE,
    NONE_RUNNING,
    make_chat_row,
    pack_chat,
    unpack_chat,
)
from ui.panels.chats.sessions import ChatList
from ui.theme import Theme
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from app.library.projects import Project
    from app.sessions.session_info import SessionInfo

__all__ = ["ProjectList", "ProjectListModel"]

Index = QModelIndex | QPersistentModelIndex
_EDITING = QAbstractItemView.State.EditingState
_TOP: Final = 0  # the internal id of a project; that of a chat is the row of its project, plus 1
_ARROW_WIDTH: Final = 36


class ProjectListModel(QAbstractItemModel):
    """A Qt tree model of projects, with their chats below them, newest first.

    A project whose folder is missing is shown with a warning. Chats can be dragged from the model,
    and dropped on a project or one of its chats.

    Signals:
        renamed: a project and the title that the user typed.
        chat_renamed: a session ID and the title that the user typed.
        chat_dropped: the session ID of a chat that was dropped, and the project.
    """

    renamed = Signal(object, str)
    chat_renamed = Signal(str, str)
    chat_dropped = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._projects: tuple[Project, ...] = ()
        self._chats: tuple[Sequence[SessionInfo], ...] = ()
        self._running = NONE_RUNNING
        self._open: set[Path] = set()

    def set_projects(
        self,
        projects: "Sequence[Project]",
        chats: "Mapping[Path, Sequence[SessionInfo]]",
        running: Mapping[str, str],
    ) -> None:
        """Replace all projects and chats in the list.

        Args:
            projects: the projects.
            chats: the chats of each project that has some, newest first, by its folder.
            running: the states of the running turns as text, by session ID.
        """
        self.beginResetModel()
        self._projects, self._running = tuple(projects), running
        listed = (chats.get(project.folder, ()) for project in projects)
        self._chats = tuple(sorted(found, key=lambda chat: not chat.pinned) for found in listed)
        self.endResetModel()

    def set_open(self, index: Index, is_open: bool) -> None:
        """Set whether the chats of a project are shown, and the row drawn accordingly."""
        if (project := self.project(index)) is not None:
            change = self._open.add if is_open else self._open.discard
            change(project.folder)
            self.dataChanged.emit(index, index)

    def list_open(self) -> list[QModelIndex]:
        """Return the indexes of the projects whose chats are shown."""
        found = enumerate(self._projects)
        return [self.index(row, 0) for row, one in found if one.folder in self._open]

    def project(self, index: Index) -> "Project | None":
        """Return the project in a row, or None for a chat or an invalid index."""
        is_project = index.isValid() and index.internalId() == _TOP
        return self._projects[index.row()] if is_project else None

    def chat(self, index: Index) -> "SessionInfo | None":
        """Return the chat in a row, or None for a project or an invalid index."""
        if not index.isValid() or index.internalId() == _TOP:
            return None
        return self._chats[index.internalId() - 1][index.row()]

    def find(self, name: str) -> QModelIndex:
        """Return the index of a project, or an invalid index if it is not listed.

        Args:
            name: the name of the project.
        """
        for row, project in enumerate(self._projects):
            if project.name == name:
                return self.index(row, 0)
        return QModelIndex()

    def find_chat(self, session: str) -> QModelIndex:
        """Return the index of a chat, or an invalid index if no project has it."""
        for number, chats in enumerate(self._chats, start=1):
            for row, chat in enumerate(chats):
                if chat.session == session:
                    return self.createIndex(row, 0, number)
        return QModelIndex()

    def sessions(self) -> list[str]:
        """Return the session IDs of all chats, in list order."""
        return [chat.session for chats in self._chats for chat in chats]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of projects, or of the chats of a project."""
        if not parent.isValid():
            return len(self._projects)
        return len(self._chats[parent.row()]) if parent.internalId() == _TOP else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns, which is always 1."""
        return 1

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a row, or an invalid index if there is no such row."""
        if not 0 <= row < self.rowCount(parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else _TOP)

    def parent(self, child: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """Return the index of a chat's project, or an invalid index for a project."""
        if not child.isValid() or child.internalId() == _TOP:
            return QModelIndex()
        return self.createIndex(child.internalId() - 1, 0, _TOP)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a project or chat for a Qt item role."""
        if not index.isValid():
            return None
        is_edited = role == Qt.ItemDataRole.EditRole
        chat = self.chat(index)
        if chat is None:
            row = self._build_row(index)
        else:
            row = replace(make_chat_row(chat, self._running.get(chat.session, "")), depth=1)
        return row.data(Qt.ItemDataRole.DisplayRole if is_edited else role)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `renamed` or `chat_renamed` with the typed title. The receiver must rename it."""
        title = one_line(str(value)).strip()
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        if title != index.data() and (chat := self.chat(index)) is not None:
            if title:
                self.chat_renamed.emit(chat.session, title)
        elif title != index.data():
            self.renamed.emit(self.project(index), title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a row. Its title can be edited, and chats can be dropped on it."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        found = super().flags(index) | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDropEnabled
        return found if self.chat(index) is None else found | Qt.ItemFlag.ItemIsDragEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        """Return that a chat is moved by dropping it."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Return the type of a chat that is dragged."""
        return [CHAT_TYPE]

    def mimeData(self, indexes: "Sequence[Index]") -> QMimeData:
        """Return the chat that is dragged."""
        return pack_chat(next(filter(None, map(self.chat, indexes)), None))

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Emit `chat_dropped`. The receiver must move the chat."""
        project = self.project(parent) or self.project(self.parent(parent))
        session = unpack_chat(data)
        if not session or project is None or not project.is_there:
            return False
        self.chat_dropped.emit(session, project)
        return True

    def _build_row(self, index: Index) -> Row:
        project, chats = self._projects[index.row()], self._chats[index.row()]
        name = one_line(project.title)
        problem = "" if project.is_there else f"There is no folder at {project.folder}."
        tip = str(project.folder)
        if not chats:
            return Row(name, icon="folder", problem=problem, tip=tip, is_file=True)
        arrow = "open" if project.folder in self._open else "closed"
        said = ", ".join(filter(None, (name, plural(len(chats), "chat"), problem, arrow)))
        right = count(len(chats))
        return Row(name, "", right, problem, tip, said, arrow=arrow, is_file=True)


class ProjectList(FitTree):
    """The list of projects with their chats. Enter or a click opens one, F2 renames it.

    The arrow of a project, or the keys Left and Right, hide and show its chats. A chat has the menu
    and the keys that it has in the list of chats.

    Signals:
        project_chosen: emitted with a project that the user wants to open.
        new_chat_requested: emitted with a project in which the user wants to start a chat.
        rename_requested: emitted with a project and its new title, which is blank for the name of
            its folder.
        settings_requested: emitted with a project whose page the user wants to see.
        remove_requested: emitted with a project that the user wants to remove from the list.

    Args:
        chats: the list of the other chats, which offers the actions of a chat.
        parent: the Qt parent.
    """

    project_chosen = Signal(object)
    new_chat_requested = Signal(object)
    rename_requested = Signal(object, str)
    settings_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, chats: ChatList, parent: QWidget | None = None) -> None:
        super().__init__("Projects", parent)
        self._chats = chats
        self._model = ProjectListModel(self)
        self._current: tuple[str | None, str | None] = (None, None)
        self._to_open: str | None = None
        self._delayed: Callable[[], None] | None = None
        self._pressed_x: float | None = None
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.setUniformRowHeights(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.chosen.connect(self._on_chosen)
        self.expanded.connect(lambda index: self._model.set_open(index, True))
        self.collapsed.connect(lambda index: self._model.set_open(index, False))
        # Queued, because the list is reloaded while the editor is still being closed.
        queued = Qt.ConnectionType.QueuedConnection
        self._model.renamed.connect(self.rename_requested, queued)
        self._model.chat_renamed.connect(chats.rename_requested, queued)
        self._model.chat_dropped.connect(self._on_dropped, queued)

    def set_projects(
        self,
        projects: "Sequence[Project]",
        chats: "Mapping[Path, Sequence[SessionInfo]]",
        running: Mapping[str, str] = NONE_RUNNING,
    ) -> None:
        """Replace the listed projects and chats. Open rows, and the current one, are kept.

        While the user is editing a title, the update is delayed until the editor is closed. For the
        arguments, see `ProjectListModel.set_projects`.
        """
        if self.state() == _EDITING:
            self._delayed = partial(self.set_projects, projects, chats, running)
            return
        project, chat = self._model.project(self.currentIndex()), self._find_current_chat()
        self._model.set_projects(projects, chats, running)
        self._open_current()
        for index in self._model.list_open():
            self.expand(index)
        kept = self._model.find_chat(chat) if chat else QModelIndex()
        if not kept.isValid() and project is not None:
            kept = self._model.find(project.name)
        if self.hasFocus() and kept.isValid():
            self.setCurrentIndex(kept)
        else:
            self._show_current()

    def select(self, name: str | None, session: str | None = None) -> None:
        """Select the open chat, or its project if it is not listed. None clears the selection.

        Args:
            name: the name of the open chat's project.
            session: the session ID of the open chat.
        """
        is_other = self._current != (name, session)
        self._current = (name, session)
        self._to_open = name if is_other else self._to_open
        self._open_current()
        if is_other or not self.hasFocus():
            self._show_current()

    def sessions(self) -> list[str]:
        """Return the session IDs of the listed chats, in list order."""
        return self._model.sessions()

    def find_chat(self, session: str | None) -> QModelIndex:
        """Return the index of a chat, or an invalid index if no project has it."""
        return self._model.find_chat(session) if session else QModelIndex()

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and apply the update that was delayed while it was open."""
        super().closeEditor(editor, hint)
        self.setFocus()
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            delayed()

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of a project or chat."""
        chat, project = self._model.chat(index), self._model.project(index)
        menu = QMenu(self)
        if chat is not None:
            self._chats.fill_menu(menu, chat, partial(self.edit, index))
        elif project is not None:
            self._fill_menu(menu, project, index)
        return menu

    def event(self, event: QEvent) -> bool:
        """Accept the shortcuts of a chat before the window handles them."""
        return (
            event.type() == QEvent.Type.ShortcutOverride
            and self._chats.take_shortcut(event, self._model.chat(self.currentIndex()))
        ) or super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where the mouse was pressed, because the arrow of a project does not open it."""
        self._pressed_x = event.position().x()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename the current row with F2. Other keys of a chat are those of the list of chats."""
        index = self.currentIndex()
        chat = self._model.chat(index)
        self._pressed_x = None
        if self.state() == _EDITING:
            event.accept()  # Enter ends the editing of a title and must not open the row
        elif chat is not None and self._chats.take_key(event, chat, partial(self.edit, index)):
            event.accept()
        elif event.key() == Qt.Key.Key_F2 and index.isValid():
            self.edit(index)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Select the open chat again when the list loses the focus."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and self.state() != _EDITING:
            self._show_current()

    def _on_clicked(self, index: QModelIndex) -> None:
        """Choose a row. The arrow of a project only shows or hides its chats."""
        pressed_x, self._pressed_x = self._pressed_x, None
        has_chats = self._model.rowCount(index) > 0
        if has_chats and pressed_x is not None and self._is_arrow(pressed_x):
            self.setExpanded(index, not self.isExpanded(index))
            return
        if has_chats:
            self.expand(index)
        self.chosen.emit(index)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        """Choose a row again, because the second press has taken the focus."""
        self.chosen.emit(index)

    def _is_arrow(self, x: float) -> bool:
        from_start = self.viewport().width() - x if self.isRightToLeft() else x
        return from_start < Theme.current().px(_ARROW_WIDTH)

    def _open_current(self) -> None:
        """Show the chats of the project whose chat was opened last, once the project is listed."""
        index = self._model.find(self._to_open or "")
        if index.isValid():
            self._to_open = None
            self._model.set_open(index, True)  # also if it has no chats yet
            self.expand(index)

    def _find_current_chat(self) -> str:
        chat = self._model.chat(self.currentIndex())
        return "" if chat is None else chat.session

    def _show_current(self) -> None:
        name, session = self._current
        chat = self._model.find_chat(session) if session else QModelIndex()
        project = chat.parent() if chat.isValid() else self._model.find(name or "")
        index = chat if chat.isValid() and self.isExpanded(project) else project
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def _on_chosen(self, index: QModelIndex) -> None:
        chat = self._model.chat(index)
        if chat is not None:
            self._chats.chat_chosen.emit(chat.session)
        else:
            self.project_chosen.emit(self._model.project(index))

    def _on_dropped(self, session: str, project: "Project") -> None:
        self._chats.move_requested.emit(session, str(project.folder))

    def _fill_menu(self, menu: QMenu, project: "Project", index: QModelIndex) -> None:
        new_chat = menu.addAction("New chat in this project")
        new_chat.setEnabled(project.is_there)
        new_chat.triggered.connect(lambda: self.new_chat_requested.emit(project))
        rename = menu.addAction("Rename", lambda: self.edit(index))
        rename.setShortcut("F2")
        settings = menu.addAction("Page of this project…")
        settings.triggered.connect(lambda: self.settings_requested.emit(project))
        remove = menu.addAction("Remove from the list")
        remove.triggered.connect(lambda: self.remove_requested.emit(project))
