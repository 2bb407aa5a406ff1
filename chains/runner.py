"""The shared turn: retrieve, prepare, store, stream, check, save.

The question is on disk before the model is called, and whatever arrives of the answer is kept: a
stop, a broken connection or a failure ends the turn with what there is.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from chains.cancel import CancelToken
from chains.citations import check_citations
from chains.concurrency import call
from chains.errors import BadRequest, Cancelled
from chains.events import (
    AskResult,
    ContextPrepared,
    Event,
    MessageEnded,
    Retrieved,
    Status,
    Step,
    TextDelta,
    TurnEnded,
    Usage,
    Warned,
)
from chains.extractive import quoted_answer
from chains.model import LiteLLMModel, Pause, wait_or_cancel
from chains.model_port import KeyFor, ModelEnded, ModelEvent, ModelSent, ModelText, ModelWaiting
from chains.models import EXTRACTIVE, ModelInfo, describe
from chains.retrieval import SearchPort, passages
from chains.tokenizer import counter_for
from chains.turn import (
    ChatView,
    DraftedTurn,
    PreparedTurn,
    SessionPort,
    TurnRequest,
    draft_turn,
    last_question,
    prepare_turn,
)
from context.entries import MessageEntry, UsageEntry
from context.guard import PreparedRequest
from context.layers import Segment
from context.messages import Message
from context.report import ContextReport
from context.tokens import raised_factor

__all__ = ["Chain", "SearchPort", "SessionPort", "TurnRequest", "preview", "rebuild", "run_turn"]


@dataclass(frozen=True)
class Chain:
    """What one chain does differently from another.

    Attributes:
        prompt: the name of its prompt.
        search: where passages are looked up; None for a chain that looks nothing up.
        pause: waits between tries.
    """

    prompt: str
    key_for: KeyFor
    search: SearchPort | None = None
    pause: Pause = wait_or_cancel


def run_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Iterator[Event]:
    """Answer one question; the last event is `TurnEnded`.

    Raises:
        ContextOverflow: the question does not fit; nothing is stored.
        ModelError: there is no answer; the question is kept.
        Cancelled: it was stopped before the question was stored; later a stop ends the turn.
    """
    found = yield from _retrieve(chain, request, cancel)
    model, counter = call(lambda: (_described(chain, request), counter_for(request.model)), cancel)
    drafted = draft_turn(session, request.question, found)
    turn = prepare_turn(
        drafted,
        request,
        session,
        model=model,
        counter=counter,
        prompt=chain.prompt,
        mode="preview" if request.dry_run else "send",
    )
    cancel.raise_if_cancelled()
    if request.dry_run:
        yield ContextPrepared(turn.request.report)
        yield TurnEnded(_dry_result(request, session, turn.request.report))
        return
    session.append(turn.entries)
    yield ContextPrepared(turn.request.report)
    yield MessageEnded(drafted.question.id, "user", turn.turn)
    yield from _Running(chain, request, session, turn, model).answer(cancel)


def preview(chain: Chain, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
    """Return what would be sent next; nothing is looked up, stored or called.

    Raises:
        ContextOverflow: it would not fit.
    """
    chat = ChatView()
    if session is not None:
        chat = ChatView(session.id, session.path(), session.usage(), session.previous_body())
    drafted = draft_turn(chat, request.question, None)
    return _prepared_view(chain, request, chat, drafted)


def rebuild(chain: Chain, request: TurnRequest, session: SessionPort) -> PreparedRequest:
    """Return the last request of a chat as it is made from the log.

    The settings are those of `request`, whose question does not matter.
    """
    before, drafted = last_question(session.path())
    return _prepared_view(chain, request, ChatView(session.id, before, session.usage()), drafted)


def _prepared_view(
    chain: Chain, request: TurnRequest, chat: ChatView, drafted: DraftedTurn
) -> PreparedRequest:
    model, counter = _described(chain, request), counter_for(request.model)
    turn = prepare_turn(
        drafted, request, chat, model=model, counter=counter, prompt=chain.prompt, mode="preview"
    )
    return turn.request


def _described(chain: Chain, request: TurnRequest) -> ModelInfo:
    return describe(request.model, request.api_base, key_for=chain.key_for, offline=request.offline)


def _retrieve(
    chain: Chain, request: TurnRequest, cancel: CancelToken
) -> Generator[Event, None, tuple[Segment, ...] | None]:
    search = chain.search
    if search is None:
        return None
    yield Step("search", "Searching…")
    result = call(lambda: search.search(request.question, request.top_k), cancel)
    found = passages(result.hits)
    yield Retrieved(found)
    return found


@dataclass
class _Answer:
    """What has come of the answer so far."""

    pieces: list[str] = field(default_factory=list)
    status: Status = "complete"
    usage: Usage | None = None
    warnings: list[str] = field(default_factory=list)
    wire: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class _Running:
    """A turn from the moment its question is stored."""

    def __init__(
        self,
        chain: Chain,
        request: TurnRequest,
        session: SessionPort,
        turn: PreparedTurn,
        model: ModelInfo,
    ) -> None:
        self._chain = chain
        self._request = request
        self._session = session
        self._turn = turn
        self._model = model
        self._report = turn.request.report
        self._answer = _Answer()

    def answer(self, cancel: CancelToken) -> Iterator[Event]:
        """Stream the answer, and keep it however it ends."""
        answer = self._answer
        yield Step("write", "Writing…")
        try:
            for event in self._model_events(cancel):
                yield from self._take(event)
        except Cancelled:
            answer.status = "interrupted"
        except BaseException:
            # Whoever watched has gone, or there is no answer: what there is of it is kept.
            answer.status = "interrupted" if answer.pieces else "error"
            self._store()
            raise
        entry = self._store()
        yield MessageEnded(entry, "assistant", self._turn.turn)
        yield ContextPrepared(self._report)
        yield TurnEnded(self._result(entry))

    def _model_events(self, cancel: CancelToken) -> Iterator[ModelEvent]:
        request, endpoint = self._request, self._model.endpoint
        if request.model == EXTRACTIVE:
            yield from quoted_answer(
                request.question, self._sources, self._chain.search is not None
            )
        elif endpoint is None:
            raise BadRequest(
                request.model,
                reason="no service has a model of that name. Put the service in front of it, as in "
                f"openai/{request.model}, or set chat.apiBase to the address of a server.",
            )
        else:
            chain = self._chain
            model = LiteLLMModel(
                endpoint, chain.key_for, offline=request.offline, pause=chain.pause
            )
            yield from model.stream(self._turn.request, cancel)

    def _take(self, event: ModelEvent) -> Iterator[Event]:
        answer = self._answer
        match event:
            case ModelSent(body):
                answer.wire = dict(body)
                self._save_request()
            case ModelText(text):
                answer.pieces.append(text)
                yield TextDelta(text)
            case ModelWaiting(seconds, reason):
                yield Step("wait", f"Trying again in {seconds:.0f} s: {reason}")
            case ModelEnded(status, _, usage):
                answer.status, answer.usage = status, usage
                for warning in self._warnings(event):
                    answer.warnings.append(warning)
                    yield Warned(warning)

    def _warnings(self, ended: ModelEnded) -> Iterator[str]:
        if ended.status == "interrupted":
            yield f"The answer broke off: {ended.reason}. What had arrived is kept."
        elif not self._answer.text.strip():
            yield "The model gave an empty answer."
        if ended.finish == "length":
            limit = self._turn.request.envelope.options["maxTokens"]
            yield f"The answer stops at its limit of {limit:,} tokens (maxOutputTokens)."
        elif ended.finish == "content_filter":
            yield "The service held a part of the answer back."

    def _store(self) -> str:
        """Write the answer to the log, with what the service counted; return its entry's id."""
        answer, session, turn = self._answer, self._session, self._turn
        self._report = self._final_report()
        usage = answer.usage.to_dict() if answer.usage else None
        message = MessageEntry(
            session.new_id(),
            turn.entries[-1].id,
            session.now(),
            Message("assistant", answer.text),
            turn.turn,
            model=self._request.model,
            usage=usage,
            status=answer.status,
        )
        counted = [] if answer.usage is None else [self._usage_entry(answer.usage, message.id)]
        session.append([message, *counted])
        self._save_request()
        return message.id

    def _usage_entry(self, usage: Usage, parent: str) -> UsageEntry:
        report = self._turn.request.report
        factor, used = report.room.factor, report.used
        return UsageEntry(
            self._session.new_id(),
            parent,
            self._session.now(),
            self._turn.turn,
            request=report.request,
            model=self._request.model,
            estimated=used,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            factor=raised_factor(factor, used, usage.prompt_tokens),
        )

    def _final_report(self) -> ContextReport:
        answer, report = self._answer, self._turn.request.report
        cached = answer.usage.cached_tokens if answer.usage else 0
        return replace(report, cached_tokens=cached, warnings=(*report.warnings, *answer.warnings))

    def _save_request(self) -> None:
        prepared = self._turn.request
        self._session.save_request(
            self._turn.turn,
            prepared.report.request,
            self._report.to_dict(),
            prepared.request_body(),
            self._answer.wire,
        )

    @property
    def _sources(self) -> tuple[Segment, ...]:
        return self._turn.request.segments

    def _result(self, entry: str) -> AskResult:
        answer, request = self._answer, self._request
        checked = check_citations(answer.text, self._sources, request.question)
        return AskResult(
            session=self._session.id,
            turn=self._turn.turn,
            entry=entry,
            mode=request.mode,
            answer=answer.text,
            status=answer.status,
            citations=checked.citations,
            unverified=checked.unverified,
            model=request.model,
            usage=answer.usage,
            warnings=self._report.warnings,
            context=self._report.to_dict(),
        )


def _dry_result(request: TurnRequest, session: SessionPort, report: ContextReport) -> AskResult:
    return AskResult(
        session=session.id if session.path() else None,
        turn=None,
        entry=None,
        mode=request.mode,
        answer="",
        status="complete",
        citations=(),
        unverified=(),
        model=request.model,
        usage=None,
        warnings=report.warnings,
        context=report.to_dict(),
    )
