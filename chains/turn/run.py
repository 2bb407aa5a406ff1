"""Run a turn: hooks, retrieval, attachments, prepare, store, stream, check, finish.

The user message is stored before any other step, and every message is stored before its event.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from chains.cancel import CancelToken
from chains.citations.sources import check_answer
from chains.claims.evidence import ClaimEvidence
from chains.claims.turns import (
    TurnSources,
    gather_evidence,
    list_last_turns,
    list_summaries,
    list_turn_texts,
)
from chains.concurrency import call, start_call
from chains.errors import CannotSee
from chains.events import ContextPrepared, Event, MessageEnded, Retrieved, TurnEnded, Warned
from chains.models import EXTRACTIVE
from chains.request.draft import (
    Prepared,
    begin_request,
    build_ports,
    build_user_message,
    draft_turn,
    prepare_turn,
)
from chains.request.open_turn import open_extractive_model, open_turn
from chains.request.project import has_note_text, join_texts
from chains.request.session import SessionView
from chains.request.turn import Turn
from chains.request.usage import READING, REWRITE, log_usage
from chains.retrieval.attachments import (
    FittedAttachments,
    estimate_attachments,
    explain_blindness,
    find_unseen_images,
    fit_attachments,
    measure_reading_cost,
)
from chains.retrieval.retrieve import RetrievalResult, retrieve
from chains.turn.answer import AnswerStream, StoredAnswer
from chains.turn.compact import (
    add_summaries,
    compact,
    prepare_request,
)
from chains.turn.continuation import (
    BrokenAnswer,
    find_broken_answer,
    join_answer,
    store_continuation,
)
from chains.turn.hooks import StartHooksResult, run_message_hooks, run_start_hooks
from chains.turn.regenerate import find_last_question, find_sent_segments, redraft_turn
from chains.turn.result import build_dry_result, build_result, end_turn
from context.assemble.attachments import CurrentSource
from context.assemble.inputs import GivenSummary
from context.assemble.request import Request
from context.assemble.turn_context import fit_passages
from context.draft import Tail
from context.errors import BadInputs
from context.fit.compact import CompactionReport
from context.fit.compact_session import CompactionPreview, preview_session
from context.fit.edit import edit_summary
from context.hooks import HookRegistry
from context.layers import Layer, Segment
from context.log.entries import Entry, SegmentsEntry
from context.messages import Message
from context.report.warnings import warn_of_attachments, warn_of_losses

if TYPE_CHECKING:
    from chains.retrieval.map_reduce_plan import ReadingCost

__all__ = [
    "compact_on_request",
    "edit_summary_in_use",
    "measure_reading",
    "prepare_again",
    "preview",
    "preview_compaction",
    "rebuild",
    "run_turn",
    "store_user_message",
]


def run_turn(turn: Turn) -> Iterator[Event]:
    """Answer a user message, and yield the events of the turn, ending with `TurnEnded`.

    Raises:
        ContextOverflow: the user message does not fit. Only the message is stored.
        ContextHookError: a hook failed. Its request is not stored.
        ModelError: there is no answer. The user message and all entries so far are kept.
        CannotSee: an image is attached, and the model does not accept images.
        Cancelled: the turn was cancelled before its first request. A later cancel ends the turn
            without an exception.
    """
    turn, found, fitted, (request, entries) = yield from _build_request(turn)
    if turn.ask.dry_run:
        yield from _announce(request)
        yield TurnEnded(build_dry_result(turn, request.report, fitted.read, found.by))
        return
    yield from _store(turn, request, entries, found, fitted)
    broken = find_broken_answer(turn.session.path()) if turn.is_continued else None
    noted = turn.customization.instructions
    known, is_noted = join_texts(turn.ask.question, noted), has_note_text(noted)
    with _prepare_check(_gather_evidence(turn, request.segments, known)):
        stored = yield from _stream(turn, request)
    yield from end_turn(turn, stored)
    stored = _join_broken(broken, stored)
    answer = stored.answer
    checked = check_answer(
        answer.text,
        answer.sources,
        known,
        answer.sections,
        has_project_text=is_noted,
        has_model=turn.model.name != EXTRACTIVE,
    )
    evidence = _gather_evidence(turn, answer.sources, known)
    yield TurnEnded(build_result(turn, stored, checked, fitted.read, found, evidence=evidence))


def _build_request(
    turn: Turn,
) -> Generator[Event, None, tuple[Turn, RetrievalResult, FittedAttachments, Prepared]]:
    """Find what a turn needs, and prepare its first request."""
    turn, hooks = yield from _run_hooks(turn)
    _refuse_unseen_images(turn)
    found = yield from retrieve(turn)
    turn = replace(turn, query=found.query)
    fitted = yield from fit_attachments(turn, found.segments)
    turn, warnings = yield from _draft(turn, hooks, found, fitted)
    turn = replace(turn, attached=fitted.attached, unsent=fitted.unsent)
    prepared = yield from _prepare(turn, warnings)
    return turn, found, fitted, prepared


def _gather_evidence(turn: Turn, sources: Sequence[Segment], known: str) -> ClaimEvidence | None:
    """Return what the claims of a stored answer are checked against, or None without a model.

    What an agent has changed is not known yet.
    """
    path = turn.session.path()
    turns = list_last_turns(path)
    if turn.model.name == EXTRACTIVE or not turns:
        return None
    can_edit = turn.mode_rules.calls_tools
    sent = TurnSources(sources, known, can_edit, changes=None if can_edit else ())
    earlier = (text for one in turns[:-1] for text in list_turn_texts(one))
    return gather_evidence(turns[-1], sent, (*list_summaries(path), *earlier))


@contextmanager
def _prepare_check(evidence: ClaimEvidence | None) -> Iterator[None]:
    """Index what an answer is checked against while the model writes it."""
    end = CancelToken()
    if evidence is not None:
        start_call(partial(evidence.prepare, end))
    try:
        yield
    finally:
        end.cancel()


def store_user_message(
    turn: Turn, hooks: HookRegistry | None = None
) -> Generator[MessageEnded, None, Turn]:
    """Store the user message of a turn, and return the turn with its log entry.

    If an answer is regenerated, the message is already stored, and nothing is written. If an answer
    is continued, the request for its rest is stored.

    Args:
        hooks: the hooks to run on the message before it is stored, so that text that they remove is
            never stored.
    """
    entry, session = turn.user_message, turn.session
    if entry is None and turn.is_regenerated:
        _, entry = find_last_question(session.path())
        if turn.is_continued:
            store_continuation(session)
    elif entry is None:
        turn = run_message_hooks(turn, hooks)
        entry = build_user_message(turn)
        session.append([entry])
    yield MessageEnded(entry.id, "user", entry.turn_id, session.id)
    return replace(turn, id=entry.turn_id, user_message=entry, is_logged=True)


def _run_hooks(turn: Turn) -> Generator[Event, None, tuple[Turn, StartHooksResult]]:
    if turn.user_message is None and not turn.ask.dry_run:
        turn = yield from store_user_message(turn, turn.customization.hooks)
    result = call(partial(run_start_hooks, turn), turn.cancel)
    result = replace(result, problems=(*turn.setup_problems, *result.problems))
    yield from map(Warned, result.problems)
    turn = call(partial(_open, turn), turn.cancel)
    problems = tuple(dict.fromkeys((*result.problems, *turn.setup_problems)))
    yield from map(Warned, problems[len(result.problems) :])
    return turn, replace(result, problems=problems)


def _refuse_unseen_images(turn: Turn) -> None:
    sent = find_sent_segments(turn.session) if turn.is_regenerated else turn.attached
    images = find_unseen_images(turn, sent)
    if images:
        names = [image.shown_source for image in images]
        model = "" if turn.model_name == EXTRACTIVE else turn.model_name
        raise CannotSee(explain_blindness(turn.model), names, model)


def _draft(
    turn: Turn, hooks: StartHooksResult, found: RetrievalResult, fitted: FittedAttachments
) -> Generator[Event, None, tuple[Turn, tuple[str, ...]]]:
    """Build the log entries of a turn, and collect all warnings so far.

    Args:
        hooks: the result of the hooks at the start of the turn.
        found: the passages that retrieval found.
        fitted: the attachments that are sent.
    """
    warnings = (*hooks.problems, *found.warnings, *fitted.warnings)
    if turn.is_regenerated:
        turn, lost = redraft_turn(turn)
        turn = _number_redrafted(turn)
        yield from lost
        return hooks.add_to(turn), (*warnings, *(warned.message for warned in lost))
    more = len(fitted.attached) - len(turn.attached)
    segments = _number_as_cited(turn, (*fitted.attached, *found.shift_numbers(more)))
    is_searched = turn.search is not None
    if is_searched:
        yield Retrieved(segments)
    is_kept = bool(segments or turn.stored_fields) or is_searched
    stored_fields = {**turn.stored_fields, **found.stored_fields}
    turn = draft_turn(turn, segments if is_kept else None, stored_fields)
    return hooks.add_to(turn), warnings


def _number_as_cited(turn: Turn, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments of a turn with the numbers that a reader of the answer meets in order.

    The order of the segments stays that of the search results. If a model answers, the numbers stay
    as they are too.

    Args:
        turn: the turn, with the query and the quality of its results.
        segments: the attached and retrieved segments, of which the request may contain fewer.
    """
    if turn.model_name != EXTRACTIVE or not segments:
        return tuple(segments)
    tail = Tail(tuple(segments), Message("user", turn.ask.question), turn.counter)
    fitted = fit_passages(tail, turn.compute_request_budget(turn.factor).budget).tail
    sent = [segment for segment in fitted.segments if segment.layer is Layer.L3]
    cited = open_extractive_model(turn).list_cited(sent)
    known = [segment.number for segment in segments if segment.number is not None]
    ordered = dict.fromkeys((*(number for number in cited if number in known), *known))
    numbers = {number: at for at, number in enumerate(ordered, start=1)}
    return tuple(
        segment if segment.number is None else replace(segment, number=numbers[segment.number])
        for segment in segments
    )


