"""A turn from the moment its question is stored: stream the answer, check it, save it.

Whatever arrives is kept. A stop, a broken connection or a failure ends the turn with what there is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from chains.cancel import CancelToken
from chains.citations import check_citations
from chains.errors import Cancelled
from chains.events import (
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
from chains.model_port import (
    ModelEnded,
    ModelEvent,
    ModelPort,
    ModelSent,
    ModelText,
    ModelWaiting,
)
from chains.turn import PreparedTurn, SessionPort, TurnRequest
from context.entries import MessageEntry, UsageEntry
from context.messages import Message
from context.report import ContextReport
from context.tokens import raised_factor

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
    wire: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class RunningTurn:
    """A turn from the moment its question is stored."""

    def __init__(self, request: TurnRequest, session: SessionPort, turn: PreparedTurn) -> None:
        self._request = request
        self._session = session
        self._turn = turn
        self._report = turn.request.report
        self._answer = _Answer()

    def answer(self, model: Callable[[], ModelPort], cancel: CancelToken) -> Iterator[Event]:
        """Stream the answer, and keep it however it ends.

        Args:
            model: returns who answers; where there is nobody, it raises a `ModelError`.
        """
        answer = self._answer
        try:
            yield Step("write", "Writing…")
            for event in model().stream(self._turn.request, cancel):
                yield from self._take(event)
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
        entry = self._store()
        yield MessageEnded(entry, "assistant", self._turn.turn)
        yield ContextPrepared(self._report)
        yield TurnEnded(self._result(entry))

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

    def _result(self, entry: str) -> AskResult:
        answer, request = self._answer, self._request
        checked = check_citations(answer.text, self._turn.request.segments, request.question)
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
