"""The Qt item model of the list of chats: its rows, its headings and the hits of a search."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from math import ceil
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from ui.widgets.controls import one_line
from ui.widgets.formatting import count, name_period, plural
from ui.widgets.lists import Row

if TYPE_CHECKING:
    from app.sessions.bin import BinnedChat
    from app.sessions.search import ChatHit
    from app.sessions.session_info import SessionInfo

__all__ = [
    "CHAT_TYPE",
    "NONE_RUNNING",
    "ChatListModel",
    "Fold",
    "make_chat_row",
    "pack_chat",
    "unpack_chat",
]

Index = QModelIndex | QPersistentModelIndex
_UNTITLED = "New chat"
CHAT_TYPE = "application/x-strata-chat"
NONE_RUNNING: Mapping[str, str] = MappingProxyType({})
Fold = Literal["archive", "bin"]
_FOLDS: Mapping[Fold, str] = {"archive": "Archived", "bin": "Bin"}
_EDITABLE = Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled


class ChatListModel(QAbstractListModel):
    """A Qt list model of chats, newest first, with a heading for each period, such as `Last week`.

    Pinned chats come first. Archived chats and then those in the bin come last, each below a row
    that shows and hides them. A chat can be dragged, and dropped to take it out of its project.
    During a search, the model lists the matching texts, each below the
    title of its chat. Emits `renamed` with a session ID and the title that the user typed.

    Attributes:
        vault: the open vault. Chats of another vault are listed with that vault's name.
    """

    renamed = Signal(str, str)
    chat_dropped = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[Row, str | None]] = []
        self._hits: dict[int, ChatHit] = {}
        self._chats: Sequence[SessionInfo] = ()
        self._running = NONE_RUNNING
        self._binned: Sequence[BinnedChat] = ()
        self._binned_rows: dict[int, BinnedChat] = {}
        self._fold_rows: dict[int, Fold] = {}
        self._open_folds: set[Fold] = set()
        self.vault = ""

    def set_chats(
        self,
        chats: "Sequence[SessionInfo]",
        running: Mapping[str, str] = NONE_RUNNING,
        binned: "Sequence[BinnedChat]" = (),
    ) -> None:
        """Replace the listed chats.

        Args:
            chats: the chats, newest first.
            running: the states of the running turns as text, by session ID.
            binned: the chats in the bin, the one deleted last first.
        """
        self._chats, self._running, self._binned = chats, running, binned
        self.beginResetModel()
        self._clear()
        for group, members in groupby(_sort_pinned_first(chats), key=_find_group):
            self._rows.append((Row(group, head=True), None))
            self._add_rows(members)
        archived = [chat for chat in chats if chat.archived]
        if archived and self._add_fold("archive", len(archived)):
            self._add_rows(archived)
        if binned and self._add_fold("bin", len(binned)):
            for chat in binned:
                self._binned_rows[len(self._rows)] = chat
                self._rows.append((_make_bin_row(chat), None))
        self.endResetModel()

    def toggle(self, fold: Fold) -> QModelIndex:
        """Show or hide the chats of a fold, and return the index of its row."""
        self._open_folds ^= {fold}
        self.set_chats(self._chats, self._running, self._binned)
        return self.index(next(at for at, name in self._fold_rows.items() if name == fold), 0)

    def fold(self, index: Index) -> Fold | None:
        """Return which chats a row shows and hides, or None for a row of another kind."""
        return self._fold_rows.get(index.row()) if index.isValid() else None

    def find_in_bin(self, index: Index) -> "BinnedChat | None":
        """Return the chat of a row in the bin, or None for another row."""
        return self._binned_rows.get(index.row()) if index.isValid() else None

    def chat(self, index: Index) -> "SessionInfo | None":
        """Return the chat in a row, or None for a heading, a fold or a chat in the bin."""
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
        self._clear()
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
        """Return the session ID of a row, or None for a heading, a fold or a chat in the bin."""
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
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        if self._rows[index.row()][0].head:
            return Qt.ItemFlag.NoItemFlags
        is_chat = self._rows[index.row()][1] is not None
        return super().flags(index) | (_EDITABLE if is_chat else Qt.ItemFlag.NoItemFlags)

    def supportedDropActions(self) -> Qt.DropAction:
        """Return that a chat is moved by dropping it."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Return the type of a chat that is dragged."""
        return [CHAT_TYPE]

    def mimeData(self, indexes: Sequence[Index]) -> QMimeData:
        """Return the chat that is dragged."""
        return pack_chat(next(filter(None, map(self.chat, indexes)), None))

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Emit `chat_dropped`, unless the chat is listed already. The receiver must move it."""
        session = unpack_chat(data)
        if not session or session in self.sessions():
            return False
        self.chat_dropped.emit(session)
        return True

    def _clear(self) -> None:
        self._rows, self._hits, self._binned_rows, self._fold_rows = [], {}, {}, {}

    def _add_fold(self, fold: Fold, number: int) -> bool:
        """Add the row that shows and hides chats, and return whether they are shown."""
        is_open = fold in self._open_folds
        self._fold_rows[len(self._rows)] = fold
        self._rows.append((_make_fold_row(_FOLDS[fold], number, is_open), None))
        return is_open

    def _add_rows(self, chats: "Iterable[SessionInfo]") -> None:
        for chat in chats:
            row = make_chat_row(chat, self._running.get(chat.session, ""), self.vault)
            self._rows.append((row, chat.session))


def _sort_pinned_first(chats: "Sequence[SessionInfo]") -> "list[SessionInfo]":
    listed = [chat for chat in chats if not chat.archived]
    return sorted(listed, key=lambda chat: not chat.pinned)


def _find_group(chat: "SessionInfo") -> str:
    return "Pinned" if chat.pinned else name_period(chat.updated)


def _make_fold_row(word: str, number: int, is_open: bool) -> Row:
    return Row(
        word,
        right=count(number),
        arrow="open" if is_open else "closed",
        name=f"{word}: {plural(number, 'chat')}, {'open' if is_open else 'closed'}",
        is_dim=True,
    )


def _make_bin_row(chat: "BinnedChat") -> Row:
    title, left = one_line(chat.info.title) or _UNTITLED, _count_days_left(chat)
    tip = f"{title}\nIn the bin. It is deleted for good {left}."
    name = f"{title}, in the bin, deleted for good {left}"
    return Row(title, icon="trash", right=left.removeprefix("in "), tip=tip, name=name, is_dim=True)


def _count_days_left(chat: "BinnedChat") -> str:
    left = datetime.fromisoformat(chat.until) - datetime.now(UTC)
    days = ceil(left.total_seconds() / 86_400)
    return f"in {plural(days, 'day')}" if days > 0 else "today"


def pack_chat(chat: "SessionInfo | None") -> QMimeData:
    """Return what is dragged when a chat is dragged."""
    packed = QMimeData()
    if chat is not None:
        packed.setData(CHAT_TYPE, chat.session.encode())
    return packed


def unpack_chat(packed: QMimeData) -> str:
    """Return the session ID of a chat that is dragged, or an empty string for something else."""
    return bytes(packed.data(CHAT_TYPE).data()).decode()


def make_chat_row(chat: "SessionInfo", running: str, vault: str | None = None) -> Row:
    """Build the row of a chat.

    Args:
        chat: the chat.
        running: the state of its running turn, or an empty string.
        vault: the open vault, to name that of a chat with another one, or None to name none.
    """
    title = one_line(chat.title) or _UNTITLED
    pinned = "pinned" if chat.pinned else ""
    is_elsewhere = vault is not None and chat.vault and chat.vault != vault
    place = PurePath(chat.vault).name if is_elsewhere and chat.vault else ""
    icon = "archive" if chat.archived else "push-pin" if chat.pinned else "chat"
    name = ", ".join(filter(None, (title, plural(chat.turns, "question"), pinned, running, place)))
    tip = f"{title}\n{chat.vault}" if place else ""
    right = running or place
    return Row(title, icon=icon, right=right, tip=tip, name=name, is_dim=chat.archived)


def _make_hit_row(hit: "ChatHit", title: str) -> Row:
    return Row(one_line(hit.text), icon="chat", name=f"{one_line(hit.text)}, in {title}")