def _number_redrafted(turn: Turn) -> Turn:
    """Give the sources of a regenerated turn the numbers that the new answer cites in order.

    If the numbers differ from those of the earlier answer, which keeps its own, the sources are
    stored again.
    """
    session, entry = turn.session, turn.segments_entry
    sent = find_sent_segments(session) if entry is None else entry.segments
    numbered = _number_as_cited(turn, sent)
    if numbered == tuple(sent):
        return turn
    if entry is None:
        place = session.new_id(), session.path()[-1].id, session.now(), turn.id
        entry = SegmentsEntry(*place, numbered)
    return replace(turn, segments_entry=replace(entry, segments=numbered))


def _prepare(turn: Turn, warnings: Sequence[str]) -> Generator[Event, None, Prepared]:
    """Prepare the first request of a turn, or a preview of it in a dry run."""
    if turn.ask.dry_run:
        return prepare_turn(turn, "preview", warnings)
    prepared = yield from prepare_request(
        turn, lambda announced: prepare_turn(announced, "send", warnings)
    )
    turn.cancel.raise_if_cancelled()
    return prepared


def _store(
    turn: Turn,
    request: Request,
    entries: Sequence[Entry],
    found: RetrievalResult,
    fitted: FittedAttachments,
) -> Iterator[Event]:
    session = turn.session
    if entries:
        session.append(entries)
    yield from _announce(request)
    log_usage(session, turn.id, found.calls, REWRITE)
    if fitted.read is not None:
        log_usage(session, turn.id, fitted.read.calls, READING)


