"""Stream the answer of a turn, and store it.

A partial answer is stored too, whether it was cancelled, interrupted or ended by an error. While an
answer arrives, its text so far is saved outside of the log, in case the process is killed.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil
from time import monotonic
from typing import Any, Final

from chains.citations.quotes import EscapeRemover
from chains.citations.sections import SECTIONS
from chains.concurrency import repeat
from chains.errors import Cancelled, ModelError
from chains.events import (
    ContextPrepared,
    Event,
    ModelLoadProgressed,
    Step,
    TextDelta,
    TextTakenBack,
    ThoughtDelta,
    Usage,
    Warned,
)
from chains.gguf.file import shorten_name
from chains.llm.incoming.tool_calls import has_call_as_text
from chains.llm.port import (
    ModelCalling,
    ModelCalls,
    ModelEnded,
    ModelEvent,
    ModelLoading,
    ModelPort,
    ModelQuoted,
    ModelReasoning,
    ModelReshaped,
    ModelRetracted,
    ModelSent,
    ModelText,
    ModelWaiting,
    RequestedCall,
)
from chains.models import EXTRACTIVE, ModelInfo
from chains.request.epochs import remember_sent
from chains.request.open_turn import learn_limit, open_model
from chains.request.turn import Turn
from chains.request.usage import CallUsage, build_usage_entry, warn_of_cut
from chains.request.wire_changes import (
    SentBody,
    add_wire_changes,
    find_sent_body,
    remember_body,
)
from chains.turn.continuation import THINKING_SECONDS
from chains.turn.hooks import run_answer_hooks
from chains.turn.overflow import shrink_request
from chains.turn.partial_answer import PartialAnswer
from chains.turn_answer import AnswerEnd, Status, TurnAnswer, describe_ending
from context.assemble.request import Request
from context.assemble.turn_context import SENT, START_TOKENS, WHERE
from context.errors import ContextOverflow
from context.layers import Segment
from context.log.entries import Entry, MessageEntry
from context.messages import Message, ToolCallPart, list_tool_calls
from context.report.report import ContextReport

__all__ = ["AnswerStream", "StoredAnswer"]

# How often the text of an arriving answer is kept.
KEEPING_INTERVAL_S: Final = 1.0
# The reason in the log entry of an answer whose process was killed.
CLOSED: Final = "Strata was closed"
CALL_AS_TEXT: Final = (
    "The model wrote a tool call as text, so it was not run. Start its server with support for "
    "the tools of this model, or choose another model."
)
_THINKING: Final = "Thinking…"
_CALLING: Final = "Writing a tool call…"


def _describe_wait(model: ModelInfo) -> str:
    if model.name == EXTRACTIVE:
        return "Quoting notes…"
    return f"Waiting for {model.file.name if model.file else shorten_name(model.name)}…"


@dataclass(frozen=True)
class StoredAnswer:
    """The answer to a request, or to all requests of an agent's turn, as it was stored.

    Attributes:
        entry: the id of the answer's log entry.
        report: the final context report of the last request.
        calls: the tool calls in the answer. The last answer of a turn has none.
        usage: the total usage of the turn.
    """

    entry: str
    answer: TurnAnswer
    report: ContextReport
    calls: tuple[ToolCallPart, ...] = ()
    usage: Usage | None = None


ReadCalls = Callable[[tuple[RequestedCall, ...]], tuple[ToolCallPart, ...]]


class AnswerStream:
    """Streams the answer to one request. An agent makes several requests per turn.

    Args:
        request: the request to send.
        read_calls: converts tool calls to message parts. If None, tool calls are ignored.
        full_status: the status to store for an answer that was received completely.
        read: the segments that tools have read earlier in the turn.
    """

    def __init__(
        self,
        turn: Turn,
        request: Request,
        *,
        read_calls: ReadCalls | None = None,
        full_status: Status = "complete",
        read: Sequence[Segment] = (),
    ) -> None:
        self._turn = turn
        self._request = request
        self._read_calls = read_calls
        self._full_status = full_status
        self._report = request.report
        self._partial = PartialAnswer()
        self._read = read
        sources = (*request.segments, *read)
        self._escapes = EscapeRemover(sources, turn.ask.question)
        self._id = self._step = ""
        self._end_keeping: Callable[[], None] | None = None
        self._kept_pieces = 0
        self._has_kept = False
        self._is_unsaved = False
        self._keep: Callable[[], str | None] | None = None
        self._saved: tuple[Request, Mapping[str, Any] | None] | None = None
        self._sent_before = find_sent_body(turn.session, turn.id)

    def stream(self) -> Generator[Event, None, StoredAnswer]:
        """Stream the answer, and store it even if it fails."""
        partial = self._partial
        if self._turn.model_name == EXTRACTIVE:  # the answer is made of the request itself
            self._keep = self._turn.session.keep_sent(self._request, None)
        try:
            yield Step("write", _describe_wait(self._turn.model))
            yield from self._stream(open_model(self._turn, self._read))
        except Cancelled:
            partial.end = replace(partial.end, status="interrupted")
        except Exception as error:
            code = "context_overflow" if isinstance(error, ContextOverflow) else "internal"
            code = error.code if isinstance(error, ModelError) else code
            status = "interrupted" if partial.pieces else "error"
            partial.end = AnswerEnd(status, str(error), code)
            self._store()
            raise
        except BaseException:  # the consumer has gone, or the program is being ended
            partial.end = replace(partial.end, status="interrupted")
            self._store()
            raise
        warned = len(partial.warnings)
        answer = self._store()
        yield from map(Warned, partial.warnings[warned:])
        return answer

    def _stream(self, model: ModelPort) -> Iterator[Event]:
        """Stream the answer. If the request is too long, compact and retry once."""
        cancel = self._turn.cancel
        if self._turn.model_name != EXTRACTIVE:  # the wait for the first text may be long
            self._start_keeping()
        try:
            for event in model.stream(self._request, cancel):
                yield from self._take(event)
        except ContextOverflow as overflow:
            learn_limit(self._turn, overflow.limit)
            if self._partial.pieces or not (yield from self._shrink_request(overflow)):
                raise
            for event in model.stream(self._request, cancel):
                yield from self._take(event)

    def _shrink_request(self, overflow: ContextOverflow) -> Generator[Event, None, bool]:
        """Compact the session after an overflow, and prepare the request again.

        Return whether the new request is smaller.
        """
        prepared = yield from shrink_request(self._turn, self._request, overflow)
        if prepared is None:
            return False
        self._request, entries = prepared
        self._report = self._request.report
        if entries:
            self._turn.session.append(entries)
        yield ContextPrepared(self._report)
        return True

    def _take(self, event: ModelEvent) -> Iterator[Event]:
        partial = self._partial
        if self._is_unsaved:  # not before the first event, to avoid a delay of the request
            self._save_request()
        match event:
            case ModelLoading(name, done, needed_bytes):
                yield ModelLoadProgressed(name, done, needed_bytes)
            case ModelSent(body, max_output_tokens):
                partial.wire, partial.output_limit = body, max_output_tokens
                self._keep = self._turn.session.keep_sent(self._request, body)
                self._compare_sent(body)
                partial.thoughts.clear()  # of an attempt that failed before any text
                partial.signed.clear()
                self._is_unsaved = True
            case ModelReshaped():
                partial.warnings.append(event.text)
                yield Warned(event.text)
            case ModelText() | ModelRetracted():
                yield from self._take_text(event)
            case ModelReasoning() | ModelCalling() | ModelQuoted():
                yield from self._take_unseen(event)
            case ModelCalls(calls) if self._read_calls is not None:
                partial.calls = self._read_calls(calls)
            case ModelWaiting(seconds, reason):
                left, self._step = ceil(seconds), ""
                yield Step("wait", f"Retrying in {left} s ({reason})", left)
            case ModelEnded():
                yield from self._end(event)

    def _take_unseen(self, event: ModelReasoning | ModelCalling | ModelQuoted) -> Iterator[Event]:
        """Take what is no text, and yield a step that says what arrives, unless the last did."""
        partial = self._partial
        if isinstance(event, ModelQuoted):
            partial.quoted = event
            return
        text = _CALLING
        if isinstance(event, ModelReasoning):
            partial.add_reasoning(event)
            text = _THINKING
        else:
            partial.end_thinking()
        if text != self._step:
            self._step = text
            yield Step("write", text)
        if isinstance(event, ModelReasoning) and event.text:
            yield ThoughtDelta(event.text, partial.measure_thinking())

    def _end(self, ended: ModelEnded) -> Iterator[Event]:
        """Take the end of the answer, and yield warnings about it."""
        partial, status, usage = self._partial, ended.status, ended.usage
        yield from self._add_text(self._escapes.end())
        partial.usage, reason = usage, self._find_reason(ended)
        partial.end = AnswerEnd(self._full_status if status == "complete" else status, reason)
        if reason:
            is_broken = status == "interrupted"
            ending = describe_ending(reason, bool(partial.text.strip() or partial.calls))
            partial.warnings.append(ending if is_broken else reason)
            yield Warned(partial.warnings[-1], is_reason=True)
        if usage and (cut := warn_of_cut(self._turn.model.name, self._report, usage)):
            partial.warnings.append(cut.message)
            yield cut

    def _add_text(self, text: str) -> Iterator[Event]:
        if text:
            self._step = ""
            self._partial.add_text(text)
            self._start_keeping()
            yield TextDelta(text)

    def _take_text(self, event: ModelText | ModelRetracted) -> Iterator[Event]:
        if isinstance(event, ModelText):
            yield from self._add_text(self._escapes.add(event.text))
            return
        partial = self._partial
        partial.retract(self._escapes.end())
        self._kept_pieces = 0
        if self._has_kept:
            self._turn.session.forget_partial()
            self._has_kept = False
        yield TextTakenBack()
        yield ThoughtDelta(partial.thoughts[-1], partial.measure_thinking())

    def _start_keeping(self) -> None:
        """Start saving the answer in the background, so that the stream never waits.

        Before any text, this saves that there is no more than the question.
        """
        if self._end_keeping is None:
            self._id = self._turn.session.new_id()
            self._end_keeping = repeat(self._keep_text, KEEPING_INTERVAL_S)

    def _keep_text(self) -> None:
        """Save the text so far as an interrupted answer, unless it is saved.

        Message hooks may remove text that must not be stored. If there are such hooks, no text is
        saved until they have processed the whole answer.
        """
        hooks = self._turn.customization.hooks
        is_rewritten = hooks is not None and hooks.has("message")
        pieces = 0 if is_rewritten else len(self._partial.pieces)
        if pieces > self._kept_pieces or not self._has_kept:
            entry = self._build_entry(Message("assistant", self._partial.text if pieces else ""))
            entry = replace(entry, status="interrupted", reason=CLOSED)
            self._kept_pieces, self._has_kept = pieces, True
            self._turn.session.save_partial(entry)

    def _find_reason(self, ended: ModelEnded) -> str:
        """Return why an answer is missing or incomplete, or "" if it is complete."""
        if ended.reason or ended.finish == "length":
            return ended.reason or self._describe_limit()
        if ended.finish == "content_filter":
            return "The service held a part of the answer back."
        is_empty = not self._partial.text.strip() and not self._partial.calls
        if is_empty:
            return "The model gave an empty answer."
        tools = self._request.draft.preamble.tools
        is_call = tools and has_call_as_text(self._partial.text)
        return CALL_AS_TEXT if is_call and not self._partial.calls else ""

    def _describe_limit(self) -> str:
        wanted = self._request.base.options["maxTokens"]
        limit = self._partial.output_limit or wanted
        owner = "maxOutputTokens" if limit == wanted else "the most that this model gives"
        return f"The answer stops at its limit of {limit:,} tokens ({owner})."

    def _store(self) -> StoredAnswer:
        """Store the answer and its usage."""
        partial, session, request = self._partial, self._turn.session, self._request
        if self._end_keeping is not None:
            self._end_keeping()
        if remaining_text := self._escapes.end():
            partial.pieces.append(remaining_text)
        hooks = self._turn.customization.hooks
        message, warnings = run_answer_hooks(partial.message, hooks)
        partial.warnings += warnings
        if message.text != partial.text:
            # A hook changed the text, which the sections still have.
            partial.quoted = replace(partial.quoted, sections=())
        self._report = self._complete_report()
        if self._keep is None:  # nothing was sent
            self._keep = session.keep_sent(request, None)
        entry = self._build_entry(message)
        new: list[Entry] = [entry]
        if partial.usage is not None:
            usage = CallUsage(request.report, partial.usage)
            new.append(build_usage_entry(session, self._turn.id, usage, parent=entry.id))
        session.append(new)
        if self._has_kept:
            session.forget_partial()
        self._save_request()
        answer = TurnAnswer(
            message.text,
            self._turn.model_name,
            partial.end,
            entry.seconds,
            request.segments,
            kind=partial.quoted.kind,
            sections=partial.quoted.sections,
        )
        calls = list_tool_calls(message)
        return StoredAnswer(entry.id, answer, self._report, calls, partial.usage)

    def _build_entry(self, message: Message) -> MessageEntry:
        """Build the log entry of the answer in its current state."""
        session, name = self._turn.session, self._turn.model_name
        place = (self._id or session.new_id(), session.path()[-1].id, session.now())
        seconds = round(self._measure_duration(), 3)
        entry = self._partial.build_entry(place, message, self._turn.id, name, seconds)
        fields: dict[str, object] = {START_TOKENS: self._report.start_tokens}
        if self._keep is not None and (reference := self._keep()) is not None:
            fields[SENT] = reference
        if where := self._turn.model.where:
            fields[WHERE] = where
        if thinking_s := self._partial.measure_thinking():
            fields[THINKING_SECONDS] = round(thinking_s, 3)
        if sections := self._partial.quoted.sections:
            fields[SECTIONS] = [section.to_dict() for section in sections]
        return replace(entry, extra=fields)

    def _measure_duration(self) -> float:
        """Return how many seconds the turn has taken, without those that waited for the user."""
        turn = self._turn
        return max(0.0, monotonic() - turn.started_s - turn.tool_time.waited_s)

    def _complete_report(self) -> ContextReport:
        partial, report = self._partial, self._report
        cached = partial.usage.cached_tokens if partial.usage else 0
        degraded = self._turn.session.list_degraded()
        warnings = (*report.warnings, *partial.warnings, *degraded)
        return replace(
            report,
            cached_tokens=cached,
            warnings=tuple(dict.fromkeys(warnings)),
            outcome=partial.outcome,
        )

    def _compare_sent(self, body: Mapping[str, Any]) -> None:
        """Add to the report what differs in the sent body, and not in the prepared request."""
        turn, before = self._turn, self._sent_before
        read = cache(partial(SentBody.read, body, self._request.draft))
        remember_body(turn.session.id, turn.id, read)
        if before is not None:
            changes = before[0].find_changes(read(), is_same_turn=before[1])
            self._report = add_wire_changes(self._request.report, tuple(changes))

    def _save_request(self) -> None:
        """Store the request that was sent, with its final report.

        If the same request is already stored, only the report is updated.
        """
        self._is_unsaved = False
        turn, request, wire = self._turn, self._request, self._partial.wire
        session, report = turn.session, self._report.to_dict()
        remember_sent(session.id, turn.id, request.draft)
        kept = turn.id, request.report.request, report
        saved, self._saved = self._saved, (request, wire)
        is_saved = saved is not None and saved[0] is request and saved[1] is wire
        if not (is_saved and session.save_report(*kept)):
            session.save_request(*kept, request.encode_body(), wire)
