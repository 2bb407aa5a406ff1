"""Ask again what an answer answered, without some of what the model saw."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.errors import InvalidRequest
from app.rehearsal.answers import StoredRehearsal, hash_request, list_rehearsals, store_rehearsal
from app.rehearsal.result import (
    EachResult,
    RehearsalEvent,
    RehearsalOffer,
    RehearsalProgress,
    RehearsalResult,
)
from app.requests.record import SentRequest
from app.requests.store import SentStore
from app.sessions.session import Session
from app.sessions.store import SessionStore
from app.sessions.turn_builder import TurnBuilder
from app.time_machine.machine import NOT_EXACT, TimeMachine
from chains.cancel import CancelToken
from chains.events import TextDelta, TextTakenBack
from chains.models import EXTRACTIVE
from chains.rehearsal.calls import ask_again, measure_cost
from chains.rehearsal.plan import UNCHANGED_CALLS, RehearsalPlan
from chains.rehearsal.sentences import compare_answers
from chains.rehearsal.table import make_table
from chains.request.ask import Ask
from chains.request.open_turn import open_turn
from chains.request.turn import Turn
from chains.turn.hooks import run_answer_hooks
from context.assemble.turn_context import SENT
from context.fixes import Fix
from context.history.turns import is_continuation, list_turns
from context.layers import Layer
from context.log.entries import MessageEntry
from context.messages import Message, compact_json
from context.requests.content import KeptContent
from context.requests.layout import list_layer_texts

__all__ = ["Rehearser"]

NO_MODEL: Final = "No model wrote this answer, so there is nothing to ask again."
NOTHING_SENT: Final = "Nothing was sent for this answer, so there is nothing to ask again."
NOT_KEPT: Final = "The request of this answer is not kept, so it cannot be asked again."
NO_SOURCES: Final = "This answer was given no sources that could be left out."
WITH_TOOLS: Final = (
    "The last request of this answer is asked again, with what the tools had returned. No tool is "
    "run."
)
CONTINUED: Final = (
    "This answer was continued after it broke off. Only its last part is asked again, and compared."
)
CHANGED: Final = "The kept request changed meanwhile. What was asked until then is kept."


@dataclass(frozen=True)
class _Subject:
    """An answer whose request is asked again.

    Attributes:
        answer: its log entry.
        sent: its request.
        content: the content of the request.
    """

    answer: MessageEntry
    sent: SentRequest
    content: KeptContent

    @property
    def model(self) -> str:
        """The model that gave the answer."""
        return self.answer.model or str(self.content.layout["model"])

    @property
    def question(self) -> str:
        """What the answer answers."""
        texts = list_layer_texts(self.content.whole, self.content.layout)
        return "\n".join(one.text for one in texts if one.layer == Layer.L5)


class Rehearser:
    """Asks again what answers answered. Thread-safe.

    What is asked is the kept request, so that the notes of then count, without those that models
    may not read now.
    """

    def __init__(self, sessions: SessionStore, machine: TimeMachine, builder: TurnBuilder) -> None:
        self._sessions, self._machine, self._builder = sessions, machine, builder

    def offer(
        self, session: str, entry: str | None, keys: Sequence[str] = (), *, each: bool = False
    ) -> RehearsalOffer:
        """Return what can be left out of the request of an answer, and what asking again costs.

        Nothing is sent.

        Args:
            session: the chat.
            entry: an answer, or a question for its newest answer, or None for the last answer.
            keys: the keys of what is to be left out.
            each: whether each source is to be left out in turn.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such answer.
            InvalidRequest: the answer cannot be asked again, or has no such part.
            ContextOverflow: the model takes less than it did.
        """
        chat = self._sessions.read(session)
        subject = self._find(chat, entry, keys)
        turn = self._open(chat, subject, CancelToken(), dry_run=True)
        calls = self._count_calls(chat, subject, each=each)
        cost = measure_cost(turn, subject.content, calls)
        return RehearsalOffer(
            chat.id,
            subject.answer.id,
            subject.model,
            turn.model.where,
            subject.content.parts,
            cost,
            _list_sentences(chat, subject),
            tuple(list_rehearsals(chat, [subject.answer.id])),
        )

    def ask(
        self, session: str, entry: str | None, keys: Sequence[str], cancel: CancelToken
    ) -> Iterator[RehearsalEvent | RehearsalResult]:
        """Ask again without some parts, and yield the text as it arrives, then the result.

        If it was asked before, the stored answer is the result, and nothing is sent. Otherwise,
        the answer is stored beside the tree of the chat.

        Args:
            session: the chat.
            entry: see `offer`.
            keys: the keys of what is left out.
            cancel: the token that cancels the call.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such answer.
            InvalidRequest: the answer cannot be asked again, or has no such part.
            ModelError: the model does not answer.
            ContextOverflow: the model takes less than it did.
            Cancelled: the token was cancelled.
        """
        with self._sessions.open(session) as chat:
            subject = self._find(chat, entry, keys)
            left_out, before = tuple(keys), subject.answer.message.text
            found = _find_known(chat, subject.content, subject.model)
            is_known = found is not None
            if found is None:
                yield RehearsalProgress(0, 1, left_out, before)
                found = yield from self._call(chat, subject, self._open(chat, subject, cancel))
            difference = compare_answers(before, found.text)
            answer = subject.answer.id
            sentences = _list_sentences(chat, subject)
            yield RehearsalResult(chat.id, answer, before, found, difference, is_known, sentences)

    def ask_each(
        self, session: str, entry: str | None, cancel: CancelToken
    ) -> Iterator[RehearsalEvent | EachResult]:
        """Ask again without each source in turn, and yield the progress, then the result.

        The text of each answer is yielded as it arrives.

        Each answer is stored as soon as it has arrived. What was asked before is not asked again.
        Raises the same exceptions as `ask`.
        """
        with self._sessions.open(session) as chat:
            subject = self._find(chat, entry, ())
            _require_sources(subject.content)
            sent, spending = 0, None
            while (keys := (plan := _make_plan(chat, subject)).choose_next()) is not None:
                left, before = plan.count_left(), subject.answer.message.text
                yield RehearsalProgress(plan.calls, plan.calls + left, tuple(sorted(keys)), before)
                turn = self._open(chat, subject, cancel, calls=left)
                # The user is asked once about a limit, for all calls that are left.
                spending = spending or turn.ports.spending
                turn = replace(turn, ports=replace(turn.ports, spending=spending))
                self._require_same(chat, subject)
                cut = replace(subject, content=subject.content.leave_out(keys))
                yield from self._call(chat, cut, turn)
                sent += 1
            answer, model = subject.answer.id, subject.model
            table, sentences = make_table(plan), _list_sentences(chat, subject)
            yield EachResult(chat.id, answer, model, plan.unchanged[0], table, sent, sentences)

    def _find(self, chat: Session, entry: str | None, keys: Sequence[str]) -> _Subject:
        answer, stored = self._machine.find_kept(chat, entry)
        if answer.model == EXTRACTIVE:
            raise InvalidRequest(NO_MODEL)
        if stored is None:
            raise InvalidRequest(NOT_KEPT, hint=Fix("Regenerate the answer to keep its request."))
        if stored.wire is None:
            raise InvalidRequest(NOTHING_SENT)
        content = KeptContent(stored.body, stored.report)
        try:
            return _Subject(answer, stored, content.leave_out(keys))
        except KeyError as error:
            known = ", ".join(part.key for part in content.parts)
            raise InvalidRequest(
                f"This request has no part {error.args[0]}.", hint=f"There are: {known}."
            ) from error

    def _open(
        self,
        chat: Session,
        subject: _Subject,
        cancel: CancelToken,
        *,
        dry_run: bool = False,
        calls: int = 1,
    ) -> Turn:
        ask = Ask("", "chat", subject.model, dry_run=dry_run)
        turn = self._builder.begin_turn(ask, chat, cancel, may_ask=not dry_run, calls=calls)
        turn = self._builder.equip_turn(turn, runs=not dry_run)
        return replace(open_turn(turn), id=subject.answer.turn_id)

    def _call(
        self, chat: Session, subject: _Subject, turn: Turn
    ) -> Generator[TextDelta | TextTakenBack, None, StoredRehearsal]:
        """Ask the model, yield the text as it arrives, and return the stored answer."""
        turn.cancel.raise_if_cancelled()
        notes = _list_notes(self._sessions.sent, subject)
        given = yield from ask_again(turn, subject.content, notes)
        hooks = turn.customization.hooks
        message, _warnings = run_answer_hooks(Message("assistant", given.text), hooks)
        given = replace(given, text=message.text)
        return store_rehearsal(chat, subject.answer, subject.content, subject.model, given)

    def _require_same(self, chat: Session, subject: _Subject) -> None:
        """Raise `InvalidRequest` if a note of the request was excluded since it was read."""
        if self._find(chat, subject.answer.id, ()).sent.body.text != subject.sent.body.text:
            raise InvalidRequest(CHANGED)

    def _count_calls(self, chat: Session, subject: _Subject, *, each: bool) -> int:
        if not each:
            return int(_find_known(chat, subject.content, subject.model) is None)
        _require_sources(subject.content)
        return _make_plan(chat, subject).count_left()


def _list_sentences(chat: Session, subject: _Subject) -> tuple[str, ...]:
    """Return what the reader should know of a request that is asked again."""
    sentences = [] if subject.sent.is_exact else [NOT_EXACT]
    sentences += [WITH_TOOLS] if any(part.layer == "W" for part in subject.content.parts) else []
    sentences += [CONTINUED] if _is_continued(chat, subject.answer) else []
    return tuple(sentences)


def _is_continued(chat: Session, answer: MessageEntry) -> bool:
    """Return whether an answer is the rest of one that broke off."""
    turns = list_turns(chat.list_path_to(answer.id))
    return any(map(is_continuation, turns[-1].later_entries)) if turns else False


def _require_sources(content: KeptContent) -> None:
    if not any(part.kind == "source" for part in content.parts):
        raise InvalidRequest(NO_SOURCES)


def _find_known(chat: Session, content: KeptContent, model: str) -> StoredRehearsal | None:
    """Return the newest answer to the same request, or None."""
    request = hash_request(content, model)
    known = (one for one in reversed(list_rehearsals(chat)) if one.request == request)
    return next(known, None)


def _make_plan(chat: Session, subject: _Subject) -> RehearsalPlan:
    """Return the plan of an automatic rehearsal, with the answers that are stored."""
    content = subject.content
    stored = list_rehearsals(chat)
    hashes: dict[frozenset[str], str] = {}

    def is_own(one: StoredRehearsal) -> bool:
        keys = frozenset(one.left_out)
        if keys not in hashes and keys <= {part.key for part in content.parts}:
            hashes[keys] = hash_request(content.leave_out(keys), subject.model)
        return hashes.get(keys) == one.request

    own = [one for one in stored if is_own(one)]
    unchanged = [one.text for one in own if not one.left_out][:UNCHANGED_CALLS]
    changed = {frozenset(one.left_out): one.text for one in own if one.left_out}
    return RehearsalPlan(content.parts, subject.question, tuple(unchanged), changed)


def _list_notes(store: SentStore, subject: _Subject) -> list[str]:
    """Return the paths of the notes whose text a request still has, for the ledger."""
    reference = subject.answer.extra.get(SENT)
    notes = store.list_notes([str(reference)]).notes
    left = compact_json(dict(subject.content.body))
    return sorted({note.path for note in notes if note.path.rpartition("/")[2] in left})
