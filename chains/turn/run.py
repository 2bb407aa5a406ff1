"""The shared turn: store, retrieve, prepare, stream, check, save.

The user message is on disk before anything else is done, and each message is told of once it is.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from chains.cancel import CancelToken
from chains.concurrency import call
from chains.errors import BadRequest
from chains.events import (
    AskResult,
    ContextPrepared,
    Event,
    MessageEnded,
    Retrieved,
    TurnEnded,
    Warned,
)
from chains.llm.extractive import ExtractiveModel
from chains.llm.port import KeyFor, ModelPort
from chains.model import LiteLLMModel, Pause, wait_or_cancel
from chains.models import EXTRACTIVE, ModelInfo, describe
from chains.prompts import NOTHING_ADDED, Additions
from chains.request.request import (
    ChatView,
    DraftedTurn,
    Means,
    PreparedTurn,
    SessionPort,
    TurnRequest,
    draft_turn,
    prepare_turn,
    user_message,
)
from chains.retrieval.attachments import WithinPort
from chains.retrieval.fit_attachments import Fitted, Fitter
from chains.retrieval.map_reduce.plan import PROMPT as READING_PROMPT
from chains.retrieval.map_reduce.plan import ReadingCost
from chains.retrieval.map_reduce.run import ReadWhole, keep_counts, told_with
from chains.retrieval.passages import SearchPort
from chains.retrieval.retrieve import Found, Sought, keep_spent, look_up, searching
from chains.tokenizer import counter_for
from chains.turn.answer import RunningTurn
from chains.turn.compact import compact, prepared, summariser
from chains.turn.hooks import hear, hear_message
from chains.turn.regenerate import asked_last, redraft_turn
from chains.turn.summarizer import PROMPT as SUMMARY_PROMPT
from context.assemble.attachments import Resolve
from context.fit.force_compact import Forced
from context.fit.guard import PreparedRequest
from context.hooks import HookRegistry
from context.messages import ToolDefinition
from context.report.attachment_warnings import attachment_warnings
from context.report.report import ContextReport

__all__ = [
    "Chain",
    "SearchPort",
    "SessionPort",
    "TurnRequest",
    "accept",
    "compact_chat",
    "preview",
    "reading_cost",
    "rebuild",
    "run_turn",
]


@dataclass(frozen=True)
class Chain:
    """What one chain does differently from another.

    Attributes:
        prompt: the name of its prompt.
        search: where passages are looked up; None for a chain that looks nothing up.
        pause: waits between tries.
        resolve: says what has become of what earlier turns attached or cited.
        tools: those that its model may call.
        additions: what the user adds to it.
        within: finds passages of attachments that are too large; None leaves those to the guard.
        noted: what is stored with the segments of its next turn.
    """

    prompt: str
    key_for: KeyFor
    search: SearchPort | None = None
    pause: Pause = wait_or_cancel
    resolve: Resolve | None = None
    tools: tuple[ToolDefinition, ...] = ()
    additions: Additions = NOTHING_ADDED
    within: WithinPort | None = None
    noted: Mapping[str, object] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with what the user adds to it, one sentence each."""
        return self.additions.problems(self.prompt, SUMMARY_PROMPT, READING_PROMPT)


@dataclass(frozen=True)
class OpenTurn:
    """A turn whose first request is ready to be sent.

    Attributes:
        request: as the hooks want it.
        turn: its first request, which passed the guard.
        model: returns who answers; where there is nobody, it raises a `ModelError`.
        read: what was read whole for it.
    """

    request: TurnRequest
    means: Means
    turn: PreparedTurn
    model: Callable[[], ModelPort]
    read: ReadWhole | None = None

    def told(self, events: Iterator[Event]) -> Iterator[Event]:
        """Tell of its answer, and at the end of what was read for it."""
        return events if self.read is None else told_with(self.read, events)


def run_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Iterator[Event]:
    """Answer one question; the last event is `TurnEnded`.

    Raises:
        ContextOverflow: the question does not fit; nothing but itself is stored.
        ModelError: there is no answer; the question is kept.
        Cancelled: it was stopped before its first request; later a stop ends the turn.
    """
    opened = yield from open_turn(chain, request, session, cancel)
    if opened is not None:
        running = RunningTurn(opened.request, session, opened.turn, opened.means)
        yield from opened.told(running.answer(opened.model, cancel))


