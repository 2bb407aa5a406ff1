"""The list of chats: pinned chats first, then by time of last use, archived chats last."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QKeyCombination,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QWidget

from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural, when_group
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from app.sessions.search import ChatHit
    from app.sessions.session_info import ChatMark, SessionInfo

__all__ = ["NONE_RUNNING", "ChatList", "ChatListModel", "list_mark_actions"]

Index = QModelIndex | QPersistentModelIndex
_UNTITLED = "New chat"
NONE_RUNNING: Mapping[str, str] = MappingProxyType({})
_EDITABLE = Qt.ItemFlag.ItemIsEditable
_EDITING = QAbstractItemView.State.EditingState
_PIN_KEYS, _ARCHIVE_KEYS = "Ctrl+D", "Ctrl+E"
_MARK_KEYS: "dict[QKeyCombination, ChatMark]" = {
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_D): "pinned",
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_E): "archived",
}


class ChatListModel(QAbstractListModel):
    """A Qt list model of chats, newest first, with a heading for each period, such as `Last week`.

    Pinned chats come first. Archived chats come last, below a row that shows and hides them. During
    a search, the model lists the matching texts, each below the title of its chat. Emits `renamed`
    with a session ID and the title that the user typed.

    Attributes:
        vault: the open vault. Chats of another vault are listed with that vault's name.
    """

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[Row, str | None]] = []
        self._hits: dict[int, ChatHit] = {}
        self._chats: Sequence[SessionInfo] = ()
        self._running = NONE_RUNNING
        self._is_archive_open = False
        self.vault = ""

    def set_chats(
        self, chats: "Sequence[SessionInfo]", running: Mapping[str, str] = NONE_RUNNING
    ) -> None:
        """Replace the listed chats.

        Args:
            chats: the chats, newest first.
            running: the states of the running turns as text, by session ID.
        """
        self._chats, self._running = chats, running
        self.beginResetModel()
        self._rows, self._hits = [], {}
        for group, members in groupby(_sort_pinned_first(chats), key=_find_group):
            self._rows.append((Row(group, head=True), None))
            self._add_rows(members)
        archived = [chat for chat in chats if chat.archived]
        if archived:
            self._rows.append((_make_archive_row(len(archived), self._is_archive_open), None))
        if self._is_archive_open:
            self._add_rows(archived)
        self.endResetModel()

    def toggle_archive(self) -> QModelIndex:
        """Show or hide the archived chats, and return the index of the row "Archived"."""
        self._is_archive_open = not self._is_archive_open
        self.set_chats(self._chats, self._running)
        at = next(at for at, (row, _) in enumerate(self._rows) if row.arrow)
        return self.index(at, 0)

    def is_archive(self, index: Index) -> bool:
        """Return whether a row is the row "Archived", which shows and hides archived chats."""
        return index.isValid() and bool(self._rows[index.row()][0].arrow)

    def chat(self, index: Index) -> "SessionInfo | None":
        """Return the chat in a row, or None for a heading or the row "Archived"."""
        session = self.session(index)
        return next((chat for chat in self._chats if chat.session == session), None)

    def set_hits(self, hits: "Sequence[ChatHit]", titles: Mapping[str, str]) -> None:
        """Show the texts that a search of the chats found, grouped by chat.

        Args:
            hits: the texts, newest first.
            titles: the titles of the chats by session ID.
        """
        by_chat: dict[str, list[ChatHit]] = {}
        for hit in hits:
            by_chat.setdefault(hit.session, []).append(hit)
        self.beginResetModel()
        self._rows, self._hits = [], {}
        for session, found in by_chat.items():
            title = one_line(titles.get(session, "")) or _UNTITLED
            self._rows.append((Row(title, head=True), None))
            for hit in found:
                self._hits[len(self._rows)] = hit
                self._rows.append((_make_hit_row(hit, title), session))
        self.endResetModel()

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `renamed` with the title that the user typed. The receiver must rename the chat."""
        session, title = self.session(index), one_line(str(value)).strip()
        if role != Qt.ItemDataRole.EditRole or session is None or not title:
            return False
        if title != index.data():
            self.renamed.emit(session, title)
        return True

    def hit(self, index: Index) -> "ChatHit | None":
        """Return the search hit in a row, or None if the row contains no search hit."""
        return self._hits.get(index.row())

    def session(self, index: Index) -> str | None:
        """Return the session ID of a row, or None for a heading or the row "Archived"."""
        return self._rows[index.row()][1] if index.isValid() else None

    def sessions(self) -> list[str]:
        """Return the session IDs of all rows, in list order."""
        return [session for _, session in self._rows if session is not None]

    def find(self, session: str) -> QModelIndex:
        """Return the index of a chat by its session ID, or an invalid index if it is not listed."""
        for place, (_, known) in enumerate(self._rows):
            if known == session:
                return self.index(place, 0)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of rows, including headings."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of a row for a Qt item role."""
        if not index.isValid():
            return None
        is_edited = role == Qt.ItemDataRole.EditRole
        return self._rows[index.row()][0].data(Qt.ItemDataRole.DisplayRole if is_edited else role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a row. A heading has no flags, so it cannot be selected."""
        if not index.isValid() or self._rows[index.row()][0].head:
            return Qt.ItemFlag.NoItemFlags
        is_chat = self._rows[index.row()][1] is not None
        return super().flags(index) | (_EDITABLE if is_chat else Qt.ItemFlag.NoItemFlags)

    def _add_rows(self, chats: "Iterable[SessionInfo]") -> None:
        for chat in chats:
            row = _make_row(chat, self._running.get(chat.session, ""), self.vault)
            self._rows.append((row, chat.session))


class ChatList(FitTree):
    """The list of chats. Enter or a click opens a chat, F2 renames it, Delete deletes it.

    Ctrl+D pins or unpins a chat. Ctrl+E archives or restores it. The signals are emitted when the
    user requests an action. Except for `hit_chosen`, the first argument is the chat's session ID.

    Signals:
        chat_chosen: open the chat.
        delete_requested: delete the chat.
        note_requested: save the chat as a note.
        export_requested: export the chat in a format: `md` or `json`.
        rename_requested: give the chat a new title.
        mark_requested: set (True) or clear (False) the mark `pinned` or `archived`.
        hit_chosen: open a `ChatHit`, which is a text that a search has found.
    """

    chat_chosen = Signal(str)
    hit_chosen = Signal(object)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str)
    export_requested = Signal(str, str)
    mark_requested = Signal(str, str, bool)
    note_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Chats", parent)
        self._model = ChatListModel(self)
        self._is_search = False
        self._open: str | None = None
        self._delayed: tuple[Sequence[SessionInfo], str | None, Mapping[str, str]] | None = None
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.chosen.connect(self._on_chosen)
        # Queued, because the list is reloaded while the editor is still being closed.
        self._model.renamed.connect(self.rename_requested, Qt.ConnectionType.QueuedConnection)

    def set_chats(
        self,
        chats: "Sequence[SessionInfo]",
        current: str | None,
        running: Mapping[str, str] = NONE_RUNNING,
    ) -> None:
        """Replace the listed chats, and select the open chat.

        While the user is editing a title, the update is delayed until the editor is closed.

        Args:
            chats: the chats, newest first.
            current: the session ID of the open chat, or None for a new chat.
            running: the states of the running turns as text, by session ID.
        """
        if self.state() == QAbstractItemView.State.EditingState:
            self._delayed = (chats, current, running)
            return
        self._is_search = False
        row, used = self.currentIndex().row(), self._model.session(self.currentIndex())
        self._model.set_chats(chats, running)
        self.select(current)
        if self.hasFocus() and used is not None and used != current:
            self._stay_near(row, used)

    def set_vault(self, vault: str) -> None:
        """Set the open vault. Chats of other vaults are listed with their vault's name."""
        self._model.vault = vault

    def set_hits(self, hits: "Sequence[ChatHit]", titles: Mapping[str, str]) -> None:
        """Show the texts that a search found, below the titles of their chats.

        For the arguments, see `ChatListModel.set_hits`.
        """
        self._is_search = True
        self._model.set_hits(hits, titles)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Close the title editor, and apply the update that was delayed while it was open."""
        super().closeEditor(editor, hint)
        self.setFocus()
        delayed, self._delayed = self._delayed, None
        if delayed is not None:
            self.set_chats(*delayed)

    def build_menu(self, index: QModelIndex) -> QMenu:
        """Create the context menu of a chat. During a search, the menu is empty."""
        menu = QMenu(self)
        session = self._model.session(index)
        if session is None or self._is_search:
            return menu
        rename = menu.addAction("Rename", lambda: self.edit(index))
        rename.setShortcut("F2")
        for kind, word in (("md", "Export as Markdown"), ("json", "Export as JSON")):
            export = menu.addAction(word)
            export.triggered.connect(
                lambda _checked=False, kind=kind: self.export_requested.emit(session, kind)
            )
        menu.addAction("Save as note…", lambda: self.note_requested.emit(session))
        menu.addSeparator()
        if (chat := self._model.chat(index)) is not None:
            for mark, word, keys in list_mark_actions(chat):
                action = menu.addAction(word, partial(self._ask_mark, chat, mark))
                action.setShortcut(keys)
            menu.addSeparator()
        delete = menu.addAction("Delete", lambda: self.delete_requested.emit(session))
        delete.setShortcut("Del")
        return menu

    def event(self, event: QEvent) -> bool:
        """Accept the shortcuts for pinning and archiving before the window handles them."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.keyCombination() in _MARK_KEYS:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Rename (F2), delete (Delete), pin (Ctrl+D) or archive (Ctrl+E) the current chat."""
        index = self.currentIndex()
        session, chat = self._model.session(index), self._model.chat(index)
        if self.state() == QAbstractItemView.State.EditingState:
            event.accept()  # Enter ends the editing of a title and must not open the chat
        elif session is None or self._is_search:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_F2:
            self.edit(index)
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit(session)
        elif chat is not None and event.keyCombination() in _MARK_KEYS:
            self._ask_mark(chat, _MARK_KEYS[event.keyCombination()])
        else:
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
        if session is not None and self._model.session(self.currentIndex()) == session:
            return  # if a search found several texts in a chat, the chosen one stays selected
        index = self._model.find(session) if session else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def neighbour(self, session: str | None, step: int) -> str | None:
        """Return the session ID of the chat above (-1) or below (1) a chat, or None at the ends.

        If the chat is not listed, return the first listed chat.
        """
        known = self._model.sessions()
        if session not in known:
            return known[0] if known else None
        place = known.index(session) + step
        return known[place] if 0 <= place < len(known) else None

    def _stay_near(self, row: int, session: str) -> None:
        """Select a chat. If it is no longer listed, select the row that is now in its position."""
        found = self._model.find(session)
        place = found if found.isValid() else self._model.index(row, 0)
        if place.isValid() and self._model.flags(place):
            self.setCurrentIndex(place)

    def _ask_mark(self, chat: "SessionInfo", mark: "ChatMark") -> None:
        self.mark_requested.emit(chat.session, mark, not getattr(chat, mark))

    def _on_chosen(self, index: QModelIndex) -> None:
        if self._model.is_archive(index):
            self.setCurrentIndex(self._model.toggle_archive())
            self.scrollTo(self.currentIndex())
            return
        session, hit = self._model.session(index), self._model.hit(index)
        if hit is not None:
            self.hit_chosen.emit(hit)
        elif session is not None:
            self.chat_chosen.emit(session)


def list_mark_actions(chat: "SessionInfo") -> "list[tuple[ChatMark, str, str]]":
    """Return the actions that pin or unpin a chat, and archive or restore it.

    Each action is a tuple of the mark (`pinned` or `archived`), the menu text and the shortcut.
    """
    pin = "Unpin" if chat.pinned else "Pin to the top"
    archive = "Restore from the archive" if chat.archived else "Archive"
    return [("pinned", pin, _PIN_KEYS), ("archived", archive, _ARCHIVE_KEYS)]


def _sort_pinned_first(chats: "Sequence[SessionInfo]") -> "list[SessionInfo]":
    listed = [chat for chat in chats if not chat.archived]
    return sorted(listed, key=lambda chat: not chat.pinned)


def _find_group(chat: "SessionInfo") -> str:
    return "Pinned" if chat.pinned else when_group(chat.updated)


def _make_archive_row(number: int, is_open: bool) -> Row:
    return Row(
        "Archived",
        right=count(number),
        arrow="open" if is_open else "closed",
        name=f"Archived: {plural(number, 'chat')}, {'open' if is_open else 'closed'}",
        is_dim=True,
    )


def _make_row(chat: "SessionInfo", running: str, vault: str) -> Row:
    title = one_line(chat.title) or _UNTITLED
    pinned = "pinned" if chat.pinned else ""
    place = PurePath(chat.vault).name if chat.vault and chat.vault != vault else ""
    icon = "archive" if chat.archived else "push-pin" if chat.pinned else "chat"
    name = ", ".join(filter(None, (title, plural(chat.turns, "question"), pinned, running, place)))
    tip = f"{title}\n{chat.vault}" if place else ""
    right = running or place
    return Row(title, icon=icon, right=right, tip=tip, name=name, is_dim=chat.archived)


def _make_hit_row(hit: "ChatHit", title: str) -> Row:
    return Row(one_line(hit.text), icon="chat", name=f"{one_line(hit.text)}, in {title}")
