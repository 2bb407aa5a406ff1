"""The list of chats, grouped by the time of their last use."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QWidget

from ui.widgets.controls import one_line
from ui.widgets.figures import plural, when_group
from ui.widgets.lists import FitTree, Row, RowDelegate

if TYPE_CHECKING:
    from app.sessions.store import SessionInfo

__all__ = ["ChatList", "ChatListModel"]

Index = QModelIndex | QPersistentModelIndex


class ChatListModel(QAbstractListModel):
    """A Qt list model of chats, newest first, with a heading for each period."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[Row, str | None]] = []

    def set_chats(self, chats: "Sequence[SessionInfo]") -> None:
        """Replace all chats; they must be sorted, newest first."""
        self.beginResetModel()
        self._rows = []
        for group, members in groupby(chats, key=lambda chat: when_group(chat.updated)):
            self._rows.append((Row(group, head=True), None))
            self._rows.extend((_row(chat), chat.session) for chat in members)
        self.endResetModel()

    def session(self, index: Index) -> str | None:
        """Return the session id of a row, or None for a heading."""
        return self._rows[index.row()][1] if index.isValid() else None

    def sessions(self) -> list[str]:
        """Return the session ids of all chats, in list order."""
        return [session for _, session in self._rows if session is not None]

    def find(self, session: str) -> QModelIndex:
        """Return the index of a chat, or an invalid index if it is not listed."""
        for place, (_, known) in enumerate(self._rows):
            if known == session:
                return self.index(place, 0)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return the number of headings and chats."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the row's data for a Qt item role."""
        return self._rows[index.row()][0].data(role) if index.isValid() else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return no flags for headings, so that they cannot be chosen."""
        if index.isValid() and self._rows[index.row()][1] is None:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)


class ChatList(FitTree):
    """The list of chats; `chat_chosen` carries the session id of the clicked chat."""

    chat_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Chats", parent)
        self._model = ChatListModel(self)
        self.setItemDelegate(RowDelegate(self))
        self.setModel(self._model)
        self.chosen.connect(self._on_chosen)

    def set_chats(self, chats: "Sequence[SessionInfo]", current: str | None) -> None:
        """Show the chats and select the open one."""
        self._model.set_chats(chats)
        self.select(current)

    def select(self, session: str | None) -> None:
        """Select the open chat; None clears the selection."""
        index = self._model.find(session) if session else QModelIndex()
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def neighbour(self, session: str | None, step: int) -> str | None:
        """Return the chat above (-1) or below (1) a chat, or None at either end of the list."""
        known = self._model.sessions()
        if session not in known:
            return known[0] if known else None
        place = known.index(session) + step
        return known[place] if 0 <= place < len(known) else None

    def _on_chosen(self, index: QModelIndex) -> None:
        session = self._model.session(index)
        if session is not None:
            self.chat_chosen.emit(session)


def _row(chat: "SessionInfo") -> Row:
    title = one_line(chat.title) or "New chat"
    name = f"{title}, {plural(chat.turns, 'question')}"
    return Row(title, icon="chat", name=name)
