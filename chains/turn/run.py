"""Run a turn: hooks, retrieval, attachments, prepare, store, stream, check, finish.

The user message is stored before any other step, and every message is stored before its event.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chains.cancel import CancelToken
from chains.citations.sources import check_answer
from chains.concurrency import call
from chains.errors import CannotSee
from chains.events import ContextPrepared, Event, MessageEnded, Retrieved, TurnEnded, Warned
from chains.models import EXTRACTIVE
from chains.request.chain import Chain
from chains.request.draft import (
    DraftedTurn,
    PreparedTurn,
    begin_request,
    build_user_message,
    draft_turn,
    prepare_turn,
)
from chains.request.project import has_note_text, join_texts
from chains.request.request import TurnContext, TurnRequest
from chains.request.session import SessionPort, SessionView
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
from chains.turn.answer import AnswerStream, TurnAnswer
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
from context.assemble.inputs import GivenSummary
from context.assemble.request import Request
from context.fit.compact_session import CompactionPreview, CompactionReport, preview_session
from context.fit.edit import edit_summary
from context.hooks import HookRegistry
from context.log.entries import Entry
from context.report.warnings import warn_of_attachments, warn_of_losses

if TYPE_CHECKING:
    from chains.retrieval.map_reduce_plan import ReadingCost

__all__ = [
    "compact_on_request",
    "edit_summary_in_use",
    "measure_reading",
    "preview",
    "preview_compaction",
    "rebuild",
    "run_turn",
    "store_user_message",
]


def run_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Iterator[Event]:
    """Answer a user message, and yield the events of the turn, ending with `TurnEnded`.

    Raises:
        ContextOverflow: the user message does not fit. Only the message is stored.
        ContextHookError: a hook failed. Its request is not stored.
        ModelError: there is no answer. The user message and all entries so far are kept.
        CannotSee: an image is attached, and the model does not accept images.
        Cancelled: the turn was cancelled before its first request. A later cancel ends the turn
            without an exception.
    """
    context, hooks = yield from _run_hooks(chain, request, session, cancel)
    _refuse_unseen_images(context)
    found = yield from retrieve(context)
    context = context.with_query(found.searched, found.support, found.has_notes)
    fitted = yield from fit_attachments(context, found.segments)
    drafted, warnings = yield from _draft(context, hooks, found, fitted)
    context = context.with_attachments(fitted.attached, fitted.unsent)
    turn = yield from _prepare(context, drafted, warnings)
    if request.dry_run:
        yield from _announce(turn)
        yield TurnEnded(build_dry_result(context, turn.request.report, fitted.read, found.by))
        return
    yield from _store(context, turn, found, fitted)
    broken = find_broken_answer(session.path()) if request.is_continued else None
    answer = yield from _stream(context, turn)
    yield from end_turn(context, answer)
    answer = _join_broken(broken, answer)
    noted = context.customization.instructions
    known, is_noted = join_texts(context.request.question, noted), has_note_text(noted)
    checked = check_answer(
        answer.text,
        answer.sources,
        known,
        answer.quoted.sections,
        has_project_text=is_noted,
        has_model=context.model.name != EXTRACTIVE,
    )
    yield TurnEnded(build_result(context, answer, checked, fitted.read, found))


def store_user_message(
    request: TurnRequest, session: SessionPort, hooks: HookRegistry | None = None
) -> Generator[MessageEnded, None, TurnRequest]:
    """Store the user message of a turn, and return the request with its log entry.

    If an answer is regenerated, the message is already stored, and nothing is written. If an answer
    is continued, the request for its rest is stored.

    Args:
        hooks: the hooks to run on the message before it is stored, so that text that they remove is
            never stored.
    """
    entry = request.user_message
    if entry is None and request.is_regenerated:
        entry = find_last_question(session.path())[1].question
        if request.is_continued:
            store_continuation(session)
    elif entry is None:
        request = run_message_hooks(request, hooks)
        entry = build_user_message(session, request)
        session.append([entry])
    yield MessageEnded(entry.id, "user", entry.turn_id, session.id)
    return replace(request, turn=entry.turn_id, user_message=entry)


def _run_hooks(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Generator[Event, None, tuple[TurnContext, StartHooksResult]]:
    hooks = chain.customization.hooks
    if request.user_message is None and not request.dry_run:
        request = yield from store_user_message(request, session, hooks)
    result = call(lambda: run_start_hooks(request, hooks), cancel)
    result = replace(result, problems=(*chain.problems, *result.problems))
    yield from map(Warned, result.problems)
    context = call(lambda: _open(chain, request, session, cancel), cancel)
    problems = tuple(dict.fromkeys((*result.problems, *context.chain.problems)))
    yield from map(Warned, problems[len(result.problems) :])
    return context, replace(result, problems=problems)


def _refuse_unseen_images(context: TurnContext) -> None:
    request = context.request
    sent = find_sent_segments(context.session) if request.is_regenerated else request.attached
    images = find_unseen_images(context, sent)
    if images:
        raise CannotSee(explain_blindness(context.model), [image.shown_source for image in images])


def _draft(
    context: TurnContext,
    hooks: StartHooksResult,
    found: RetrievalResult,
    fitted: FittedAttachments,
) -> Generator[Event, None, tuple[DraftedTurn, tuple[str, ...]]]:
    """Build the log entries of a turn, and collect all warnings so far.

    Args:
        context: the values shared by the steps of the turn.
        hooks: the result of the hooks at the start of the turn.
        found: the passages that retrieval found.
        fitted: the attachments that are sent.
    """
    chain, session = context.chain, context.session
    warnings = (*hooks.problems, *found.warnings, *fitted.warnings)
    if context.request.is_regenerated:
        drafted, lost = redraft_turn(session, context.resolve)
        yield from map(Warned, lost)
        return hooks.add_to(drafted, session), (*warnings, *lost)
    more = len(fitted.attached) - len(context.request.attached)
    segments = (*fitted.attached, *found.shift_numbers(more))
    if chain.search is not None:
        yield Retrieved(segments)
    is_kept = bool(segments or chain.stored_fields) or chain.search is not None
    stored_fields = {**chain.stored_fields, **found.stored_fields}
    drafted = draft_turn(context, segments if is_kept else None, stored_fields)
    return hooks.add_to(drafted, session), warnings


def _prepare(
    context: TurnContext, drafted: DraftedTurn, warnings: Sequence[str]
) -> Generator[Event, None, PreparedTurn]:
    """Prepare the first request of a turn, or a preview of it in a dry run."""
    if context.request.dry_run:
        return prepare_turn(context, drafted, "preview", warnings)
    turn = yield from prepare_request(
        context, lambda context: prepare_turn(context, drafted, "send", warnings)
    )
    context.cancel.raise_if_cancelled()
    return turn


def _store(
    context: TurnContext, turn: PreparedTurn, found: RetrievalResult, fitted: FittedAttachments
) -> Iterator[Event]:
    session = context.session
    if turn.entries:
        session.append(turn.entries)
    yield from _announce(turn)
    log_usage(session, turn.turn, found.calls, REWRITE)
    if fitted.read is not None:
        log_usage(session, context.request.turn or "", fitted.read.calls, READING)


def _announce(turn: PreparedTurn) -> Iterator[Event]:
    report = turn.request.report
    yield from map(Warned, warn_of_attachments(report.segments))
    yield from map(Warned, warn_of_losses(report.dropped, report.pins))
    yield ContextPrepared(report)


def _stream(context: TurnContext, turn: PreparedTurn) -> Generator[Event, None, TurnAnswer]:
    agent = context.chain.agent
    if agent is None:
        return AnswerStream(context, turn).stream()
    from chains.turn.agent import AgentLoop  # with all tools, which other modes do without

    return AgentLoop(context, agent, turn).run()


def _join_broken(broken: BrokenAnswer | None, answer: TurnAnswer) -> TurnAnswer:
    """Return a continued answer as a whole. Other answers are returned unchanged."""
    if broken is None:
        return answer
    seconds = round((broken.seconds or 0.0) + (answer.seconds or 0.0), 3)
    return replace(answer, text=join_answer(broken.text, answer.text), seconds=seconds)


def preview(chain: Chain, request: TurnRequest, session: SessionPort | None) -> Request:
    """Preview the next request, without retrieval, model calls or writes.

    Raises:
        ContextOverflow: the request does not fit.
    """
    view = SessionView()
    if session is not None:
        previous = session.previous_body()
        view = SessionView(session.id, session.path(), session.usage(), previous, session)
    context = TurnContext.open(chain, request, view)
    fitted = estimate_attachments(context)
    context = context.with_attachments(fitted.attached, fitted.unsent)
    drafted = draft_turn(context, fitted.attached or None)
    return _prepare_view(context, drafted, fitted.warnings)


def rebuild(chain: Chain, request: TurnRequest, session: SessionPort) -> Request:
    """Rebuild the first request of a session's last turn from the log.

    Only the settings of `request` are used, not its user message.
    """
    path, drafted = find_last_question(session.path())
    view = SessionView(session.id, path, session.usage(), like=session)
    return _prepare_view(TurnContext.open(chain, request, view), drafted)


def measure_reading(
    chain: Chain, request: TurnRequest, session: SessionPort | None
) -> "ReadingCost | None":
    """Return the maximum cost of reading the attachments in full, or None if all of them fit.

    No model is called.

    Raises:
        CannotRead: an attachment cannot be read in full.
    """
    return measure_reading_cost(TurnContext.open(chain, request, session or SessionView()))


def compact_on_request(
    chain: Chain,
    request: TurnRequest,
    session: SessionPort,
    cancel: CancelToken,
    instructions: str = "",
    *,
    given: GivenSummary | None = None,
    is_draft: bool = False,
) -> Generator[Event, None, CompactionReport]:
    """Replace everything before the last complete turn with a summary.

    Only the settings of `request` are used, not its user message.

    Args:
        instructions: the user's additional instructions for the summary.
        given: a finished summary to store instead of asking a model for one.
        is_draft: whether to return the summary without storing it.
    """
    context = call(lambda: _open(chain, request, session, cancel), cancel)
    return (yield from compact(context, instructions, given=given, is_draft=is_draft))


def preview_compaction(
    chain: Chain, request: TurnRequest, session: SessionPort
) -> CompactionPreview:
    """Preview what `compact_on_request` would do. No model is called and nothing is stored."""
    context = TurnContext.open(chain, request, session, CancelToken())
    found = preview_session(begin_request(context, context.ports([], ""), session.path(), ""))
    return replace(found, maker=request.summarised_by)


def edit_summary_in_use(
    chain: Chain, request: TurnRequest, session: SessionPort, compaction: str, text: str
) -> None:
    """Replace the text of the summary that a compaction stored.

    Raises:
        SummaryFailed: requests no longer contain this summary, or the text is empty or too long.
    """
    context = TurnContext.open(chain, request, session, CancelToken())
    new_entries: list[Entry] = []
    ports = context.ports(new_entries, "")
    edit_summary(begin_request(context, ports, session.path(), ""), compaction, text)
    if new_entries:
        session.append(new_entries)


def _open(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> TurnContext:
    return add_summaries(TurnContext.open(chain, request, session, cancel))


def _prepare_view(
    context: TurnContext, drafted: DraftedTurn, warnings: Sequence[str] = ()
) -> Request:
    warnings = (*context.chain.problems, *warnings)
    return prepare_turn(context, drafted, "preview", warnings).request
