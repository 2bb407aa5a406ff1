"""Read the mode and the attachments that the log records with a user message.

The log contains the mode of a message and the names of its attachments. When a message is edited or
its answer is regenerated, notes are attached in their current version, and selections with their
original text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from app.errors import AppError, InvalidRequest
from app.library.attachment_paths import AGREED
from app.library.attachments import Attachments
from chains.events import Mode
from chains.models import EXTRACTIVE
from chains.request.ask import Selection
from chains.request.turn import Turn
from context.errors import MalformedMessage
from context.fixes import Command, Fix
from context.layers import Layer, Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry
from context.messages import ImagePart, Message, TextPart
from vault.errors import VaultError

__all__ = [
    "RestoredAttachments",
    "find_last_mode",
    "find_last_model",
    "last_question",
    "list_attachments",
    "read_mode",
    "read_names",
    "read_program_message",
    "read_selections",
    "require_model",
    "require_text",
    "restore_attachments",
    "was_prepared",
]

_Place = tuple[str, tuple[int, int] | None]


def read_mode(question: MessageEntry) -> Mode | None:
    """Return the mode recorded with a question, or None if no mode was recorded."""
    recorded = question.extra.get("mode")
    return cast(Mode, recorded) if recorded in get_args(Mode) else None


def read_names(question: MessageEntry) -> tuple[str, ...]:
    """Return the names of a question's attached notes, folders and files."""
    found = question.extra.get("attach")
    return tuple(p for p in found if isinstance(p, str)) if isinstance(found, tuple) else ()


def read_selections(question: MessageEntry) -> tuple[Selection, ...]:
    """Return the line ranges attached to a question."""
    found = question.extra.get("selections")
    read = map(_selection, found) if isinstance(found, tuple) else ()
    return tuple(selection for selection in read if selection is not None)


def require_text(question: str) -> None:
    """Raise `InvalidRequest` if a question is blank."""
    if not question.strip():
        raise InvalidRequest("There is no question.")


def require_model(turn: Turn) -> None:
    """Raise `InvalidRequest` for an agent turn without a model, unless it is a dry run."""
    ask = turn.ask
    if ask.mode == "agent" and turn.model_name == EXTRACTIVE and not ask.dry_run:
        raise InvalidRequest(
            "Agent mode needs a model, and none is set.",
            hint=(
                Fix("The mode vault needs none."),
                Fix("{} sets one.", Command("settings set", ("chat.model", "NAME"))),
            ),
        )


def last_question(path: Sequence[Entry]) -> MessageEntry | None:
    """Return the last question on a branch, or None if there is none."""
    entries = (entry for entry in reversed(path) if isinstance(entry, MessageEntry))
    return next((entry for entry in entries if entry.message.role == "user"), None)


def find_last_mode(path: Sequence[Entry]) -> Mode:
    """Return the mode of the last question on a branch.

    If an older version of Strata did not record the mode, it is "vault" if the turn has passages or
    an empty search result, otherwise "chat". Without any question, it is "vault".
    """
    question = last_question(path)
    if question is None:
        return "vault"
    if (recorded := read_mode(question)) is not None:
        return recorded
    sent = [e for e in path if isinstance(e, SegmentsEntry) and e.turn_id == question.turn_id]
    searched = (not e.segments or any(s.kind == "passage" for s in e.segments) for e in sent)
    return "vault" if any(searched) else "chat"


def find_last_model(path: Sequence[Entry]) -> str | None:
    """Return the last model that answered on a branch, or None if no model answered."""
    models = (entry.model for entry in reversed(path) if isinstance(entry, MessageEntry))
    return next((model for model in models if model), None)


def was_prepared(question: MessageEntry, path: Sequence[Entry]) -> bool:
    """Return whether the log shows that the first request for a question was prepared."""
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


@dataclass(frozen=True)
class RestoredAttachments:
    """The attachments of an earlier question that are still available.

    Attributes:
        segments: the segments, numbered from 1.
        lost: one sentence for each attachment that is no longer available, or of which a part
            cannot be read.
    """

    segments: tuple[Segment, ...]
    lost: tuple[str, ...] = ()


def list_attachments(
    attachments: Attachments, question: MessageEntry, sent: Sequence[Segment]
) -> tuple[tuple[str, ...], tuple[Selection, ...]]:
    """Return the names and line ranges of a question's attachments, without reading files.

    The user agreed to hidden files by sending them, so their names are marked.

    Args:
        attachments: finds the files.
        question: the user message. Older versions of Strata did not store the names in it, in which
            case they are taken from `sent`.
        sent: the segments sent with the question.
    """
    own = _filter_attached(sent)
    attach = read_names(question) or dict.fromkeys(_list_sources(own))
    selections = read_selections(question) or _selections(_index_selections(own).values())
    mark = attachments.mark_sent
    return tuple(map(mark, attach)), tuple(replace(s, path=mark(s.path)) for s in selections)


def restore_attachments(
    attachments: Attachments, question: MessageEntry, sent: Sequence[Segment]
) -> RestoredAttachments:
    """Read the attachments of an earlier question again.

    Args:
        attachments: reads the files.
        question: the log entry of the question.
        sent: the segments sent with the question.
    """
    made = _index_selections(_filter_attached(sent))
    restorer = _AttachmentRestorer(attachments)
    attach, selections = list_attachments(attachments, question, sent)
    for path in attach:
        restorer.attach(path)
    for selection in selections:
        restorer.select(selection, made)
    return restorer.result


class _AttachmentRestorer:
    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._found: dict[_Place, Segment] = {}
        self._lost: list[str] = []

    @property
    def result(self) -> RestoredAttachments:
        numbered = (replace(s, number=n) for n, s in enumerate(self._found.values(), start=1))
        return RestoredAttachments(tuple(numbered), tuple(self._lost))

    def attach(self, path: str) -> None:
        try:
            for segment in self._attachments.segments([path]):
                self._found.setdefault((segment.source, None), segment)
        except (AppError, VaultError) as error:
            self._lost.append(f"{path} is not attached again: {error}")

    def select(self, selection: Selection, made: Mapping[_Place, Segment]) -> None:
        """Attach a selection again, with the text that was sent with the question.

        If the note can no longer be attached, the reason is added to the lost attachments instead.

        Args:
            selection: the range of lines.
            made: the segments sent with the question, by source and lines.
        """
        try:
            (now,) = self._attachments.segments([], [selection])
        except (AppError, VaultError) as error:
            self._lost.append(f"The lines of {selection.path} are not attached again: {error}")
            return
        places = (now.source, selection.path.removeprefix(AGREED))  # an older source is relative
        sent = (made[place, now.lines] for place in places if (place, now.lines) in made)
        self._found.setdefault((now.source, now.lines), next(sent, now))


def _filter_attached(sent: Iterable[Segment]) -> list[Segment]:
    return [s for s in sent if s.layer is Layer.L3 and s.kind != "passage"]


def _index_selections(own: Iterable[Segment]) -> dict[_Place, Segment]:
    return {(s.source, s.lines): s for s in own if s.kind == "selection"}


def _list_sources(own: Iterable[Segment]) -> Iterator[str]:
    return (segment.source for segment in own if segment.kind != "selection")


def _selections(made: Iterable[Segment]) -> Iterator[Selection]:
    return (Selection(s.source, *s.lines) for s in made if s.lines is not None)


def read_program_message(content: str | Sequence[Any]) -> Message:
    """Convert another program's message to the user message that models receive.

    Raises:
        InvalidRequest: the content is blank, or is neither text nor a list of texts and images.
    """
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
