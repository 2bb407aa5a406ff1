"""One turn up to its first request: the user message, its entries, the request made from them.

The user message is stored before anything else is done. What is found for it, and what hooks make
of it, is put together in memory and stored with the first request, in one write.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from chains.cancel import CancelToken
from chains.events import Mode, Usage
from chains.models import EXTRACTIVE, ModelInfo
from chains.prompts import NOTHING_ADDED, Additions
from chains.request.epochs import THRESHOLD, LoggedBreaker, epoch_entries, sent_before
from chains.request.session import ChatPort, ChatView, SessionPort
from chains.request.usage import SUMMARY, Spend, counted
from context.assemble.attachments import Resolve
from context.assemble.inputs import Summarise, SummaryTask, Upkeep
from context.assemble.turn_end import end_turn
from context.budget import BudgetPolicy
from context.fit.guard import PreparedRequest
from context.frozen import FrozenMapping
from context.layers import Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry, is_path_entry
from context.messages import Message, ToolDefinition
from context.pipeline import Mode as PrepareMode
from context.pipeline import Ports, PrepareInputs, prepare
from context.report.report import ContextReport
from context.tokens import TokenCounter

__all__ = [
    "ChatPort",
    "ChatView",
    "DraftedTurn",
    "Means",
    "PreparedTurn",
    "SessionPort",
    "Summariser",
    "TurnRequest",
    "draft_turn",
    "factor_so_far",
    "inputs_of",
    "link_path",
    "prepare_step",
    "prepare_turn",
    "transforms_at_end",
    "user_message",
]


# Makes a summary as `context.fit.summaries.Summarise` does, and says what each call of it took.
Summariser = Callable[[SummaryTask, Spend], str]


SEARCHED: Final = "searched"


@dataclass(frozen=True)
class TurnRequest:
    """One question and the settings it is asked under.

    Attributes:
        model: `extractive`, or a model's name, with or without its provider's prefix.
        api_base: address of an OpenAI-compatible server; empty for the provider's own.
        threshold: `autoCompactThreshold`.
        offline: refuse every call that would leave this computer.
        dry_run: retrieve and prepare, but send and store nothing.
        attached: what the user attached, in full, numbered from 1.
        unsent: what the user attached and there is no room for, not even for a passage of it.
        named: how the user named that, to be kept with the question.
        turn: the id of the turn, once its user message is in the log.
        user_message: the entry of the question, once it is in the log.
        problems: what went wrong with the message hooks of the question, one sentence each.
        reads_whole: whether a model reads what is too large to be sent; otherwise that is searched.
        is_again: the question is in the log, at the end of the path, and is answered anew.
        trim_at: `context.trimAt`, as `compact_at` and `block_at` are those settings.
        keep_last: `context.keepLastAssistantMessages`.
        clean_after: `history.cleanToolOutputAfterTurns`.
        summary_model: who makes summaries; empty for the model that answers.
        rewrites: let the model put a question into words to search for, `retrieval.rewrite`.
        local_context: `chat.localContext`.
        searched: what is looked up where that is more than the question; empty for the question.
    """

    question: str
    mode: Mode
    model: str
    api_base: str
    threshold: int
    max_output_tokens: int
    temperature: float
    top_k: int
    offline: bool
    dry_run: bool = False
    attached: tuple[Segment, ...] = ()
    unsent: tuple[Segment, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict)
    turn: str | None = None
    user_message: MessageEntry | None = None
    problems: tuple[str, ...] = ()
    reads_whole: bool = False
    is_again: bool = False
    trim_at: float = 0.80
    compact_at: float = 0.95
    block_at: float = 0.98
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    summary_model: str = ""
    rewrites: bool = False
    local_context: int = 16_384
    searched: str = ""

    @property
    def summarised_by(self) -> str:
        """Who makes summaries; empty for nobody."""
        name = self.summary_model or self.model
        return "" if name == EXTRACTIVE else name

    @property
    def upkeep(self) -> Upkeep:
        """How the history is kept within its room.

        Raises:
            BadPolicy: the shares are not in order.
        """
        policy = BudgetPolicy(self.trim_at, self.compact_at, self.block_at)
        has_model = bool(self.summarised_by)
        return Upkeep(policy, self.auto_compact, self.keep_last, self.clean_after, has_model)


@dataclass(frozen=True)
class DraftedTurn:
    """A turn with those of its entries that are not stored yet.

    Attributes:
        question: the user message; it is stored, unless this is a dry run or a preview.
        segments: what was found for it; None where nothing was looked up or attached.
        is_stored: whether the user message is in the log.
        is_again: whether it is answered anew, with the segments that are in the log.
        added: what hooks add behind it: a change of it, and messages of their own.
    """

    turn: str
    question: MessageEntry
    segments: SegmentsEntry | None
    is_stored: bool = False
    is_again: bool = False
    added: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in their order, each behind the one before it."""
        asked = () if self.is_stored else (self.question,)
        found = () if self.segments is None else (self.segments,)
        return (*asked, *link_path((*found, *self.added), self.question.id))

    def as_sent(self, segments: tuple[Segment, ...], chat: ChatPort) -> "DraftedTurn":
        """Return the turn with its segments as they are sent, those of earlier turns included."""
        if self.segments is not None:
            return replace(self, segments=replace(self.segments, segments=segments))
        if self.is_again or not segments:
            return self
        sent = SegmentsEntry(chat.new_id(), self.question.id, chat.now(), self.turn, segments)
        return replace(self, segments=sent)


