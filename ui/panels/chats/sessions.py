"""The list of chats: pinned first, then by time of last use, then the archive and the bin."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QKeyCombination,
    QModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.panels.chats.chats_model import (
    CHAT_TYPE,
    NONE_RUNNING,
    ChatRow,
    Fold,
    find_chat_flags,
    list_chat_rows,
    list_hit_rows,
)
from ui.widgets.controls import one_line
from ui.widgets.lists import FitTree, Index, RowDelegate
from ui.widgets.menus import select_item, show_menu
from ui.widgets.rows_model import Drag, RowColumn, RowsModel

if TYPE_CHECKING:
    from app.library.projects import Project
    from app.sessions.bin import BinnedChat
    from app.sessions.search import ChatHit
    from app.sessions.session_info import ChatMark, SessionInfo

__all__ = ["ChatList", "list_mark_actions"]

_EDITING = QAbstractItemView.State.EditingState
_PIN_KEYS, _ARCHIVE_KEYS = "Ctrl+D", "Ctrl+E"
_MARK_KEYS: "dict[QKeyCombination, ChatMark]" = {
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_D): "pinned",
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_E): "archived",
}


class ChatList(FitTree):
    """The list of chats. Enter or a click opens a chat, F2 renames it, Delete deletes it.

    Ctrl+D pins or unpins a chat. Ctrl+E archives or restores it. For a chat in the bin, a click or
    Enter opens a menu, and Delete deletes it for good. The signals are emitted when the user
    requests an action. If there are arguments, the first one is the chat's session ID, except that
    of `hit_chosen`.

    Signals:
        chat_chosen: open the chat.
        delete_requested: delete the chat.
        note_requested: save the chat as a note.
        export_requested: export the chat in a format: `md` or `json`.
        rename_requested: give the chat a new title.
        move_requested: move the chat to a project, given its folder, or out of its project ("").
        mark_requested: set (True) or clear (False) the mark `pinned` or `archived`.
        hit_chosen: open a `ChatHit`, which is a text that a search has found.
        unbin_requested: restore the chat from the bin.
        removal_requested: delete the chat in the bin for good.
        emptying_requested: delete all chats in the bin for good.
    """

    chat_chosen = Signal(str)
    hit_chosen = Signal(object)
    rename_requested = Signal(str, str)
    move_requested = Signal(str, str)
    delete_requested = Signal(str)
    export_requested = Signal(str, str)
    mark_requested = Signal(str, str, bool)
    note_requested = Signal(str)
    unbin_requested = Signal(str)
    removal_requested = Signal(str)
    emptying_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Chats", parent)
        self._model: RowsModel[ChatRow] = RowsModel(
            [RowColumn(lambda row: row.shown.cell)],
            lambda row: row.key,
            self,
            flags=find_chat_flags,
            drag=Drag(CHAT_TYPE, lambda row: row.session, self._can_drop),
        )
        self._chats: Sequence[SessionInfo] = ()
        self._running = NONE_RUNNING
        self._binned: Sequence[BinnedChat] = ()
        self._open_folds: set[Fold] = set()
        self._vault = ""
        self._is_search = False
        self._open: str | None = None
        self._delayed: Callable[[], None] | None = None
        self._projects: Sequence[Project] = ()
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.chosen.connect(self._on_chosen)
        # Queued, because the list is reloaded while the editor is still being closed.
        queued = Qt.ConnectionType.QueuedConnection
        self._model.edited.connect(self._on_edited, queued)
        self._model.dropped.connect(self._on_dropped, queued)

    def set_chats(
        self,
        chats: "Sequence[SessionInfo]",
        current: str | None,
        running: Mapping[str, str] = NONE_RUNNING,
        binned: "Sequence[BinnedChat]" = (),
    ) -> None:
        """Replace the listed chats, and select the open chat.

        While the user is editing a title, the update is delayed until the editor is closed.

        Args:
            chats: the chats, newest first.
            current: the session ID of the open chat, or None for a new chat.
            running: the states of the running turns as text, by session ID.
            binned: the chats in the bin, the one deleted last first.
        """
        if self.state() == QAbstractItemView.State.EditingState:
            self._delayed = partial(self.set_chats, chats, current, running, binned)
            return
        self._is_search = False
        row, used = self.currentIndex().row(), self._find_session(self.currentIndex())
        self._chats, self._running, self._binned = chats, running, binned
        self._show_chats()
        self.select(current)
        if self.hasFocus() and row >= 0 and (not used or used != current):
            self._stay_near(row, used)

    def set_projects(self, projects: "Sequence[Project]") -> None:
        """Set the projects to which the menu of a chat offers to move it."""
        self._projects = projects

    def set_vault(self, vault: str) -> None:
        """Set the open vault. Chats of other vaults are listed with their vault's name."""
        self._vault = vault

    def set_hits(self, hits: "Sequence[ChatHit]", titles: Mapping[str, str]) -> None:
        """Show the texts that a search found, below the titles of their chats.

        A chosen text stays the current row if it is found again. Otherwise no row is current, or
        Enter would open a text that the user has not chosen.

        For the arguments, see `list_hit_rows`.
        """
        self._is_search = True
        before = self._find_current_hit()
        self._model.set_rows(list_hit_rows(hits, titles))
        if before is None or self._find_current_hit() != before:
            self._select_none()
        self.scrollToTop()

    def is_fold(self, index: Index) -> bool:
        """Return whether a row is no chat that a click opens, such as the bin."""
        row = self._model.find_row(index)
        return row is not None and not row.session

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and apply the update that was delayed while it was open."""
        super().closeEditor(editor, hint)
        self.setFocus()
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            delayed()

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of a chat. During a search, the menu is empty."""
        menu = QMenu(self)
        chat, row = self._find_chat(index), self._model.find_row(index)
        if row is not None and row.binned is not None:
            self._fill_binned(menu, row.binned.info.session)
        elif row is not None and row.fold == "bin":
            menu.addAction("Empty the bin…", self.emptying_requested.emit)
        if chat is not None and not self._is_search:
            self.fill_menu(menu, chat, partial(self._edit_chat, chat.session))
        return menu

    def fill_menu(self, menu: QMenu, chat: "SessionInfo", edit: Callable[[], object]) -> None:
        """Add the actions of a chat to a menu.

        Args:
            chat: the chat, in this list or below a project.
            edit: starts editing the title.
        """
        session = chat.session
        rename = menu.addAction("Rename", edit)
        rename.setShortcut("F2")
        for kind, word in (("md", "Export as Markdown"), ("json", "Export as JSON")):
            export = menu.addAction(word)
            export.triggered.connect(
                lambda _checked=False, kind=kind: self.export_requested.emit(session, kind)
            )
        menu.addAction("Save as note…", lambda: self.note_requested.emit(session))
        self.add_move_menu(menu, chat)
        menu.addSeparator()
        for mark, word, keys in list_mark_actions(chat):
            action = menu.addAction(word, partial(self._ask_mark, chat, mark))
            action.setShortcut(keys)
        menu.addSeparator()
        delete = menu.addAction("Delete", lambda: self.delete_requested.emit(session))
        delete.setShortcut("Del")

    def add_move_menu(self, menu: QMenu, chat: "SessionInfo") -> None:
        """Add a submenu that moves a chat to a project, or out of its project."""
        move = self.move_requested.emit
        targets = [one for one in self._projects if one.folder != chat.project_folder]
        inner = menu.addMenu("Move to project")
        for project in targets:
            title = one_line(project.title).replace("&", "&&")
            action = inner.addAction(title, partial(move, chat.session, str(project.folder)))
            action.setEnabled(project.is_there)
        if chat.project is not None:
            inner.addSeparator()
            inner.addAction("Out of its project", partial(move, chat.session, ""))
        inner.setEnabled(not inner.isEmpty())

    def _fill_binned(self, menu: QMenu, session: str) -> None:
        menu.addAction("Restore", lambda: self.unbin_requested.emit(session))
        menu.addSeparator()
        remove = menu.addAction("Delete for good…", lambda: self.removal_requested.emit(session))
        remove.setShortcut("Del")

    def event(self, event: QEvent) -> bool:
        """Accept the shortcuts for pinning and archiving before the window handles them."""
        return (
            event.type() == QEvent.Type.ShortcutOverride
            and self.take_shortcut(event, self._find_chat(self.currentIndex()))
        ) or super().event(event)

    def take_shortcut(self, event: QEvent, chat: "SessionInfo | None") -> bool:
        """Accept the announcement of a shortcut of a chat. Return False for another shortcut."""
        if chat is None or not isinstance(event, QKeyEvent):
            return False
        is_known = event.keyCombination() in _MARK_KEYS
        event.setAccepted(is_known or event.isAccepted())
        return is_known

    def take_key(self, event: QKeyEvent, chat: "SessionInfo", edit: Callable[[], object]) -> bool:
        """Do what a key does to a chat, and return whether it does anything.

        Args:
            event: the key.
            chat: the chat, in this list or below a project.
            edit: starts editing the title.
        """
        if event.key() == Qt.Key.Key_F2:
            edit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit(chat.session)
        elif event.keyCombination() in _MARK_KEYS:
            self._ask_mark(chat, _MARK_KEYS[event.keyCombination()])
        else:
            return False
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename (F2), delete (Delete), pin (Ctrl+D) or archive (Ctrl+E) the current chat."""
        index = self.currentIndex()
        chat, row = self._find_chat(index), self._model.find_row(index)
        binned = None if row is None else row.binned
        if self.state() == QAbstractItemView.State.EditingState:
            event.accept()  # Enter ends the editing of a title and must not open the chat
        elif binned is not None and event.key() == Qt.Key.Key_Delete:
            self.removal_requested.emit(binned.info.session)
        elif chat is None or self._is_search or not self.take_key(event, chat, self._edit_current):
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Select the open chat again when the list loses the focus, except during a search."""
        super().focusOutEvent(event)
        is_left = event.reason() != Qt.FocusReason.PopupFocusReason
        if is_left and not self._is_search and self.state() != _EDITING:
            self.select(self._open)

    def select(self, session: str | None) -> None:
        """Select the row of the open chat, given its session ID. None clears the selection."""
        self._open = session
        if session is not None and self._find_session(self.currentIndex()) == session:
            return  # if a search found several texts in a chat, the chosen one stays selected
        index = self._model.find(session) if session else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self._select_none()

    def sessions(self) -> list[str]:
        """Return the session IDs of the listed chats, in list order."""
        return [row.session for row in self._model.rows if row.session]

    def _show_chats(self) -> None:
        chats, running, binned = self._chats, self._running, self._binned
        self._model.set_rows(list_chat_rows(chats, running, binned, self._open_folds, self._vault))

    def _find_session(self, index: QModelIndex) -> str:
        """Return the session ID of a row, or "" for a heading, a fold or a chat in the bin."""
        row = self._model.find_row(index)
        return "" if row is None else row.session

    def _find_current_hit(self) -> "ChatHit | None":
        row = self._model.find_row(self.currentIndex())
        return None if row is None else row.hit

    def _select_none(self) -> None:
        self.clearSelection()
        self.setCurrentIndex(QModelIndex())

    def _find_chat(self, index: QModelIndex) -> "SessionInfo | None":
        session = self._find_session(index)
        return next((chat for chat in self._chats if chat.session == session), None)

    def _can_drop(self, session: str, _row: ChatRow | None) -> bool:
        """Return whether a chat that is dropped is not listed yet."""
        return session not in self.sessions()

    def _on_edited(self, row: ChatRow, title: str) -> None:
        if title:
            self.rename_requested.emit(row.session, title)

    def _on_dropped(self, session: str) -> None:
        self.move_requested.emit(session, "")

    def _edit_chat(self, session: str) -> None:
        """Edit the title of a chat, wherever it stands since its menu was opened."""
        if (index := self._model.find(session)).isValid():
            self.edit(index)

    def _edit_current(self) -> None:
        self.edit(self.currentIndex())

    def _stay_near(self, row: int, session: str) -> None:
        """Select a chat. If it is no longer listed, select the row that is now in its position.

        Args:
            row: the position of the row that was the current one.
            session: the session ID of the chat in it, or "" for a row of another kind.
        """
        found = self._model.find(session) if session else QModelIndex()
        place = found if found.isValid() else self._model.index(row, 0)
        if place.isValid() and self._model.flags(place):
            self._stay_at(place)

    def _stay_at(self, index: QModelIndex) -> None:
        """Make a row the current one. If it is no chat, the open chat stays selected."""
        self.setCurrentIndex(index)
        if self.is_fold(index):
            self.mark(self._model.find(self._open) if self._open else QModelIndex())

    def _ask_mark(self, chat: "SessionInfo", mark: "ChatMark") -> None:
        self.mark_requested.emit(chat.session, mark, not getattr(chat, mark))

    def _on_chosen(self, index: QModelIndex) -> None:
        row = self._model.find_row(index)
        if row is None:
            return
        if row.fold is not None:
            self._open_folds ^= {row.fold}
            self._show_chats()
            self._stay_at(self._model.find(row.key))
            self.scrollTo(self.currentIndex())
            return
        if row.binned is not None:
            menu = self.build_menu(index)
            show_menu(menu, self.viewport().mapToGlobal(self.visualRect(index).bottomLeft()))
            select_item(menu)
            return
        if row.hit is not None:
            self.hit_chosen.emit(row.hit)
        elif row.session:
            self.chat_chosen.emit(row.session)


def list_mark_actions(chat: "SessionInfo") -> "list[tuple[ChatMark, str, str]]":
    """Return the actions that pin or unpin a chat, and archive or restore it.

    Each action is a tuple of the mark (`pinned` or `archived`), the menu text and the shortcut.
    """
    pin = "Unpin" if chat.pinned else "Pin to the top"
    archive = "Restore from the archive" if chat.archived else "Archive"
    return [("pinned", pin, _PIN_KEYS), ("archived", archive, _ARCHIVE_KEYS)]
