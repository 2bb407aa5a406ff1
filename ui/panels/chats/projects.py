"""The list of projects in the sidebar, with the chats of each below it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.panels.chats.chats_model import CHAT_TYPE, NONE_RUNNING, make_chat_row
from ui.panels.chats.sessions import ChatList
from ui.theme import Theme
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural
from ui.widgets.lists import Cell, FitTree, Index, Row, RowDelegate
from ui.widgets.rows_model import Drag, RowColumn, RowsModel

if TYPE_CHECKING:
    from app.library.projects import Project
    from app.sessions.session_info import SessionInfo

__all__ = ["ProjectList"]

_EDITING = QAbstractItemView.State.EditingState
_FLAGS: Final = (
    Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEditable
    | Qt.ItemFlag.ItemIsDropEnabled
)
_ARROW_WIDTH: Final = 36


@dataclass(frozen=True)
class _ProjectRow:
    """A project in the list, with its chats below it."""

    project: "Project"
    chats: "tuple[_ProjectChat, ...]"


@dataclass(frozen=True)
class _ProjectChat:
    """A chat below its project, and the state of its running turn as text."""

    chat: "SessionInfo"
    running: str


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
        self._model: RowsModel[_ProjectRow | _ProjectChat] = RowsModel(
            [RowColumn(self._describe)],
            _name_row,
            self,
            below=_list_below,
            flags=_find_flags,
            drag=Drag(CHAT_TYPE, _find_session, self._can_drop),
        )
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
        self._model.edited.connect(self._on_edited, queued)
        self._model.dropped.connect(self._on_dropped, queued)

    def set_projects(
        self,
        projects: "Sequence[Project]",
        chats: "Mapping[Path, Sequence[SessionInfo]]",
        running: Mapping[str, str] = NONE_RUNNING,
    ) -> None:
        """Replace the listed projects and chats. Open rows, and the current one, are kept.

        While the user is editing a title, the update is delayed until the editor is closed.

        Args:
            chats: the chats of each project that has some, newest first, by its folder.
            running: the states of the running turns as text, by session ID.
        """
        if self.state() == _EDITING:
            self._delayed = partial(self.set_projects, projects, chats, running)
            return
        project, chat = self._find_project(self.currentIndex()), self._find_current_chat()
        self._model.set_rows(
            [_make_row(one, chats.get(one.folder, ()), running) for one in projects]
        )
        self._open_current()
        for index in self._model.list_open():
            self.expand(index)
        kept = self.find_chat(chat)
        if not kept.isValid() and project is not None:
            kept = self._find(project.name)
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
        rows = (row for row in self._model.rows if isinstance(row, _ProjectRow))
        return [one.chat.session for row in rows for one in row.chats]

    def find_chat(self, session: str | None) -> QModelIndex:
        """Return the index of a chat, or an invalid index if no project has it."""
        return self._model.find(("chat", session)) if session else QModelIndex()

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and apply the update that was delayed while it was open."""
        super().closeEditor(editor, hint)
        self.setFocus()
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            delayed()

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of a project or chat."""
        chat, project = self._find_chat(index), self._find_project(index)
        menu = QMenu(self)
        if chat is not None:
            self._chats.fill_menu(menu, chat, partial(self._edit_row, ("chat", chat.session)))
        elif project is not None:
            self._fill_menu(menu, project)
        return menu

    def event(self, event: QEvent) -> bool:
        """Accept the shortcuts of a chat before the window handles them."""
        return (
            event.type() == QEvent.Type.ShortcutOverride
            and self._chats.take_shortcut(event, self._find_chat(self.currentIndex()))
        ) or super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where the mouse was pressed, because the arrow of a project does not open it."""
        self._pressed_x = event.position().x()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename the current row with F2. Other keys of a chat are those of the list of chats."""
        index = self.currentIndex()
        chat = self._find_chat(index)
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

    def is_fold(self, index: Index) -> bool:
        """Return whether the mouse was pressed on the arrow of a project that has chats."""
        has_chats = self._model.rowCount(index) > 0
        return has_chats and self._pressed_x is not None and self._is_arrow(self._pressed_x)

    def _on_clicked(self, index: QModelIndex) -> None:
        """Choose a row. The arrow of a project only shows or hides its chats."""
        is_fold = self.is_fold(index)
        self._pressed_x = None
        if is_fold:
            self.setExpanded(index, not self.isExpanded(index))
            self.mark(self._find_open())
            return
        if self._model.rowCount(index) > 0:
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
        index = self._find(self._to_open or "")
        if index.isValid():
            self._to_open = None
            self._model.set_open(index, True)  # also if it has no chats yet
            self.expand(index)

    def _find_current_chat(self) -> str:
        chat = self._find_chat(self.currentIndex())
        return "" if chat is None else chat.session

    def _find(self, name: str) -> QModelIndex:
        """Return the index of a project by its name, or an invalid index if it is not listed."""
        return self._model.find(("project", name))

    def _find_project(self, index: Index) -> "Project | None":
        row = self._model.find_row(index)
        return row.project if isinstance(row, _ProjectRow) else None

    def _find_chat(self, index: Index) -> "SessionInfo | None":
        row = self._model.find_row(index)
        return row.chat if isinstance(row, _ProjectChat) else None

    def _find_target(self, row: _ProjectRow | _ProjectChat | None) -> "Project | None":
        """Return the project of a row on which a chat is dropped."""
        if isinstance(row, _ProjectChat):
            return self._find_project(self.find_chat(row.chat.session).parent())
        return None if row is None else row.project

    def _can_drop(self, _session: str, row: _ProjectRow | _ProjectChat | None) -> bool:
        project = self._find_target(row)
        return project is not None and project.is_there

    def _describe(self, row: _ProjectRow | _ProjectChat) -> Cell:
        if isinstance(row, _ProjectChat):
            return replace(make_chat_row(row.chat, row.running), depth=1).cell
        return _build_project_row(row, is_open=self._model.is_open(row)).cell

    def _find_open(self) -> QModelIndex:
        """Return the index of the open chat, or of its project if the chat is not shown."""
        name, session = self._current
        chat = self.find_chat(session)
        project = chat.parent() if chat.isValid() else self._find(name or "")
        return chat if chat.isValid() and self.isExpanded(project) else project

    def _show_current(self) -> None:
        index = self._find_open()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def _on_chosen(self, index: QModelIndex) -> None:
        chat = self._find_chat(index)
        if chat is not None:
            self._chats.chat_chosen.emit(chat.session)
        else:
            self.project_chosen.emit(self._find_project(index))

    def _on_edited(self, row: _ProjectRow | _ProjectChat, title: str) -> None:
        if isinstance(row, _ProjectRow):
            self.rename_requested.emit(row.project, title)
        elif title:
            self._chats.rename_requested.emit(row.chat.session, title)

    def _on_dropped(self, session: str, row: _ProjectRow | _ProjectChat) -> None:
        if (project := self._find_target(row)) is not None:
            self._chats.move_requested.emit(session, str(project.folder))

    def _edit_row(self, key: Hashable) -> None:
        """Edit the title of a row, wherever it stands since its menu was opened."""
        if (index := self._model.find(key)).isValid():
            self.edit(index)

    def _fill_menu(self, menu: QMenu, project: "Project") -> None:
        new_chat = menu.addAction("New chat in this project")
        new_chat.setEnabled(project.is_there)
        new_chat.triggered.connect(lambda: self.new_chat_requested.emit(project))
        rename = menu.addAction("Rename", partial(self._edit_row, ("project", project.name)))
        rename.setShortcut("F2")
        settings = menu.addAction("Page of this project…")
        settings.triggered.connect(lambda: self.settings_requested.emit(project))
        remove = menu.addAction("Remove from the list")
        remove.triggered.connect(lambda: self.remove_requested.emit(project))


def _make_row(
    project: "Project", chats: "Sequence[SessionInfo]", running: Mapping[str, str]
) -> _ProjectRow:
    pinned_first = sorted(chats, key=lambda chat: not chat.pinned)
    inner = (_ProjectChat(chat, running.get(chat.session, "")) for chat in pinned_first)
    return _ProjectRow(project, tuple(inner))


def _name_row(row: _ProjectRow | _ProjectChat) -> Hashable:
    if isinstance(row, _ProjectRow):
        return "project", row.project.name
    return "chat", row.chat.session


def _list_below(row: _ProjectRow | _ProjectChat) -> Sequence[_ProjectChat]:
    return row.chats if isinstance(row, _ProjectRow) else ()


def _find_session(row: _ProjectRow | _ProjectChat) -> str:
    return row.chat.session if isinstance(row, _ProjectChat) else ""


def _find_flags(row: _ProjectRow | _ProjectChat | None) -> Qt.ItemFlag:
    """Return the flags of a row. Its title can be edited, and chats can be dropped on it."""
    if row is None:
        return Qt.ItemFlag.NoItemFlags
    is_chat = isinstance(row, _ProjectChat)
    return _FLAGS | Qt.ItemFlag.ItemIsDragEnabled if is_chat else _FLAGS


def _build_project_row(row: _ProjectRow, *, is_open: bool) -> Row:
    """Build the row of a project. A project whose folder is missing has a warning."""
    project, chats = row.project, row.chats
    name = one_line(project.title)
    problem = "" if project.is_there else f"There is no folder at {project.folder}."
    tip = str(project.folder)
    if not chats:
        return Row(name, icon="folder", problem=problem, tip=tip, is_file=True)
    arrow = "open" if is_open else "closed"
    spoken = ", ".join(filter(None, (name, plural(len(chats), "chat"), problem, arrow)))
    right = count(len(chats))
    return Row(name, "", right, problem, tip, spoken, arrow=arrow, is_file=True)