def _announce(request: Request) -> Iterator[Event]:
    report = request.report
    yield from map(Warned, warn_of_attachments(report.segments))
    yield from map(Warned, warn_of_losses(report.dropped, report.pins))
    yield ContextPrepared(report)


def _stream(turn: Turn, request: Request) -> Generator[Event, None, StoredAnswer]:
    if not turn.mode_rules.calls_tools:
        return AnswerStream(turn, request).stream()
    if turn.vault is None:
        raise BadInputs("An agent needs notes.")
    from chains.turn.agent import AgentLoop  # with all tools, which other modes do without

    return AgentLoop(turn, turn.vault, request).run()


def _join_broken(broken: BrokenAnswer | None, stored: StoredAnswer) -> StoredAnswer:
    """Return a continued answer as a whole. Other answers are returned unchanged."""
    if broken is None:
        return stored
    answer = stored.answer
    seconds = round((broken.seconds or 0.0) + (answer.seconds or 0.0), 3)
    text = join_answer(broken.text, answer.text)
    return replace(stored, answer=replace(answer, text=text, seconds=seconds))


def preview(turn: Turn) -> Request:
    """Preview the next request, without retrieval, model calls or writes.

    Raises:
        ContextOverflow: the request does not fit.
    """
    chat = turn.session
    view = SessionView(chat.id, chat.path(), chat.usage(), chat.find_previous_body(), chat)
    turn = open_turn(replace(turn, session=view))
    fitted = estimate_attachments(turn)
    turn = replace(turn, attached=fitted.attached, unsent=fitted.unsent)
    return _prepare_view(draft_turn(turn, fitted.attached or None), fitted.warnings)