def accept(
    request: TurnRequest, session: SessionPort, hooks: HookRegistry | None = None
) -> Generator[MessageEnded, None, TurnRequest]:
    """Store the user message of a turn before anything else is done, and yield its entry.

    The message of a turn that is answered anew is in the log already, as is one in `request`.

    Args:
        hooks: change the message before it is stored, so that a text they redact is never on disk.
    """
    asked = request.user_message
    if asked is None and request.is_again:
        asked = asked_last(session.path())[1].question
    elif asked is None:
        request = hear_message(request, hooks)
        asked = user_message(session, request)
        session.append([asked])
    yield MessageEnded(asked.id, "user", asked.turn_id, session.id)
    return replace(request, turn=asked.turn_id, user_message=asked)


def open_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Generator[Event, None, OpenTurn | None]:
    """Prepare the first request of a turn and store what it holds; None where it is a dry run."""
    if request.user_message is None and not request.dry_run:
        request = yield from accept(request, session, chain.additions.hooks)
    heard = call(lambda: hear(request, chain.additions.hooks), cancel)
    for problem in (problems := (*chain.problems, *heard.problems)):
        yield Warned(problem)
    request = heard.request
    means = call(lambda: running_means(chain, request, cancel), cancel)
    sought = Sought(request)
    if chain.search is not None:
        model = partial(model_of, chain, request, means.model)
        sought = yield from searching(request, means, session, model, cancel)
    drafted, fitted, warnings = yield from draft(chain, sought.request, session, means, cancel)
    request, drafted = fitted.request, heard.apply(drafted, session)
    warnings = (*problems, *sought.warnings, *warnings)
    if request.dry_run:
        events = dry_run(drafted, request, session, means, warnings)
        yield from events if fitted.read is None else told_with(fitted.read, events)
        return None
    turn = yield from begin_turn(drafted, request, session, means, cancel, warnings)
    keep_spent(sought, turn.turn, session)
    if fitted.read is not None:
        keep_counts(fitted.read.counted, request, session)
    return OpenTurn(
        request, means, turn, lambda: model_of(chain, request, means.model), fitted.read
    )


def fitter_of(chain: Chain) -> Fitter:
    """Return what makes the attachments of a chain's turns fit."""

    def model(request: TurnRequest, means: Means) -> ModelPort:
        return model_of(chain, request, means.model)

    return Fitter(chain.within, chain.search is not None, model)


def reading_cost(
    chain: Chain, request: TurnRequest, session: SessionPort | None
) -> ReadingCost | None:
    """Return what it takes at most to read what is attached whole; None where all of it fits.

    No model is asked.

    Raises:
        CannotRead: it cannot be read whole.
    """
    return fitter_of(chain).cost(request, means_of(chain, request), session or ChatView())


def draft(
    chain: Chain, request: TurnRequest, session: SessionPort, means: Means, cancel: CancelToken
) -> Generator[Event, None, tuple[DraftedTurn, Fitted, tuple[str, ...]]]:
    """Return the entries of a turn, its attachments made to fit, and what went wrong."""
    if request.is_again:
        drafted, warnings = redraft_turn(session, chain.resolve)
        for warning in warnings:
            yield Warned(warning)
        return drafted, Fitted(request), warnings
    found = Found()
    if chain.search is not None:
        found = yield from look_up(chain.search, request, means, session, cancel)
    fitted = yield from fitter_of(chain).fit(request, means, session, cancel, found.segments)
    attached = fitted.request.attached
    segments = (*attached, *found.numbered(len(attached) - len(request.attached)))
    if chain.search is not None:
        yield Retrieved(segments)
    is_kept = bool(segments or chain.noted) or chain.search is not None
    kept, noted = segments if is_kept else None, {**chain.noted, **found.noted}
    drafted = draft_turn(session, fitted.request, kept, noted)
    return drafted, fitted, (*found.warnings, *fitted.warnings)


def begin_turn(
    drafted: DraftedTurn,
    request: TurnRequest,
    session: SessionPort,
    means: Means,
    cancel: CancelToken,
    warnings: Sequence[str] = (),
) -> Generator[Event, None, PreparedTurn]:
    """Prepare the first request of a turn and store what it holds; return the turn."""
    turn = yield from prepared(
        lambda means: prepare_turn(drafted, request, session, means, "send", warnings),
        means,
        cancel,
    )
    cancel.raise_if_cancelled()
    if turn.entries:
        session.append(turn.entries)
    yield from map(Warned, attachment_warnings(turn.request.report.segments))
    yield ContextPrepared(turn.request.report)
    return turn


