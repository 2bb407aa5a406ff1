"""The tree of a chat, changed by the user: another branch, a copy, a name, a message of a program.

Nothing of a chat is changed by it: each is an entry that is added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from app.errors import InvalidRequest
from app.sessions.ask import TurnRunner
from app.sessions.session import Session
from app.sessions.store import SessionStore
from chains.cancel import CancelToken
from context.errors import MalformedMessage
from context.history.pins import check_pin
from context.history.turns import Turn, list_turns
from context.log.entries import (
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    PinEntry,
    describe_unknown_schema,
    is_path_entry,
    is_unknown_schema,
)
from context.messages import ImagePart, Message, TextPart

__all__ = ["AbandonedBranch", "BranchEditor"]


@dataclass(frozen=True)
class AbandonedBranch:
    """A branch that a chat does not go on with any more.

    Attributes:
        entry: its last one.
        turns: how many of it the chat has left.
    """

    entry: str
    turns: int


class BranchEditor:
    """Appends branch choices, labels, pins, summaries and messages of programs to chats."""

    def __init__(self, sessions: SessionStore, asking: TurnRunner) -> None:
        self._sessions = sessions
        self._asking = asking

    def select_leaf(self, session: str, entry: str) -> AbandonedBranch:
        """Make the branch of an entry the active one, and return the branch that was left.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: it is being written to.
            NotFound: there is no such entry in it.
        """
        with self._sessions.open(session) as chat:
            chat.path_to(entry)
            leaf, before = chat.tree.newest_leaf(entry), chat.path()[-1].id
            chat.append([LeafEntry(chat.new_id(), leaf, chat.now(), leaf)])
            return AbandonedBranch(before, len(_left(chat, before)[1]))

    def fork(self, session: str, entry: str | None) -> str:
        """Make a chat of its own out of a path, and return its id.

        Args:
            session: the chat.
            entry: where the copy ends; None for the active leaf, or right before the first entry
                that is not known here.

        Raises:
            SessionMissing: there is no such chat.
            NotFound: there is no such entry in it.
            InvalidRequest: the path holds something that is not known here, or nothing at all.
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
        """Label an entry of a chat, and return the label's entry.

        An empty name takes it off.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: it is being written to.
            NotFound: there is no such entry in it.
        """
        with self._sessions.open(session) as chat:
            chat.path_to(entry)
            label = " ".join(text.split()) or None
            named = LabelEntry(chat.new_id(), entry, chat.now(), entry, label)
            chat.append([named])
            return named.id

    def pin(self, session: str, target: str, on: bool) -> None:
        """Send a message or a segment word for word from now on, or as any other again.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: it is being written to.
            BadPin: there is nothing of that id, or pins would take more than their share.
        """
        with self._sessions.open(session) as chat:
            pin = PinEntry(chat.new_id(), _leaf(chat), chat.now(), target, on)
            if on:
                room = self._asking.pin_room(chat)
                check_pin(room.pins, pin, chat.path(), room.budget, room.counter)
            chat.append([pin])

    def summarise_branch(
        self, session: str, entry: str, model: str | None, cancel: CancelToken
    ) -> str:
        """Keep a summary of the branch of an entry, as far as the chat has left it; return it.

        Args:
            session: the chat.
            entry: any entry of the branch.
            model: None for the one in the settings; without any an outline is made.
            cancel: stops it.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: it is being written to.
            NotFound: there is no such entry in it.
            InvalidRequest: it is on the branch that the chat goes on with.
            Cancelled: it was stopped; nothing is kept.
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
        """Put a message of a program behind the active leaf, and return its entry.

        Raises:
            SessionMissing: there is no such chat.
            SessionBusy: it is being written to.
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
    """Return a message that a model reads as one of the user's."""
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
    """Return the branch of an entry, and the turns of it that the chat does not go on with."""
    chat.path_to(entry)
    branch = chat.path_to(chat.tree.newest_leaf(entry))
    shown = {e.id for e in chat.path()}
    return branch, [turn for turn in list_turns(branch) if turn.entry_ids[-1] not in shown]


def _with_side_entries(path: Sequence[Entry], log: Sequence[Entry]) -> Iterator[Entry]:
    """Return the entries of a path with what stands beside them, but for the choice of a branch."""
    kept = {entry.id for entry in path}
    for entry in log:
        if is_path_entry(entry):
            if entry.id in kept:
                yield entry
        elif entry.parent_id in kept and not isinstance(entry, LeafEntry):
            yield entry
