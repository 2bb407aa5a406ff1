"""What a chat keeps to from turn to turn: its epochs, and the breaker of its compactions."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chains.chat_ports import ChatPort
from context.compaction import CircuitBreaker
from context.entries import Entry, MessageEntry, ModelChangeEntry, OptionsChangeEntry
from context.frozen import FrozenMapping

__all__ = ["THRESHOLD", "breaker_of", "epoch_entries"]

# What a question was asked under is kept with it, so that a change is known by the log alone.
THRESHOLD: Final = "threshold"


@lru_cache(maxsize=64)
def breaker_of(session: str) -> CircuitBreaker:  # noqa: ARG001 - it is the key
    """Return the breaker of a chat, the same one each time."""
    return CircuitBreaker()


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
    for entry in reversed(path):
        if isinstance(entry, MessageEntry) and entry.message.role == "user":
            return entry.extra.get(THRESHOLD)
    return None
