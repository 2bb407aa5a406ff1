"""The rows of the list of chats: its chats, its headings and the hits of a search."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import ceil
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QMimeData, Qt

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
    "ChatRow",
    "Fold",
    "find_chat_flags",
    "list_chat_rows",
    "list_hit_rows",
    "make_chat_row",
    "unpack_chat",
]

_UNTITLED = "New chat"
CHAT_TYPE = "application/x-strata-chat"
NONE_RUNNING: Mapping[str, str] = MappingProxyType({})
Fold = Literal["archive", "bin"]
_FOLDS: Mapping[Fold, str] = {"archive": "Archived", "bin": "Bin"}
_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_EDITABLE = _FLAGS | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled


@dataclass(frozen=True)
class ChatRow:
    """A row of the list of chats: a heading, a chat, a text that was found, or a fold.

    Attributes:
        key: what names the row among the others.
        shown: the row as it is drawn.
        session: the session ID of the chat, or an empty string for a row of another kind.
        hit: the text that a search has found in the chat, or None.
        fold: which chats the row shows and hides, or None.
        binned: the chat in the bin, or None.
    """

    key: Hashable
    shown: Row
    session: str = ""
    hit: "ChatHit | None" = None
    fold: Fold | None = None
    binned: "BinnedChat | None" = None


def list_chat_rows(
    chats: "Sequence[SessionInfo]",
    running: Mapping[str, str],
    binned: "Sequence[BinnedChat]",
    open_folds: Collection[Fold],
    vault: str,
) -> list[ChatRow]:
    """Return the rows of chats, with a heading for each period, such as `Last week`.

    Pinned chats come first. Archived chats and then those in the bin come last, each below a row
    that shows and hides them.

    Args:
        chats: the chats, newest first.
        running: the states of the running turns as text, by session ID.
        binned: the chats in the bin, the one deleted last first.
        open_folds: the folds whose chats are shown.
        vault: the open vault. Chats of another vault are listed with that vault's name.
    """

    def build(chat: "SessionInfo") -> ChatRow:
        row = make_chat_row(chat, running.get(chat.session, ""), vault)
        return ChatRow(chat.session, row, chat.session)

    rows: list[ChatRow] = []
    for group, members in groupby(_sort_pinned_first(chats), key=_find_group):
        rows.append(_make_head(group))
        rows += map(build, members)
    archived = [chat for chat in chats if chat.archived]
    if archived:
        is_open = "archive" in open_folds
        rows.append(_make_fold("archive", len(archived), is_open))
        rows += map(build, archived if is_open else ())
    if binned:
        is_open = "bin" in open_folds
        rows.append(_make_fold("bin", len(binned), is_open))
        rows += map(_make_binned, binned if is_open else ())
    return rows


def list_hit_rows(hits: "Sequence[ChatHit]", titles: Mapping[str, str]) -> list[ChatRow]:
    """Return the rows of texts that a search of the chats found, each below its chat's title.

    Args:
        hits: the texts, newest first.
        titles: the titles of the chats by session ID.
    """
    by_chat: dict[str, list[ChatHit]] = {}
    for hit in hits:
        by_chat.setdefault(hit.session, []).append(hit)
    rows: list[ChatRow] = []
    for session, found in by_chat.items():
        title = one_line(titles.get(session, "")) or _UNTITLED
        rows.append(ChatRow(("title", session), Row(title, head=True)))
        rows += [ChatRow(session, _make_hit_row(hit, title), session, hit=hit) for hit in found]
    return rows


def _make_fold(fold: Fold, number: int, is_open: bool) -> ChatRow:
    return ChatRow(("fold", fold), _make_fold_row(_FOLDS[fold], number, is_open), fold=fold)


def _make_binned(chat: "BinnedChat") -> ChatRow:
    return ChatRow(("bin", chat.info.session), _make_bin_row(chat), binned=chat)


def _make_head(text: str) -> ChatRow:
    return ChatRow(("head", text), Row(text, head=True))


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


def unpack_chat(packed: QMimeData) -> str:
    """Return the session ID of a chat that is dragged, or an empty string for something else."""
    return bytes(packed.data(CHAT_TYPE).data()).decode()


def find_chat_flags(row: ChatRow | None) -> Qt.ItemFlag:
    """Return the flags of a row. A heading has none, so it cannot be selected."""
    if row is None:
        return Qt.ItemFlag.ItemIsDropEnabled
    if row.shown.head:
        return Qt.ItemFlag.NoItemFlags
    return _EDITABLE if row.session else _FLAGS


def make_chat_row(chat: "SessionInfo", running: str, vault: str | None = None) -> Row:
    """Build the row of a chat.

    Args:
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
