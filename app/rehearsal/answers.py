"""Store rehearsed answers in the log of their chat, beside its tree."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from app.sessions.session import Session
from chains.rehearsal.calls import RehearsalAnswer
from chains.request.usage import REHEARSAL, build_usage_entry
from context.json_codec import MalformedValue, Record
from context.log.entries import Entry, MessageEntry, OtherEntry
from context.messages import compact_json
from context.requests.content import KeptContent
from context.requests.parts import order_keys

__all__ = ["StoredRehearsal", "hash_request", "list_rehearsals", "store_rehearsal"]

KIND: Final = "rehearsal"  # the custom type of the log entry
_HASH_CHARS: Final = 32


@dataclass(frozen=True)
class StoredRehearsal(Record):
    """A rehearsed answer.

    Attributes:
        answer: the log entry of the answer whose request was asked again.
        left_out: the keys of what was left out.
        request: the hash of what was asked, and of which model.
        note: what the reader should know of it, or an empty string.
        at: when it was stored, in ISO 8601 and UTC.
    """

    answer: str
    left_out: tuple[str, ...]
    request: str
    model: str
    text: str
    note: str = ""
    at: str = ""


def hash_request(content: KeptContent, model: str) -> str:
    """Return the hash of a kept request, without what is left out, to a model."""
    text = compact_json([model, dict(content.body)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def store_rehearsal(
    chat: Session, answer: MessageEntry, content: KeptContent, model: str, given: RehearsalAnswer
) -> StoredRehearsal:
    """Store a rehearsed answer, with its usage, beside the tree of a chat.

    Args:
        chat: the chat, open for writing.
        answer: the log entry of the answer whose request was asked again.
        content: the request, without what was left out.
        model: the name of the model.
        given: what the model answered.

    Raises:
        StorageFailed: the log cannot be written.
    """
    keys = tuple(order_keys(content.left_out))
    request = hash_request(content, model)
    found = StoredRehearsal(answer.id, keys, request, model, given.text, given.note, chat.now())
    data = {"type": "custom", "customType": KIND, "content": found.to_dict()}
    entry = OtherEntry(chat.new_id(), answer.parent_id, found.at, "custom", data)
    new: list[Entry] = [entry]
    if given.call is not None:
        turn, parent = answer.turn_id, answer.id
        new.append(build_usage_entry(chat, turn, given.call, parent=parent, purpose=REHEARSAL))
    chat.append(new)
    return found


def list_rehearsals(chat: Session, answers: Iterable[str] | None = None) -> list[StoredRehearsal]:
    """Return the rehearsed answers of a chat, oldest first.

    Args:
        answers: the log entries of the answers that are meant, or None for all.
    """
    wanted = None if answers is None else frozenset(answers)
    return [one for one in _read(chat) if wanted is None or one.answer in wanted]


def _read(chat: Session) -> Iterator[StoredRehearsal]:
    for entry in chat.custom(KIND):
        try:
            yield StoredRehearsal.from_dict(dict(entry.content))
        except MalformedValue:  # of a later version
            continue
