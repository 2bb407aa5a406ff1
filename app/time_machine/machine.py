"""Show the request of an answer as it was, as today's notes would make it, and the difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, Literal, TypeGuard

from app.errors import NotFound
from app.requests.record import SentRequest
from app.sessions.rebuild import RequestRebuilder
from app.sessions.session import Session
from app.sessions.store import SessionStore
from app.time_machine.difference import ComparedText, compare_requests
from app.time_machine.passages import KeptPassages
from chains.cancel import CancelToken
from context.assemble.request import Request
from context.assemble.turn_context import SENT
from context.envelope import EncodedJson
from context.json_codec import Record, encode_record
from context.log.entries import Entry, MessageEntry
from context.messages import compact_json
from context.requests.layout import LayerText, describe_layout, list_layer_texts
from context.requests.names import hide_names

__all__ = ["PastRequest", "RequestComparison", "TimeMachine"]

NOT_KEPT: Final = (
    "This request was not kept. It is rebuilt from the chat, with the instructions of today."
)
NOT_EXACT: Final = "Some of its text is not kept any more. The rest is what was sent."
NOTHING_SENT: Final = "No model was asked. The answer quotes what is shown here."
FIRST_ONLY: Final = (
    "The first request of this answer is compared, because the later ones depend on what tools "
    "return."
)


@dataclass(frozen=True)
class PastRequest:
    """A request of an answer, as it was or as it would be today.

    Attributes:
        entry: the log entry of the answer.
        when: `at-the-time` or `today`.
        asked: when the question was asked, in ISO 8601 with the offset of that place, or an empty
            string if unknown.
        texts: the texts of the layers, in the order in which models receive them.
        content: the request itself. It counts as exact only if it is byte for byte what was sent.
        is_rebuilt: whether the request was not kept, and is rebuilt from the log.
        notes: sentences for the reader.
    """

    session: str
    entry: str
    when: str
    model: str
    asked: str
    texts: tuple[LayerText, ...]
    content: SentRequest
    is_rebuilt: bool = False
    notes: tuple[str, ...] = ()

    json_shape = (
        "session",
        "entry",
        "when",
        "model",
        "asked",
        "gone = content.gone",
        "notes",
        "exact = content.is_exact",
        "rebuilt = is_rebuilt",
        "sent = is_sent",
        "layers = texts",
    )

    @property
    def is_sent(self) -> bool:
        """Whether the JSON that was sent is known."""
        return self.content.wire is not None

    def to_dict(self, *, is_full: bool = False) -> dict[str, Any]:
        """Return the request as a JSON object.

        Args:
            is_full: whether to add the body and the JSON that was sent.
        """
        shown = encode_record(self)
        if is_full:
            wire = self.content.wire
            shown["request_body"] = dict(self.content.body)
            shown["wire"] = None if wire is None else wire.text
        return shown


@dataclass(frozen=True)
class RequestComparison(Record):
    """A past request beside the one that today's notes would make.

    Attributes:
        texts: the texts of both, compared.
        when: tells the comparison from a request.
    """

    then: PastRequest
    now: PastRequest
    texts: tuple[ComparedText, ...]
    when: Literal["diff"] = "diff"

    json_shape = (
        "session = then.session",
        "entry = then.entry",
        "when",
        "model = then.model",
        "asked = then.asked",
        "gone = then.content.gone",
        "notes = then.notes",
        "exact = then.content.is_exact",
        "rebuilt = then.is_rebuilt",
        "changed",
        "layers = texts",
    )

    @property
    def changed(self) -> int:
        """How many texts differ."""
        return sum(text.state != "same" for text in self.texts)


class TimeMachine:
    """Shows past requests against the notes as they were, and as they are. Thread-safe."""

    def __init__(
        self, sessions: SessionStore, rebuilder: RequestRebuilder, texts: KeptPassages
    ) -> None:
        self._sessions, self._rebuilder, self._texts = sessions, rebuilder, texts

    def show_then(self, session: str, entry: str | None = None) -> PastRequest:
        """Return the request of an answer as it was sent, without the notes that are excluded now.

        Args:
            session: the chat.
            entry: an answer, or a question for its newest answer, or None for the last answer.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such answer.
            VaultMissing: the request was not kept, and the folder that it is rebuilt from is gone.
        """
        chat = self._sessions.read(session)
        return self._show(chat, _find_answer(chat, entry))

    def show_today(self, session: str, entry: str | None, cancel: CancelToken) -> PastRequest:
        """Return the request that today's notes would make for an answered question.

        Nothing is sent or stored, except that the index is brought up to date.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such answer.
            VaultError: the notes or their index cannot be read.
            ContextOverflow: the request does not fit any more.
        """
        return self.compare(session, entry, cancel).now

    def compare(self, session: str, entry: str | None, cancel: CancelToken) -> RequestComparison:
        """Compare the first request of an answer with the one that today's notes would make.

        Raises the same exceptions as `show_today`.
        """
        chat = self._sessions.read(session)
        answer = _find_answer(chat, entry)
        first = _find_first(chat, answer)
        then = self._show(chat, first)
        asked_on = _read_day(then.asked or first.timestamp)
        request = self._rebuilder.use(
            chat, lambda runner: runner.prepare_again(chat, answer.id, asked_on, cancel)
        )
        now = _describe_request(chat, first, "today", request, then.asked)
        if first is not answer:
            then, now = (_add_note(one, FIRST_ONLY) for one in (then, now))
        return RequestComparison(then, now, tuple(compare_requests(then.texts, now.texts)))

    def find_kept(
        self, chat: Session, entry: str | None
    ) -> tuple[MessageEntry, SentRequest | None]:
        """Return an answer with its kept request, as it may be sent again.

        It has neither text nor names of the notes of its chat that are excluded now. Those that the
        user typed stay.

        Args:
            entry: see `show_then`.

        Raises:
            NotFound: the chat has no such answer.
            StorageFailed: the kept requests cannot be read.
        """
        answer = _find_answer(chat, entry)
        path = [one for one in chat.list_path_to(answer.id) if isinstance(one, MessageEntry)]
        sent_values = [one.extra.get(SENT) for one in path]
        references = [one for one in sent_values if isinstance(one, str)]
        self._texts.remove_excluded(references)
        sent, reference = self._sessions.sent, answer.extra.get(SENT)
        stored = sent.load(reference, is_for_model=True) if isinstance(reference, str) else None
        notes = sent.list_notes(references)
        if stored is None or not (stored.gone or notes.excluded):
            return answer, stored
        known = {note.path for note in notes.notes}
        typed = {one.message.text for one in path if one.message.role == "user"}
        body = hide_names(stored.body, notes.excluded, known, typed)
        return answer, replace(stored, body=EncodedJson(compact_json(body)), is_exact=False)

    def _load(self, answer: MessageEntry) -> SentRequest | None:
        """Return the kept request of an answer, or None if it is not kept."""
        reference = answer.extra.get(SENT)
        if not isinstance(reference, str):
            return None
        self._texts.remove_excluded([reference])
        return self._sessions.sent.load(reference)

    def _show(self, chat: Session, answer: MessageEntry) -> PastRequest:
        if (stored := self._load(answer)) is None:
            chat.continue_from(answer.id)
            return _describe_request(
                chat, answer, "at-the-time", self._rebuilder.rebuild(chat), "", (NOT_KEPT,)
            )
        return _describe_stored(chat, answer, stored)


def _describe_stored(chat: Session, answer: MessageEntry, stored: SentRequest) -> PastRequest:
    layout = stored.report
    notes = (
        *([NOTHING_SENT] if stored.wire is None else []),
        *([] if stored.is_exact else [NOT_EXACT]),
    )
    return PastRequest(
        chat.id,
        answer.id,
        "at-the-time",
        str(layout["model"]),
        str(layout.get("asked", "")),
        tuple(list_layer_texts(stored.body, layout)),
        stored,
        notes=notes,
    )


def _describe_request(
    chat: Session,
    answer: MessageEntry,
    when: str,
    request: Request,
    asked: str,
    notes: Sequence[str] = (),
) -> PastRequest:
    layout, body = describe_layout(request), request.encode_body()
    is_rebuilt = when == "at-the-time"
    return PastRequest(
        chat.id,
        answer.id,
        when,
        request.model,
        asked or answer.timestamp,
        tuple(list_layer_texts(body, layout)),
        SentRequest(body, None, layout),
        is_rebuilt=is_rebuilt,
        notes=tuple(notes),
    )


def _add_note(request: PastRequest, note: str) -> PastRequest:
    return replace(request, notes=(*request.notes, note))


def _find_answer(chat: Session, entry: str | None) -> MessageEntry:
    """Return an answer: that of a question, that with an id, or the last one of the branch.

    Raises:
        NotFound: there is no such answer.
    """
    if entry is None:
        answers = [one for one in chat.path() if _is_answer(one)]
        if not answers:
            raise NotFound(f"Nothing has been answered in the chat {chat.id} yet.")
        return answers[-1]
    target_entry = chat.list_path_to(entry)[-1]
    if isinstance(target_entry, MessageEntry) and target_entry.message.role == "user":
        versions = [one for one in chat.tree.children(target_entry.id) if _is_answer(one)]
        target_entry = _follow_turn(chat, versions[-1]) if versions else target_entry
    if not _is_answer(target_entry):
        raise NotFound(f"The entry {entry} has no answer.")
    return target_entry


def _follow_turn(chat: Session, answer: MessageEntry) -> MessageEntry:
    """Return the last message of the model in the turn that a message of it begins."""
    path = chat.list_path_to(chat.tree.find_newest_leaf(answer.id))
    own = [one for one in path if _is_answer(one) and one.turn_id == answer.turn_id]
    return own[-1] if own else answer


def _find_first(chat: Session, answer: MessageEntry) -> MessageEntry:
    """Return the first message of the model in the turn of an answer, which tools may follow."""
    turn = [one for one in chat.list_path_to(answer.id) if _is_answer(one)]
    own = [one for one in turn if one.turn_id == answer.turn_id]
    return own[0] if own else answer


def _is_answer(entry: Entry) -> TypeGuard[MessageEntry]:
    return isinstance(entry, MessageEntry) and entry.message.role == "assistant"


def _read_day(written: str) -> date:
    """Return the day of a time, in the place where it was written, or today."""
    try:
        at = datetime.fromisoformat(written)
    except ValueError:
        return date.today()
    return at.astimezone().date() if written.endswith("Z") else at.date()
