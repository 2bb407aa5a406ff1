"""Changes that the user makes to a chat: title, branches, forks, labels, pins, memory, summaries.

Existing entries never change; each change is an added entry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from app.errors import InvalidRequest
from app.sessions.ask import TurnRunner
from app.sessions.session import Session
from app.sessions.store import TITLE, SessionStore
from chains.cancel import CancelToken
from chains.request.project import build_refresh_entry
from chains.tools.memory_tools import find_long_part, list_memory_updates
from context.errors import MalformedMessage
from context.history.memory import Memory, read_memory
from context.history.pins import check_pin
from context.history.turns import Turn, list_turns
from context.log.entries import (
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    OtherEntry,
    PinEntry,
    describe_unknown_schema,
    is_path_entry,
    is_unknown_schema,
)
from context.messages import ImagePart, Message, TextPart

__all__ = ["AbandonedBranch", "BranchEditor"]


@dataclass(frozen=True)
class AbandonedBranch:
    """The branch that was active before another one was selected.

    Attributes:
        entry: the last entry of the branch.
        turns: how many of its turns are not on the new active path.
    """

    entry: str
    turns: int


class BranchEditor:
    """Appends titles, branch selections, labels, pins, summaries and messages of programs."""

    def __init__(self, sessions: SessionStore, asking: TurnRunner) -> None:
        self._sessions = sessions
        self._asking = asking

    def select_leaf(self, session: str, entry: str) -> AbandonedBranch:
        """Make the branch of an entry the active one, and return the previously active branch.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
        """
        with self._sessions.open(session) as chat:
            chat.path_to(entry)
            leaf, before = chat.tree.newest_leaf(entry), chat.path()[-1].id
            chat.append([LeafEntry(chat.new_id(), leaf, chat.now(), leaf)])
            return AbandonedBranch(before, len(_left(chat, before)[1]))

    def fork(self, session: str, entry: str | None = None) -> str:
        """Copy a path into a new chat, and return the id of that chat.

        Args:
            session: the chat.
            entry: the last entry of the copy; None means the active leaf, or the last entry before
                the first one of an unknown type.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such entry.
            InvalidRequest: the path contains an entry of an unknown type, or is empty.
        """
        chat = self._sessions.read(session)
        path = chat.path() if entry is None else chat.path_to(entry)
        known = tuple(takewhile(lambda entry: not is_unknown_schema(entry), path))
        unknown = next(filter(is_unknown_schema, path), None)
        if entry is not None and unknown is not None:
            raise InvalidRequest(
                f"{describe_unknown_schema(unknown)}.",
                hint="A copy of the chat can end before that entry.",
            )
        if not known:
            raise InvalidRequest(f"There is nothing in the chat {session} that can be copied.")
        header = chat.header
        with self._sessions.create(header.vault, header.project, session) as copy:
            copy.append(list(_with_side_entries(known, chat.log.entries)))
            return copy.id

    def label(self, session: str, entry: str, text: str) -> str:
        """Label an entry of a chat, and return the id of the label entry.

        An empty text removes the label.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
        """
        with self._sessions.open(session) as chat:
            chat.path_to(entry)
            label = " ".join(text.split()) or None
            named = LabelEntry(chat.new_id(), entry, chat.now(), entry, label)
            chat.append([named])
            return named.id

    def rename(self, session: str, title: str) -> None:
        """Give a chat a title; with an empty one, the first question is its title again.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
        """
        data = {"type": "custom", "customType": TITLE, "content": " ".join(title.split())}
        with self._sessions.open(session) as chat:
            chat.append([OtherEntry(chat.new_id(), _leaf(chat), chat.now(), "custom", data)])

    def pin(self, session: str, target: str, on: bool) -> None:
        """Pin or unpin a message or a segment; a pinned one is always sent word for word.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            BadPin: the target does not exist, or the pins would exceed their share of the budget.
        """
        with self._sessions.open(session) as chat:
            pin = PinEntry(chat.new_id(), _leaf(chat), chat.now(), target, on)
            if on:
                room = self._asking.pin_room(chat)
                check_pin(room.pins, pin, chat.path(), room.budget, room.counter)
            chat.append([pin])

    def refresh_project(self, session: str) -> None:
        """Make the next turn of a chat read the names, outlines and texts of its project again.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: the chat has no project.
        """
        with self._sessions.open(session) as chat:
            if chat.header.project is None:
                raise InvalidRequest("This chat has no project.")
            chat.append([build_refresh_entry(chat)])

    def set_memory(self, session: str, memory: Memory) -> None:
        """Replace the memory of a chat: scratchpad, progress and facts.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: a part of the memory is too long.
        """
        if said := find_long_part(memory):
            raise InvalidRequest(said)
        with self._sessions.open(session) as chat:
            if updates := list_memory_updates(chat, read_memory(chat.path()), memory):
                chat.append(updates)

    def summarise_branch(
        self, session: str, entry: str, cancel: CancelToken, model: str | None = None
    ) -> str:
        """Store a summary of the abandoned turns in the branch of an entry, and return it.

        Args:
            session: the chat.
            entry: any entry of the branch.
            cancel: stops the summary.
            model: the model; None means the one in the settings. Without any model an outline is
                made.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
            InvalidRequest: the entry is on the active branch.
            Cancelled: the summary was cancelled; nothing is stored.
        """
        with self._sessions.open(session) as chat:
            branch, left = _left(chat, entry)
            if not left:
                raise InvalidRequest(f"The chat goes on with the branch of {entry}.")
            made = self._asking.summarise(left, model, chat, cancel)
            place = chat.new_id(), (leaf := branch[-1].id), chat.now()
            chat.append([*made.usage, BranchSummaryEntry(*place, leaf, made.text)])
            return made.text

    def send_message(
        self, session: str, custom_type: str, content: str | Sequence[Any], display: bool
    ) -> str:
        """Append a message of a program to the active leaf, and return its entry.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: the content is neither text nor a list of texts and images.
        """
        message = _message_of_program(content)
        with self._sessions.open(session) as chat:
            entry = CustomMessageEntry(
                chat.new_id(), _leaf(chat), chat.now(), custom_type, message, display
            )
            chat.append([entry])
            return entry.id


def _message_of_program(content: str | Sequence[Any]) -> Message:
    """Return the user message that models read for a message of a program."""
    try:
        message = Message.from_dict({"role": "user", "content": content})
    except MalformedMessage as error:
        raise InvalidRequest(f"The message cannot be read: {error}") from error
    parts = () if isinstance(message.content, str) else message.content
    if not all(isinstance(part, TextPart | ImagePart) for part in parts):
        raise InvalidRequest("A message of a program holds texts and images only.")
    if not message.text.strip() and not parts:
        raise InvalidRequest("There is no message.")
    return message


def _leaf(chat: Session) -> str | None:
    path = chat.path()
    return path[-1].id if path else None


def _left(chat: Session, entry: str) -> tuple[Sequence[Entry], Sequence[Turn]]:
    """Return the branch of an entry, and its turns that are not on the active path."""
    chat.path_to(entry)
    branch = chat.path_to(chat.tree.newest_leaf(entry))
    shown = {e.id for e in chat.path()}
    return branch, [turn for turn in list_turns(branch) if turn.entry_ids[-1] not in shown]


def _with_side_entries(path: Sequence[Entry], log: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries of a path and their side entries, except the selections of a branch."""
    kept = {entry.id for entry in path}
    for entry in log:
        if is_path_entry(entry):
            if entry.id in kept:
                yield entry
        elif entry.parent_id in kept and not isinstance(entry, LeafEntry):
            yield entry
