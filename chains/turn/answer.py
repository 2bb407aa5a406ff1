"""A turn from the moment its question is stored: stream the answer, check it, save it.

Whatever arrives is kept. A stop, a broken connection or a failure ends the turn with what there is.
"""

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from chains.cancel import CancelToken
from chains.citations.check import Citation, check_citations
from chains.citations.quotes import EscapeRemover
from chains.concurrency import call
from chains.errors import Cancelled
from chains.events import (
    CITES_NOTHING,
    AskResult,
    ContextPrepared,
    Event,
    MessageEnded,
    Status,
    Step,
    TextDelta,
    TurnEnded,
    Usage,
    Warned,
)
from chains.llm.port import (
    ModelCalls,
    ModelEnded,
    ModelEvent,
    ModelPort,
    ModelReasoning,
    ModelSent,
    ModelText,
    ModelWaiting,
    RequestedCall,
)
from chains.models import EXTRACTIVE
from chains.request.epochs import remember_sent
from chains.request.request import (
    Means,
    PreparedTurn,
    SessionPort,
    TurnRequest,
    prepare_step,
    transforms_at_end,
)
from chains.request.usage import counted
from chains.turn.compact import compact, compact_at_end, prepared
from chains.turn.hooks import finished
from context.errors import ContextOverflow
from context.layers import Segment
from context.log.entries import Entry, MessageEntry
from context.messages import Message, ReasoningPart, TextPart, ToolCallPart, calls_of
from context.report.report import ContextReport

__all__ = ["RunningTurn"]

# Encodings differ by up to three times in scripts other than Latin; below that something is gone.
LEAST_COUNTED_SHARE: Final = 0.25
# No server has a context so small that less than this would be cut.
SMALLEST_CONTEXT: Final = 4_096


@dataclass
class _Answer:
    """What has come of the answer so far."""

    pieces: list[str] = field(default_factory=list)
    status: Status = "complete"
    usage: Usage | None = None
    warnings: list[str] = field(default_factory=list)
    wire: Mapping[str, Any] | None = None
    thoughts: list[str] = field(default_factory=list)
    calls: tuple[ToolCallPart, ...] = ()
    stored: Message | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces) if self.stored is None else self.stored.text

    @property
    def message(self) -> Message:
        """What was said: bare text, or what was thought and said before tools are called."""
        text = "".join(self.pieces)
        if not self.calls:
            return Message("assistant", text)
        said = (ReasoningPart("".join(self.thoughts)), TextPart(text))
        return Message("assistant", (*(part for part in said if part.text), *self.calls))


ReadCalls = Callable[[tuple[RequestedCall, ...]], tuple[ToolCallPart, ...]]


