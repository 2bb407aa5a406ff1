"""Finish a turn after its answer is stored, and build its result."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from chains.citations.check import CitationReport
from chains.claims.evidence import ClaimEvidence
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
from chains.turn.answer import StoredAnswer
from chains.turn.compact import compact_at_end
from chains.turn.continuation import join_thinking
from chains.turn_answer import TurnAnswer
from context.fit.compact_session import may_be_due
from context.report.report import ContextReport

if TYPE_CHECKING:
    from chains.retrieval.map_reduce import MapReduceResult
    from chains.retrieval.retrieve import RetrievalResult

__all__ = ["build_dry_result", "build_result", "end_turn"]


def end_turn(turn: Turn, stored: StoredAnswer) -> Iterator[Event]:
    """Finish a turn: run the `turn_end` hooks, and compact the session if necessary.

    Raises:
        ContextHookError: a hook failed. The answer is kept.
    """
    yield MessageEnded(stored.entry, "assistant", turn.id, turn.session.id)
    hooks = turn.customization.hooks
    has_hooks = hooks is not None and hooks.has("context")
    if has_hooks:
        with contextlib.suppress(Cancelled):
            if entries := call(lambda: run_end_hooks(turn), turn.cancel):
                turn.session.append(entries)
    # Hooks may have shortened the history for the request alone.
    may_compact = has_hooks or may_be_due(stored.report, stored.answer.text)
    if stored.answer.end.status == "complete" and may_compact:
        with contextlib.suppress(Cancelled):
            yield from compact_at_end(turn)
    yield ContextPrepared(stored.report)


def build_result(
    turn: Turn,
    stored: StoredAnswer,
    checked: CitationReport,
    read: "MapReduceResult | None" = None,
    found: "RetrievalResult | None" = None,
    *,
    evidence: ClaimEvidence | None = None,
) -> AskResult:
    """Build the result of a turn.

    Args:
        checked: the checked citations of the answer.
        read: the result of reading attachments in full by map-reduce, or None if none was read.
        found: what retrieval found, or None if nothing was searched.
        evidence: what the claims of the answer are checked against, or None if no model wrote it.
    """
    by = () if found is None else found.by
    entries = (entry for entry in turn.session.path() if getattr(entry, "turn_id", "") == turn.id)
    answer = replace(
        stored.answer,
        checked=checked,
        searched_by=by,
        evidence=evidence,
        thinking=join_thinking(entries),
    )
    return AskResult(
        session=turn.session.id,
        turn=turn.id,
        entry=stored.entry,
        mode=turn.ask.mode,
        answer=answer,
        usage=stored.usage if read is None else sum_usage(read.calls, stored.usage),
        warnings=(*stored.report.warnings, *_warn_of_citations(turn, answer)),
        context=stored.report.to_dict(),
        read_whole=None if read is None else read.summary,
        searched=turn.query.text or None,
        applied_filter=None if found is None else found.filter,
    )


def _warn_of_citations(turn: Turn, answer: TurnAnswer) -> Iterator[str]:
    """Yield a warning if the model cited no sources.

    If Strata found sources instead, the warning says for how many sentences of the answer.
    """
    if answer.sources_sentence:
        yield answer.sources_sentence
    elif (
        answer.end.status == "complete"
        and turn.ask.mode == "vault"
        and turn.model_name != EXTRACTIVE
        and not answer.checked.citations
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
        answer=TurnAnswer("", turn.model_name, searched_by=by),
        usage=None,
        warnings=report.warnings,
        context=report.to_dict(),
        read_whole=None if read is None else read.summary,
        searched=turn.query.text or None,
    )
