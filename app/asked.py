"""What the log keeps of a question beside its text: the mode, and what the user named to attach."""

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from app.attachments import Selection
from chains.events import Mode
from context.entries import Entry, MessageEntry, SegmentsEntry

__all__ = ["last_question", "mode_in", "mode_of", "model_of", "named_in", "noted", "selections_in"]


def noted(attach: Sequence[str], selections: Sequence[Selection]) -> dict[str, Any]:
    """Return what is kept with a question of what the user named; nothing where that is nothing."""
    lines = [{"path": s.path, "first": s.first, "last": s.last} for s in selections]
    named = {"attach": list(attach), "selections": lines}
    return {key: value for key, value in named.items() if value}


def mode_in(question: MessageEntry) -> Mode | None:
    """Return the mode that a question says it was asked in."""
    recorded = question.extra.get("mode")
    return cast(Mode, recorded) if recorded in get_args(Mode) else None


def named_in(question: MessageEntry) -> tuple[str, ...]:
    """Return the notes, folders and files that were named with a question."""
    found = question.extra.get("attach")
    return tuple(p for p in found if isinstance(p, str)) if isinstance(found, tuple) else ()


def selections_in(question: MessageEntry) -> tuple[Selection, ...]:
    """Return the lines that were named with a question."""
    found = question.extra.get("selections")
    read = map(_selection, found) if isinstance(found, tuple) else ()
    return tuple(selection for selection in read if selection is not None)


def last_question(path: Sequence[Entry]) -> MessageEntry | None:
    """Return the question that a path asked last; None where nothing was asked."""
    said = (entry for entry in reversed(path) if isinstance(entry, MessageEntry))
    return next((entry for entry in said if entry.message.role == "user"), None)


def mode_of(path: Sequence[Entry]) -> Mode:
    """Return the mode that the last question of a path was asked in.

    A question says it, unless an older version wrote it; then passages tell, if only that there
    were none.
    """
    question = last_question(path)
    if question is None:
        return "vault"
    if (recorded := mode_in(question)) is not None:
        return recorded
    sent = [e for e in path if isinstance(e, SegmentsEntry) and e.turn_id == question.turn_id]
    searched = (not e.segments or any(s.kind == "passage" for s in e.segments) for e in sent)
    return "vault" if any(searched) else "chat"


def model_of(path: Sequence[Entry]) -> str | None:
    """Return the model that answered last on a path; None where none has."""
    said = (entry.model for entry in reversed(path) if isinstance(entry, MessageEntry))
    return next((model for model in said if model), None)


def _selection(item: object) -> Selection | None:
    if not isinstance(item, Mapping):
        return None
    path, first, last = item.get("path"), item.get("first"), item.get("last")
    if isinstance(path, str) and isinstance(first, int) and isinstance(last, int):
        return Selection(path, first, last)
    return None
