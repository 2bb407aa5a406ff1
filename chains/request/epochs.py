"""Track model changes, the last sent request, and failed compactions of a session."""

from collections.abc import Sequence
from typing import Final

from chains.request.session import SessionPort
from context.compaction import CircuitBreaker
from context.draft import RequestDraft
from context.fit.compact import COMPACTION
from context.log.entries import (
    DropEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    OptionsChangeEntry,
    OtherEntry,
    TransformEntry,
    is_question,
)
from context.messages import FrozenMapping

__all__ = ["THRESHOLD", "LoggedBreaker", "build_epoch_entries", "find_last_sent", "remember_sent"]

REMEMBERED_REQUESTS: Final = 16
LOOKED_BACK: Final = 400  # in entries, since an agent turn may have dozens

# The field of a user message with its turn's threshold, so that the log shows a change.
THRESHOLD: Final = "threshold"
# The custom type of the entry for a compaction that freed nothing.
ATTEMPT: Final = "compaction_attempt"


class LoggedBreaker(CircuitBreaker):
    """Disables compaction after several failed attempts, which are stored in the log."""

    def __init__(self, session: SessionPort, new_entries: list[Entry]) -> None:
        """Load failed compactions from the log, back to the last one that shortened the history.

        Args:
            new_entries: the list to which `record` adds a log entry for each failed attempt.
        """
        super().__init__()
        self._session, self._new_entries = session, new_entries
        logged = session.custom(ATTEMPT)
        after = _last_cut(session.path()) if logged else None
        for attempt in logged:
            model, budget = attempt.content.get("model"), attempt.content.get("budget")
            if attempt.content.get("after") == after and isinstance(budget, int):
                super().record(str(model), budget, has_shrunk=False)

    def record(self, model: str, budget: int, has_shrunk: bool) -> None:
        """Remember the result of an attempt to compact the session.

        Failed attempts are also stored in the log.

        Args:
            model: the name of the model.
            budget: the token budget of its requests.
            has_shrunk: whether the compaction made the history shorter.
        """
        super().record(model, budget, has_shrunk)
        if has_shrunk:
            return
        path = self._session.path()
        content = {"model": model, "budget": budget, "after": _last_cut(path)}
        data = {"customType": ATTEMPT, "content": content}
        place = self._session.new_id(), path[-1].id if path else None, self._session.now()
        self._new_entries.append(OtherEntry(*place, "custom", data))


def _last_cut(path: Sequence[Entry]) -> str | None:
    """Return the id of the last log entry that summarises or leaves out old turns, or None."""
    cuts = (entry.id for entry in reversed(path) if _is_cut(entry))
    return next(cuts, None)


def _is_cut(entry: Entry) -> bool:
    is_compaction = isinstance(entry, TransformEntry) and entry.transformer_name == COMPACTION
    return is_compaction or isinstance(entry, DropEntry)


_sent: Final[dict[tuple[str, str], RequestDraft]] = {}


def remember_sent(session: str, turn: str, draft: RequestDraft) -> None:
    """Keep a turn's last request in memory, so that the next request can be compared with it."""
    _sent.pop((session, turn), None)
    _sent[session, turn] = draft
    for oldest in list(_sent)[:-REMEMBERED_REQUESTS]:
        _sent.pop(oldest, None)


def find_last_sent(session: SessionPort, path: Sequence[Entry], turn: str) -> RequestDraft | None:
    """Return the last request of this or the previous turn, or None if it was not remembered."""
    for entry in filter(is_question, reversed(path[-LOOKED_BACK:])):
        draft = _sent.get((session.id, entry.turn_id))
        if draft is not None and draft.tail.question == entry.message:
            return draft
        if entry.turn_id != turn:
            return None
    return None


def build_epoch_entries(
    session: SessionPort, model: str, threshold: int, question: str
) -> tuple[Entry, ...]:
    """Build the log entries for a change of the model or the threshold since the last turn.

    After such a change, text that was shortened or left out may be sent in full again.

    Args:
        question: the id of this turn's user message, or an empty string for a regenerated answer.
    """
    path = session.path()
    entries: list[Entry] = []
    place = path[-1].id if path else None, session.now()
    if (before := _last_model(path)) is not None and before != model:
        entries.append(ModelChangeEntry(session.new_id(), *place, model))
    if (earlier := _last_threshold(path, question)) is not None and earlier != threshold:
        options = FrozenMapping({"autoCompactThreshold": threshold})
        entries.append(OptionsChangeEntry(session.new_id(), *place, options))
    return tuple(entries)


def _last_model(path: Sequence[Entry]) -> str | None:
    answers = (
        entry.model
        for entry in reversed(path)
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant"
    )
    return next(answers, None)


def _last_threshold(path: Sequence[Entry], new: str) -> object:
    asked = (entry for entry in reversed(path) if is_question(entry) and entry.id != new)
    return next((entry.extra.get(THRESHOLD) for entry in asked), None)
