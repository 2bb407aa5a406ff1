"""What a chat keeps to from turn to turn: its epochs, and the breaker of its compactions."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeGuard

from chains.chat_ports import ChatPort
from context.compaction import CircuitBreaker
from context.draft import Draft
from context.entries import Entry, MessageEntry, ModelChangeEntry, OptionsChangeEntry
from context.frozen import FrozenMapping

__all__ = ["THRESHOLD", "breaker_of", "epoch_entries", "remember_sent", "sent_before"]

REMEMBERED_REQUESTS: Final = 16
LOOKED_BACK: Final = 400  # entries; a turn of an agent may have dozens

# What a question was asked under is kept with it, so that a change is known by the log alone.
THRESHOLD: Final = "threshold"


@lru_cache(maxsize=64)
def breaker_of(session: str) -> CircuitBreaker:  # noqa: ARG001 - it is the key
    """Return the breaker of a chat, the same one each time."""
    return CircuitBreaker()


_sent: Final[dict[tuple[str, str], Draft]] = {}


def remember_sent(session: str, turn: str, draft: Draft) -> None:
    """Keep the last request of a turn at hand, to compare the next one with what is new of it."""
    _sent.pop((session, turn), None)
    _sent[session, turn] = draft
    for oldest in list(_sent)[:-REMEMBERED_REQUESTS]:
        _sent.pop(oldest, None)


def sent_before(chat: ChatPort, path: Sequence[Entry], turn: str) -> Draft | None:
    """Return the last request of this turn or the one before it; None where it is not at hand."""
    asked = [entry for entry in reversed(path[-LOOKED_BACK:]) if _asks(entry)]
    for entry in asked:
        draft = _sent.get((chat.id, entry.turn_id))
        if draft is not None and draft.tail.question == entry.message:
            return draft
        if entry.turn_id != turn:
            return None
    return None


def _asks(entry: Entry) -> TypeGuard[MessageEntry]:
    return isinstance(entry, MessageEntry) and entry.message.role == "user"


def epoch_entries(chat: ChatPort, model: str, threshold: int) -> tuple[Entry, ...]:
    """Return what is noted where another model answers, or another threshold holds, from here on.

    Either begins a new epoch, in which what was trimmed or dropped may come back.
    """
    path = chat.path()
    entries: list[Entry] = []
    place = path[-1].id if path else None, chat.now()
    if (before := _last_model(path)) is not None and before != model:
        entries.append(ModelChangeEntry(chat.new_id(), *place, model))
    if (earlier := _last_threshold(path)) is not None and earlier != threshold:
        options = FrozenMapping({"autoCompactThreshold": threshold})
        entries.append(OptionsChangeEntry(chat.new_id(), *place, options))
    return tuple(entries)


def _last_model(path: Sequence[Entry]) -> str | None:
    answers = (
        entry.model
        for entry in reversed(path)
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant"
    )
    return next(answers, None)


def _last_threshold(path: Sequence[Entry]) -> object:
    asked = (entry for entry in reversed(path) if _asks(entry))
    return next((entry.extra.get(THRESHOLD) for entry in asked), None)
