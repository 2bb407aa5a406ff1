"""The shared turn: retrieve, prepare, store, stream, check, save.

The question is on disk before the model is called, and a question that does not fit is not stored.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from chains.additions import NOTHING_ADDED, Additions
from chains.again import asked_last, redraft_turn
from chains.answering import RunningTurn
from chains.cancel import CancelToken
from chains.compacting import compact, prepared, summariser
from chains.concurrency import call
from chains.errors import BadRequest
from chains.events import (
    AskResult,
    ContextPrepared,
    Event,
    MessageEnded,
    Retrieved,
    Step,
    TurnEnded,
    Warned,
)
from chains.extractive import ExtractiveModel
from chains.hooking import hear
from chains.model import LiteLLMModel, Pause, wait_or_cancel
from chains.model_port import KeyFor, ModelPort
from chains.models import EXTRACTIVE, ModelInfo, describe
from chains.oversize import WithinPort, narrowed
from chains.retrieval import SearchPort, passages
from chains.summarizer import PROMPT as SUMMARY_PROMPT
from chains.tokenizer import counter_for
from chains.turn import (
    ChatView,
    DraftedTurn,
    Means,
    PreparedTurn,
    SessionPort,
    TurnRequest,
    draft_turn,
    prepare_turn,
)
from context.budget import room_for
from context.force import Forced
from context.guard import PreparedRequest
from context.layers import Segment
from context.messages import ToolDefinition
from context.prior import Resolve
from context.report import ContextReport
from context.turn_context import TURN_CONTEXT_SHARE, passages_share

__all__ = [
    "Chain",
    "SearchPort",
    "SessionPort",
    "TurnRequest",
    "compact_chat",
    "preview",
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
    """

    prompt: str
    key_for: KeyFor
    search: SearchPort | None = None
    pause: Pause = wait_or_cancel
    resolve: Resolve | None = None
    tools: tuple[ToolDefinition, ...] = ()
    additions: Additions = NOTHING_ADDED
    within: WithinPort | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with what the user adds to it, one sentence each."""
        return self.additions.problems(self.prompt, SUMMARY_PROMPT)


@dataclass(frozen=True)
class OpenTurn:
    """A turn whose question is in the log.

    Attributes:
        request: as the hooks want it.
        turn: its first request, which passed the guard.
        model: returns who answers; where there is nobody, it raises a `ModelError`.
    """

    request: TurnRequest
    means: Means
    turn: PreparedTurn
    model: Callable[[], ModelPort]


def run_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Iterator[Event]:
    """Answer one question; the last event is `TurnEnded`.

    Raises:
        ContextOverflow: the question does not fit; nothing is stored.
        ModelError: there is no answer; the question is kept.
        Cancelled: it was stopped before the question was stored; later a stop ends the turn.
    """
    opened = yield from open_turn(chain, request, session, cancel)
    if opened is not None:
        running = RunningTurn(opened.request, session, opened.turn, opened.means)
        yield from running.answer(opened.model, cancel)


def open_turn(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Generator[Event, None, OpenTurn | None]:
    """Prepare the first request of a turn and store its question; None where it is a dry run."""
    heard = call(lambda: hear(request, chain.additions.hooks), cancel)
    for problem in (problems := (*chain.problems, *heard.problems)):
        yield Warned(problem)
    request = heard.request
    means = call(lambda: running_means(chain, request, cancel), cancel)
    request, narrowings = yield from narrow(chain, request, means, cancel)
    drafted, warnings = yield from draft(chain, request, session, cancel)
    drafted, warnings = heard.apply(drafted, session), (*problems, *narrowings, *warnings)
    if request.dry_run:
        yield from dry_run(drafted, request, session, means, warnings)
        return None
    turn = yield from begin_turn(drafted, request, session, means, cancel, warnings)
    return OpenTurn(request, means, turn, lambda: model_of(chain, request, means.model))


def narrow(
    chain: Chain, request: TurnRequest, means: Means, cancel: CancelToken
) -> Generator[Event, None, tuple[TurnRequest, tuple[str, ...]]]:
    """Return the request with attachments within their share, and what is not sent whole."""
    within = chain.within
    if within is None or not request.attached:
        return request, ()
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    budget = room_for(means.counter, *limits).budget
    share = passages_share(budget, means.counter.count(request.question))
    shares = int(budget * TURN_CONTEXT_SHARE), share if chain.search is None else share // 2
    found = call(
        lambda: narrowed(request.attached, request.question, shares, means.counter, within), cancel
    )
    yield from map(Warned, found.warnings)
    return replace(request, attached=found.segments), found.warnings


def draft(
    chain: Chain, request: TurnRequest, session: SessionPort, cancel: CancelToken
) -> Generator[Event, None, tuple[DraftedTurn, tuple[str, ...]]]:
    """Return the entries of a turn with what was looked up for it, and what went wrong."""
    if request.is_again:
        drafted, warnings = redraft_turn(session, chain.resolve)
        for warning in warnings:
            yield Warned(warning)
        return drafted, warnings
    found, warnings = yield from _retrieve(chain, request, cancel)
    return draft_turn(session, request, found), warnings


def begin_turn(
    drafted: DraftedTurn,
    request: TurnRequest,
    session: SessionPort,
    means: Means,
    cancel: CancelToken,
    warnings: Sequence[str] = (),
) -> Generator[Event, None, PreparedTurn]:
    """Prepare the first request of a turn and store its question; return the turn."""
    turn = yield from prepared(
        lambda means: prepare_turn(drafted, request, session, means, "send", warnings),
        means,
        cancel,
    )
    cancel.raise_if_cancelled()
    if turn.entries:
        session.append(turn.entries)
    yield ContextPrepared(turn.request.report)
    yield MessageEnded(drafted.question.id, "user", turn.turn)
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
    yield ContextPrepared(turn.request.report)
    yield TurnEnded(_dry_result(request, session, turn.request.report))


def preview(chain: Chain, request: TurnRequest, session: SessionPort | None) -> PreparedRequest:
    """Return what would be sent next; nothing is looked up, stored or called.

    Raises:
        ContextOverflow: it would not fit.
    """
    chat = ChatView()
    if session is not None:
        chat = ChatView(session.id, session.path(), session.usage(), session.previous_body())
    drafted = draft_turn(chat, request, request.attached or None)
    return _prepared_view(chain, request, chat, drafted)


def rebuild(chain: Chain, request: TurnRequest, session: SessionPort) -> PreparedRequest:
    """Return the first request of a path's last turn as it is made from the log.

    The settings are those of `request`, whose question does not matter.
    """
    path, drafted = asked_last(session.path())
    return _prepared_view(chain, request, ChatView(session.id, path, session.usage()), drafted)


def _prepared_view(
    chain: Chain, request: TurnRequest, chat: ChatView, drafted: DraftedTurn
) -> PreparedRequest:
    means = means_of(chain, request)
    return prepare_turn(drafted, request, chat, means, "preview", chain.problems).request


def means_of(chain: Chain, request: TurnRequest) -> Means:
    """Return what a request of this chain is made with; a server may be asked for its limit."""
    model = describe(
        request.model, request.api_base, key_for=chain.key_for, offline=request.offline
    )
    return Means(
        model,
        counter_for(request.model),
        chain.prompt,
        chain.resolve,
        chain.tools,
        chain.additions,
    )


def running_means(chain: Chain, request: TurnRequest, cancel: CancelToken) -> Means:
    """Return what requests are made with while something runs, summaries included."""

    def find(name: str) -> tuple[ModelInfo, ModelPort]:
        info = describe(name, request.api_base, key_for=chain.key_for, offline=request.offline)
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


def _retrieve(
    chain: Chain, request: TurnRequest, cancel: CancelToken
) -> Generator[Event, None, tuple[tuple[Segment, ...] | None, tuple[str, ...]]]:
    """Look passages up beside what is attached; None where there is nothing of either."""
    search = chain.search
    if search is None:
        return request.attached or None, ()
    yield Step("search", "Searching…")
    result = call(lambda: search.search(request.question, request.top_k), cancel)
    found = (*request.attached, *passages(result.hits, request.attached))
    yield Retrieved(found)
    for warning in result.warnings:
        yield Warned(warning)
    return found, result.warnings


def model_of(chain: Chain, request: TurnRequest, info: ModelInfo) -> ModelPort:
    """Return who answers.

    Raises:
        BadRequest: no service has a model of that name.
    """
    if request.model == EXTRACTIVE:
        return ExtractiveModel(request.question, has_searched=chain.search is not None)
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
    )
