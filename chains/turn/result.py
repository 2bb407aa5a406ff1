"""Finish a turn after its answer is stored, and build its result."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chains.citations.check import CitationReport
from chains.citations.sources import name_share
from chains.concurrency import call
from chains.errors import Cancelled
from chains.events import (
    CITES_NOTHING,
    AskResult,
    ContextPrepared,
    Event,
    MessageEnded,
)
from chains.models import EXTRACTIVE
from chains.request.draft import run_end_hooks
from chains.request.turn import Turn
from chains.request.usage import sum_usage
from chains.turn.answer import TurnAnswer
from chains.turn.compact import compact_at_end
from context.report.report import ContextReport

if TYPE_CHECKING:
    from chains.retrieval.map_reduce import MapReduceResult
    from chains.retrieval.retrieve import RetrievalResult

__all__ = ["build_dry_result", "build_result", "end_turn"]


def end_turn(turn: Turn, answer: TurnAnswer) -> Iterator[Event]:
    """Finish a turn: run the `turn_end` hooks, and compact the session if necessary.

    Raises:
        ContextHookError: a hook failed. The answer is kept.
    """
    yield MessageEnded(answer.entry, "assistant", answer.turn, turn.session.id)
    hooks = turn.customization.hooks
    if hooks is not None and hooks.has("context"):
        with contextlib.suppress(Cancelled):
            if entries := call(lambda: run_end_hooks(turn), turn.cancel):
                turn.session.append(entries)
    if answer.status == "complete":
        with contextlib.suppress(Cancelled):
            yield from compact_at_end(turn)
    yield ContextPrepared(answer.report)


def build_result(
    turn: Turn,
    answer: TurnAnswer,
    checked: CitationReport,
    read: "MapReduceResult | None" = None,
    found: "RetrievalResult | None" = None,
) -> AskResult:
    """Build the result of a turn.

    Args:
        checked: the checked citations of the answer.
        read: the result of reading attachments in full by map-reduce, or None if none was read.
        found: what retrieval found, or None if nothing was searched.
    """
    return AskResult(
        session=turn.session.id,
        turn=answer.turn,
        entry=answer.entry,
        mode=turn.ask.mode,
        answer=answer.text,
        status=answer.status,
        citations=checked.citations,
        unverified=checked.unverified,
        model=turn.model_name,
        usage=answer.usage if read is None else sum_usage(read.calls, answer.usage),
        warnings=(*answer.report.warnings, *_warn_of_citations(turn, answer, checked)),
        context=answer.report.to_dict(),
        steps=answer.steps,
        read_whole=None if read is None else read.summary,
        searched=turn.query.text or None,
        searched_by=() if found is None else found.by,
        kind=answer.quoted.kind,
        sections=answer.quoted.sections,
        applied_filter=None if found is None else found.filter,
        seconds=answer.seconds,
        reason=answer.reason,
        sentences=checked.sentences,
    )


def _warn_of_citations(turn: Turn, answer: TurnAnswer, checked: CitationReport) -> Iterator[str]:
    """Yield a warning if the model cited no sources.

    If Strata found sources instead, the warning says for how many sentences of the answer.
    """
    if checked.citations and checked.sentences:
        yield name_share(checked.citations, checked.sentences)
    elif (
        answer.status == "complete"
        and turn.ask.mode == "vault"
        and turn.model_name != EXTRACTIVE
        and not checked.citations
    ):
        yield CITES_NOTHING


def build_dry_result(
    turn: Turn,
    report: ContextReport,
    read: "MapReduceResult | None" = None,
    by: tuple[str, ...] = (),
) -> AskResult:
    """Build the result of a dry run. It contains no answer."""
    session = turn.session
    return AskResult(
        session=session.id if session.path() else None,
        turn=None,
        entry=None,
        mode=turn.ask.mode,
        answer="",
        status="complete",
        citations=(),
        unverified=(),
        model=turn.model_name,
        usage=None,
        warnings=report.warnings,
        context=report.to_dict(),
        read_whole=None if read is None else read.summary,
        searched=turn.query.text or None,
        searched_by=by,
    )