def dry_run(
    drafted: DraftedTurn,
    request: TurnRequest,
    session: SessionPort,
    means: Means,
    warnings: Sequence[str] = (),
) -> Iterator[Event]:
    """Say what would be sent; nothing is sent or stored."""
    turn = prepare_turn(drafted, request, session, means, "preview", warnings)
    yield from map(Warned, attachment_warnings(turn.request.report.segments))
    yield ContextPrepared(turn.request.report)
    yield TurnEnded(_dry_result(request, session, turn.request.report))


def preview(chain: Chain, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
    """Return what would be sent next; nothing is looked up, stored or called.

    Raises:
        ContextOverflow: it would not fit.
    """
    chat = ChatView()
    if session is not None:
        before = session.previous_body()
        chat = ChatView(session.id, session.path(), session.usage(), before, session)
    means = means_of(chain, request)
    fitted = fitter_of(chain).roughly(request, means, chat)
    drafted = draft_turn(chat, fitted.request, fitted.request.attached or None)
    return _prepared_view(chain, fitted.request, chat, drafted, means, fitted.warnings)


def rebuild(chain: Chain, request: TurnRequest, session: SessionPort) -> PreparedRequest:
    """Return the first request of a path's last turn as it is made from the log.

    The settings are those of `request`, whose question does not matter.
    """
    path, drafted = asked_last(session.path())
    chat = ChatView(session.id, path, session.usage(), like=session)
    return _prepared_view(chain, request, chat, drafted, means_of(chain, request))


def _prepared_view(
    chain: Chain,
    request: TurnRequest,
    chat: ChatView,
    drafted: DraftedTurn,
    means: Means,
    warnings: Sequence[str] = (),
) -> PreparedRequest:
    warnings = (*chain.problems, *warnings)
    return prepare_turn(drafted, request, chat, means, "preview", warnings).request


def means_of(chain: Chain, request: TurnRequest) -> Means:
    """Return what a request of this chain is made with; a server may be asked for its limit."""
    return Means(
        find_model(chain, request, request.model),
        counter_for(request.model),
        chain.prompt,
        chain.resolve,
        chain.tools,
        chain.additions,
    )


def find_model(chain: Chain, request: TurnRequest, name: str) -> ModelInfo:
    """Return what is known of a model; a server may be asked for its limit."""
    return describe(
        name,
        request.api_base,
        key_for=chain.key_for,
        offline=request.offline,
        local_context=request.local_context,
    )


def running_means(chain: Chain, request: TurnRequest, cancel: CancelToken) -> Means:
    """Return what requests are made with while something runs, summaries included."""

    def find(name: str) -> tuple[ModelInfo, ModelPort]:
        info = find_model(chain, request, name)
        return info, model_of(chain, replace(request, model=name), info)

    means = replace(means_of(chain, request), cancel=cancel)
    return replace(means, summarise=summariser(request, means, find, cancel))


def compact_chat(
    chain: Chain,
    request: TurnRequest,
    session: SessionPort,
    cancel: CancelToken,
    instructions: str = "",
) -> Generator[Event, None, Forced]:
    """Make a summary of everything before the last complete turn of a chat.

    The settings are those of `request`, whose question does not matter.

    Args:
        instructions: what the user wants to see in the summary.
    """
    means = call(lambda: running_means(chain, request, cancel), cancel)
    return (yield from compact(request, session, means, cancel, instructions))


def model_of(chain: Chain, request: TurnRequest, info: ModelInfo) -> ModelPort:
    """Return who answers.

    Raises:
        BadRequest: no service has a model of that name.
    """
    if request.model == EXTRACTIVE:
        question = request.searched or request.question
        return ExtractiveModel(question, has_searched=chain.search is not None)
    if info.endpoint is None:
        raise BadRequest(
            request.model,
            reason="no service has a model of that name. Put the service in front of it, as in "
            f"openai/{request.model}, or set chat.apiBase to the address of a server.",
        )
    offline, pause = request.offline, chain.pause
    return LiteLLMModel(info.endpoint, chain.key_for, offline=offline, pause=pause)


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
        searched=request.searched or None,
    )
