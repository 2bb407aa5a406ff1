"""A question as it is asked, and what the log keeps of it beside its text.

That is the mode, and what the user named to attach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from app.errors import InvalidRequest
from app.library.attachments import Selection
from chains.events import Mode
from chains.models import EXTRACTIVE
from chains.request.request import TurnRequest
from context.frozen import replace_surrogates
from context.log.entries import Entry, MessageEntry, SegmentsEntry

__all__ = [
    "AskRequest",
    "last_question",
    "mode_in",
    "mode_of",
    "model_of",
    "named_in",
    "noted",
    "require_model",
    "require_text",
    "selections_in",
    "was_prepared",
]


@dataclass(frozen=True)
class AskRequest:
    """One question.

    Attributes:
        model: None for the one in the settings.
        session: the chat to go on with; None begins a new one.
        dry_run: retrieve and prepare, but send and store nothing.
        update_index: bring the index up to date first, where notes are searched at all.
        attach: notes, folders and text files to send along.
        selections: lines to send along.
        parent: the entry that the question follows; None for the active leaf.
        reads_whole: have a model read what is attached and too large to be sent, after the user
            has seen what `Asking.reading_cost` says.
    """

    question: str
    mode: Mode = "vault"
    model: str | None = None
    session: str | None = None
    dry_run: bool = False
    update_index: bool = True
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    parent: str | None = None
    reads_whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", replace_surrogates(self.question))


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


def require_text(question: str) -> None:
    """Raise `InvalidRequest` for a question without a word."""
    if not question.strip():
        raise InvalidRequest("There is no question.")


def require_model(turn: TurnRequest) -> None:
    """Raise `InvalidRequest` for a turn of an agent without a model; a dry run needs none."""
    if turn.mode == "agent" and turn.model == EXTRACTIVE and not turn.dry_run:
        raise InvalidRequest(
            "Agent mode needs a model, and none is set.",
            hint="Set one with `strata settings set chat.model NAME`, or ask in the mode vault.",
        )


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


def was_prepared(question: MessageEntry, path: Sequence[Entry]) -> bool:
    """Return whether the first request of a question was made: then its entries are in the log."""
    is_last = path[-1].id == question.id
    found = (e for e in path if isinstance(e, SegmentsEntry) and e.turn_id == question.turn_id)
    return not is_last or any(found)


def _selection(item: object) -> Selection | None:
    if not isinstance(item, Mapping):
        return None
    path, first, last = item.get("path"), item.get("first"), item.get("last")
    if isinstance(path, str) and isinstance(first, int) and isinstance(last, int):
        return Selection(path, first, last)
    return None