def link_path(entries: Sequence[Entry], parent: str | None) -> tuple[Entry, ...]:
    """Return entries with each path entry behind the one before it, the first behind `parent`."""
    linked: list[Entry] = []
    for entry in entries:
        if is_path_entry(entry):
            linked.append(replace(entry, parent_id=parent))
            parent = entry.id
        else:
            linked.append(entry)
    return tuple(linked)


@dataclass(frozen=True)
class PreparedTurn:
    """A turn whose request passed the guard.

    Attributes:
        entries: what is to be stored before the request is sent, in one write: the segments as
            they are sent, what hooks added and changed, and a cut of the history where one was
            made.
    """

    turn: str
    request: PreparedRequest
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Means:
    """What a request is made with, beside the question and the chat.

    Attributes:
        prompt: the name of the prompt that the instructions come from.
        resolve: says what has become of what earlier turns attached; None carries nothing forward.
        tools: those that the model may call.
        additions: what the user adds to the prompt, and the hooks.
        cancel: stops the turn; hooks that take long look at it.
        summarise: makes summaries with a model; without it an outline stands for them.
    """

    model: ModelInfo
    counter: TokenCounter
    prompt: str
    resolve: Resolve | None = None
    tools: tuple[ToolDefinition, ...] = ()
    additions: Additions = NOTHING_ADDED
    cancel: CancelToken | None = None
    summarise: Summariser | None = None

    def ports(self, chat: ChatPort, kept: list[Entry], turn: str) -> Ports:
        """Return what a request is prepared through.

        Args:
            kept: what is to be stored is put there, with what was spent on it.
            turn: what that is spent for.
        """
        return Ports(
            self.counter,
            kept.extend,
            chat.new_id,
            chat.now,
            hooks=self.additions.hooks,
            resolve=self.resolve,
            cancel=self.cancel,
            summarise=self._spending(chat, kept, turn),
            breaker=LoggedBreaker(chat, kept),
        )

    def _spending(self, chat: ChatPort, kept: list[Entry], turn: str) -> Summarise | None:
        make = self.summarise
        if make is None:
            return None

        def spend(report: ContextReport, usage: Usage) -> None:
            kept.append(counted(chat, turn, report, usage, purpose=SUMMARY))

        return lambda task: make(task, spend)


def user_message(chat: ChatPort, request: TurnRequest) -> MessageEntry:
    """Build the entry of a user message, behind the active path of its chat."""
    path = chat.path()
    leaf = path[-1].id if path else None
    turn, message = request.turn or chat.new_id(), Message("user", request.question)
    noted = {"mode": request.mode, **request.named, THRESHOLD: request.threshold}
    return MessageEntry(chat.new_id(), leaf, chat.now(), message, turn, extra=noted)


def draft_turn(
    chat: ChatPort,
    request: TurnRequest,
    found: Sequence[Segment] | None,
    noted: Mapping[str, object] | None = None,
) -> DraftedTurn:
    """Make the entries of a turn.

    Args:
        found: what was looked up or attached; None where nothing was.
        noted: what is kept with that.
    """
    question = request.user_message or user_message(chat, request)
    segments = None
    if found is not None:
        searched = {SEARCHED: request.searched} if request.searched else {}
        place = chat.new_id(), question.id, chat.now(), question.turn_id
        kept = FrozenMapping({**searched, **(noted or {})})
        segments = SegmentsEntry(*place, tuple(found), extra=kept)
    is_stored = request.user_message is not None
    return DraftedTurn(question.turn_id, question, segments, is_stored)