def rebuild(turn: Turn, missing: str = "") -> Request:
    """Rebuild the first request of a session's last turn from the log.

    Only the settings of the turn are used, not its question.

    Args:
        missing: why the notes of the chat cannot be read, or an empty string. They then count as
            unchanged, and the reason becomes a warning.
    """
    chat = turn.session
    path, question = find_last_question(chat.path())
    view = SessionView(chat.id, path, chat.usage(), like=chat)
    turn = replace(turn, session=view, pages=None)
    turn = open_turn(_without_notes(turn, missing) if missing else turn)
    logged = replace(turn, id=question.turn_id, user_message=question, is_logged=True)
    return _prepare_view(replace(logged, is_regenerated=True))


def prepare_again(turn: Turn, before: Sequence[Entry]) -> Generator[Event, None, Request]:
    """Prepare the first request of a past question again, with the notes and settings of now.

    Nothing is sent or stored, no hook runs, and the model is not asked for a better query.

    Args:
        turn: the turn of a dry run, with the query and the day of the question.
        before: the log entries that were there when the question was asked.
    """
    chat = turn.session
    turn = replace(turn, session=SessionView(chat.id, tuple(before), chat.usage(), like=chat))
    _turn, _found, _fitted, (request, _entries) = yield from _build_request(turn)
    return request


def _without_notes(turn: Turn, reason: str) -> Turn:
    """Return a copy for which all sources of earlier turns count as unchanged."""
    warnings = (*turn.customization.warnings, reason)
    unchanged = CurrentSource("same")
    return replace(
        turn,
        customization=replace(turn.customization, warnings=warnings),
        ports=replace(
            turn.ports, resolve=lambda _segment: unchanged, find_excluded=None, hidden_notes=None
        ),
    )


def measure_reading(turn: Turn) -> "ReadingCost | None":
    """Return the maximum cost of reading the attachments in full, or None if all of them fit.

    No model is called.

    Raises:
        CannotRead: an attachment cannot be read in full.
    """
    return measure_reading_cost(open_turn(turn))


def compact_on_request(
    turn: Turn,
    instructions: str = "",
    *,
    given: GivenSummary | None = None,
    is_draft: bool = False,
) -> Generator[Event, None, CompactionReport]:
    """Replace everything before the last complete turn with a summary.

    Only the settings of the turn are used, not its question.

    Args:
        instructions: the user's additional instructions for the summary.
        given: a finished summary to store instead of asking a model for one.
        is_draft: whether to return the summary without storing it.
    """
    turn = call(partial(_open, turn), turn.cancel)
    return (yield from compact(turn, instructions, given=given, is_draft=is_draft))


def preview_compaction(turn: Turn) -> CompactionPreview:
    """Preview what `compact_on_request` would do. No model is called and nothing is stored."""
    turn = open_turn(turn)
    found = preview_session(begin_request(turn, build_ports(turn, []), turn.session.path()))
    return replace(found, maker=turn.summarised_by)


def edit_summary_in_use(turn: Turn, compaction: str, text: str) -> None:
    """Replace the text of the summary that a compaction stored.

    Raises:
        SummaryFailed: requests no longer contain this summary, or the text is empty or too long.
    """
    turn, session = open_turn(turn), turn.session
    new_entries: list[Entry] = []
    ports = build_ports(turn, new_entries)
    edit_summary(begin_request(turn, ports, session.path()), compaction, text)
    if new_entries:
        session.append(new_entries)


def _open(turn: Turn) -> Turn:
    return add_summaries(open_turn(turn))


def _prepare_view(turn: Turn, warnings: Sequence[str] = ()) -> Request:
    request, _ = prepare_turn(turn, "preview", (*turn.setup_problems, *warnings))
    return request