class RunningTurn:
    """A turn from the moment its question is stored; in a loop, one request of it.

    Args of the constructor: `read_calls` makes parts of the message out of the tool calls that
    came, and without it none are taken; `full_status` is that of an answer that arrived whole;
    `read` are the sources that tools have read before.
    """

    def __init__(
        self,
        request: TurnRequest,
        session: SessionPort,
        turn: PreparedTurn,
        means: Means,
        *,
        read_calls: ReadCalls | None = None,
        full_status: Status = "complete",
        read: Sequence[Segment] = (),
    ) -> None:
        self._request = request
        self._session = session
        self._turn = turn
        self._means = means
        self._read_calls = read_calls
        self._full_status = full_status
        self._report = turn.request.report
        self._answer = _Answer()
        sources = (*turn.request.segments, *read)
        self._escapes = EscapeRemover(sources, request.question)
        self._is_unsaved = False
        self._saved: tuple[PreparedTurn, Mapping[str, Any] | None] | None = None

    def answer(self, model: Callable[[], ModelPort], cancel: CancelToken) -> Iterator[Event]:
        """Stream the answer, keep it however it ends, and say that the turn is over.

        Args:
            model: returns who answers; where there is nobody, it raises a `ModelError`.
        """
        entry = yield from self.exchange(model, cancel)
        yield from self.ending(entry, self._answer.usage, cancel)

    def exchange(
        self, model: Callable[[], ModelPort], cancel: CancelToken
    ) -> Generator[Event, None, str]:
        """Stream the answer to one request, and return the entry that it is kept as."""
        answer = self._answer
        try:
            yield Step("write", "Writing…")
            yield from self._stream(model(), cancel)
        except Cancelled:
            answer.status = "interrupted"
        except Exception:
            answer.status = "interrupted" if answer.pieces else "error"
            self._store()
            raise
        except BaseException:  # whoever watched has gone, or the program is being ended
            answer.status = "interrupted"
            self._store()
            raise
        told = len(answer.warnings)
        entry = self._store()
        for warning in answer.warnings[told:]:
            yield Warned(warning)
        return entry

    def _stream(self, model: ModelPort, cancel: CancelToken) -> Iterator[Event]:
        """Stream the answer; where the service has no room for the request, make some, once."""
        try:
            for event in model.stream(self._turn.request, cancel):
                yield from self._take(event)
        except ContextOverflow as overflow:
            if self._answer.pieces or not (yield from self._make_room(overflow, cancel)):
                raise
            for event in model.stream(self._turn.request, cancel):
                yield from self._take(event)

    def _make_room(
        self, overflow: ContextOverflow, cancel: CancelToken
    ) -> Generator[Event, None, bool]:
        """Compact the chat and prepare the request again; return whether that freed anything."""
        before, session, means = self._turn, self._session, self._means
        request = self._within(overflow.limit)
        forced = yield from compact(
            request, session, means, cancel, turn=before.turn, reason="overflow"
        )
        try:
            turn = yield from self._prepared_again(request, cancel)
        except ContextOverflow:
            if forced.entry is None:
                return False
            turn = yield from self._prepared_again(self._request, cancel)
        if turn.request.report.used >= before.request.report.used:
            return False
        self._turn, self._report = turn, turn.request.report
        if turn.entries:
            session.append(turn.entries)
        yield ContextPrepared(self._report)
        return True

    def _within(self, limit: int | None) -> TurnRequest:
        """Return the request with the limit that a provider named, else with less than was sent."""
        most = self._turn.request.report.used if limit is None else limit
        return replace(self._request, threshold=min(self._request.threshold, most))

    def _prepared_again(
        self, request: TurnRequest, cancel: CancelToken
    ) -> Generator[Event, None, PreparedTurn]:
        turn, session = self._turn, self._session

        def prepare(means: Means) -> PreparedTurn:
            return prepare_step(turn, request, session, means, again=True)

        return (yield from prepared(prepare, self._means, cancel))

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The tools that the answer calls; an answer without any is the last of its turn."""
        return calls_of(self._answer.stored or self._answer.message)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in the turn up to this answer, one sentence each."""
        return self._report.warnings

    def interrupt(self) -> None:
        """Take note that the turn was stopped while tools ran."""
        self._answer.status = "interrupted"

    @property
    def usage(self) -> Usage | None:
        """What the service counted."""
        return self._answer.usage

    def ending(
        self,
        entry: str,
        usage: Usage | None,
        cancel: CancelToken,
        sources: Sequence[Segment] = (),
        tools: tuple[Mapping[str, Any], ...] = (),
    ) -> Iterator[Event]:
        """Say that the turn is over with this answer.

        Args:
            entry: where it is kept.
            usage: what the service counted over the whole turn.
            cancel: where it was stopped, hooks are not asked about its end.
            sources: what tools read, to be cited beside what was sent with the question.
            tools: the calls of the turn.

        Raises:
            ContextHookError: a hook failed at the end of the turn; the answer is kept.
        """
        yield MessageEnded(entry, "assistant", self._turn.turn, self._session.id)
        self._shape_end(cancel)
        if self._answer.status == "complete":
            with contextlib.suppress(Cancelled):
                request, session, means = self._request, self._session, self._means
                yield from compact_at_end(request, session, means, self._turn.turn, cancel)
        yield ContextPrepared(self._report)
        result = self._result(entry, (*self._turn.request.segments, *sources))
        yield TurnEnded(replace(result, usage=usage, tools=tools))

    def _shape_end(self, cancel: CancelToken) -> None:
        """Let hooks shape what later requests see of the turn."""
        hooks = self._means.additions.hooks
        if hooks is None or not hooks.has("context"):
            return
        turn, request, session = self._turn.turn, self._request, self._session
        with contextlib.suppress(Cancelled):
            kept = call(lambda: transforms_at_end(turn, request, session, self._means), cancel)
            if kept:
                session.append(kept)

    def _take(self, event: ModelEvent) -> Iterator[Event]:
        answer = self._answer
        if self._is_unsaved:  # not while the request is on its way, which would hold it up
            self._save_request()
        match event:
            case ModelSent(body):
                answer.wire = body
                answer.thoughts.clear()  # of a try that broke off before its first words
                self._is_unsaved = True
            case ModelText(text):
                yield from self._add_text(self._escapes.add(text))
            case ModelReasoning(text):
                answer.thoughts.append(text)
            case ModelCalls(calls) if self._read_calls is not None:
                answer.calls = self._read_calls(calls)
            case ModelWaiting(seconds, reason):
                yield Step("wait", f"Trying again in {seconds:.0f} s: {reason}")
            case ModelEnded(status, _, usage):
                yield from self._add_text(self._escapes.end())
                answer.status = self._full_status if status == "complete" else status
                answer.usage = usage
                for warning in self._warnings(event):
                    answer.warnings.append(warning)
                    yield Warned(warning)

    def _add_text(self, text: str) -> Iterator[Event]:
        if text:
            self._answer.pieces.append(text)
            yield TextDelta(text)

    def _warnings(self, ended: ModelEnded) -> Iterator[str]:
        if ended.status == "interrupted":
            yield f"The answer broke off: {ended.reason}. What had arrived is kept."
        elif not self._answer.text.strip() and not self._answer.calls:
            yield "The model gave an empty answer."
        if ended.finish == "length":
            limit = self._turn.request.envelope.options["maxTokens"]
            yield f"The answer stops at its limit of {limit:,} tokens (maxOutputTokens)."
        elif ended.finish == "content_filter":
            yield "The service held a part of the answer back."

        used, usage = self._report.used, ended.usage
        least = used * LEAST_COUNTED_SHARE
        if usage and used > SMALLEST_CONTEXT and usage.prompt_tokens < least:
            yield (
                f"The service counted {usage.prompt_tokens:,} tokens where about {used:,} were "
                "sent. It may have cut the beginning off: give it a longer context."
            )

    def _store(self) -> str:
        """Write the answer to the log, with what the service counted; return its entry's id."""
        answer, session, turn = self._answer, self._session, self._turn
        if held := self._escapes.end():
            answer.pieces.append(held)
        answer.stored, said = finished(answer.message, self._means.additions.hooks)
        answer.warnings += said
        self._report = self._final_report()
        usage = answer.usage.to_dict() if answer.usage else None
        message = MessageEntry(
            session.new_id(),
            session.path()[-1].id,
            session.now(),
            answer.stored,
            turn.turn,
            model=self._request.model,
            usage=usage,
            status=answer.status,
        )
        new: list[Entry] = [message]
        if answer.usage is not None:
            report = turn.request.report
            new.append(counted(session, turn.turn, report, answer.usage, parent=message.id))
        session.append(new)
        self._save_request()
        return message.id

    def _final_report(self) -> ContextReport:
        answer, report = self._answer, self._turn.request.report
        cached = answer.usage.cached_tokens if answer.usage else 0
        warnings = (*report.warnings, *answer.warnings, *self._session.degraded())
        return replace(report, cached_tokens=cached, warnings=tuple(dict.fromkeys(warnings)))

    def _save_request(self) -> None:
        """Keep the request for a later look; of one that is kept already, its report."""
        self._is_unsaved = False
        turn, wire = self._turn, self._answer.wire
        prepared, report = turn.request, self._report.to_dict()
        remember_sent(self._session.id, turn.turn, prepared.draft)
        kept = turn.turn, prepared.report.request, report
        saved, self._saved = self._saved, (turn, wire)
        is_saved = saved is not None and saved[0] is turn and saved[1] is wire
        if not (is_saved and self._session.save_report(*kept)):
            self._session.save_request(*kept, prepared.encode_body(), wire)

    def _result(self, entry: str, sources: Sequence[Segment]) -> AskResult:
        answer, request = self._answer, self._request
        checked = check_citations(answer.text, sources, request.question)
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
            warnings=(*self._report.warnings, *self._missing_citations(checked.citations)),
            context=self._report.to_dict(),
            searched=request.searched or None,
        )

    def _missing_citations(self, citations: Sequence[Citation]) -> Iterator[str]:
        """Yield a warning where a model answered from the notes and cites none of them."""
        request, is_whole = self._request, self._answer.status == "complete"
        is_searched = request.mode == "vault" and request.model != EXTRACTIVE
        if is_whole and is_searched and not citations:
            yield CITES_NOTHING