def prepare_turn(
    drafted: DraftedTurn,
    request: TurnRequest,
    chat: ChatPort,
    means: Means,
    mode: PrepareMode,
    warnings: Sequence[str] = (),
) -> PreparedTurn:
    """Prepare the request of a drafted turn.

    Args:
        warnings: what went wrong before, for the report.

    Raises:
        ContextOverflow: the question does not fit, and nothing more is to be stored.
        ContextHookError: a hook failed, and nothing more is to be stored.
    """
    drops: list[Entry] = []
    path = (*chat.path(), *drafted.entries)
    inputs = replace(inputs_of(request, chat, means, path, drafted.turn), warnings=tuple(warnings))
    ports = means.ports(chat, drops, drafted.turn)
    prepared = prepare(_with_own_warnings(inputs, chat, means.counter), ports, mode)
    drafted = drafted.as_sent(prepared.segments, chat)
    asked = "" if drafted.is_again else drafted.question.id
    changes = epoch_entries(chat, request.model, request.threshold, asked)
    leaf = drafted.question.parent_id
    if stored := chat.path():
        leaf = stored[-1].id
    entries = link_path((*drafted.entries, *drops), leaf)
    return PreparedTurn(drafted.turn, prepared, (*changes, *entries))


def prepare_step(
    before: PreparedTurn,
    request: TurnRequest,
    session: ChatPort,
    means: Means,
    warnings: Sequence[str] = (),
    *,
    again: bool = False,
) -> PreparedTurn:
    """Prepare the next request of a turn, whose calls and results are in the log.

    Args:
        before: the request before it.
        again: whether it takes the place of that one, as after an overflow.
        warnings: what went wrong in the turn so far, for the report.

    Raises:
        ContextOverflow: it does not fit.
        ContextHookError: a hook failed, and nothing is to be stored.
    """
    kept: list[Entry] = []
    inputs = replace(
        inputs_of(request, session, means, session.path(), before.turn),
        request=before.request.report.request + (not again),
        warnings=tuple(warnings),
    )
    ports = means.ports(session, kept, before.turn)
    prepared = prepare(_with_own_warnings(inputs, session, means.counter), ports)
    return PreparedTurn(before.turn, prepared, tuple(kept))


def transforms_at_end(
    turn: str, request: TurnRequest, session: ChatPort, means: Means
) -> tuple[Entry, ...]:
    """Return what `turn_end` hooks make of a turn whose answer is in the log, to be stored.

    Raises:
        ContextHookError: a hook failed, and nothing is to be stored.
    """
    return end_turn(
        inputs_of(request, session, means, session.path(), turn), means.ports(session, [], turn)
    )


def inputs_of(
    request: TurnRequest, chat: ChatPort, means: Means, path: tuple[Entry, ...], turn: str
) -> PrepareInputs:
    """Return what a request of this chat is made from."""
    return PrepareInputs(
        session=chat.id or None,
        model=request.model,
        model_limit=means.model.input_limit,
        takes_marks=None if means.model.takes_marks else False,
        threshold=request.threshold,
        max_output_tokens=request.max_output_tokens,
        temperature=request.temperature,
        system=means.additions.system(means.prompt),
        instructions=means.additions.instructions,
        unsent=request.unsent,
        path=path,
        turn=turn,
        tools=means.tools,
        previous=sent_before(chat, path, turn) or chat.previous_body(),
        factor=factor_so_far(chat, request.model),
        upkeep=request.upkeep,
    )


def factor_so_far(chat: ChatPort, model: str) -> float | None:
    """Return what the budget of a model is divided by after what its service counted in a chat."""
    factors = [entry.factor for entry in chat.usage() if entry.model == model]
    return max(factors, default=None)


def _with_own_warnings(
    inputs: PrepareInputs, chat: ChatPort, counter: TokenCounter
) -> PrepareInputs:
    """Say what does not work as it should, so that the request is made in a plainer way."""
    warnings = [*inputs.warnings, *chat.degraded()]
    if counter.name == "bytes":
        warnings.append("No tokenizer was found, so tokens are estimated from bytes.")
    return replace(inputs, warnings=tuple(warnings))
