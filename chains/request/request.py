"""The settings of a turn, and the context shared by its steps.

`TurnContext` is passed from step to step. It contains the chain, request, session, model, token
counter and cancel token.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from time import monotonic
from typing import Final

from chains.cancel import CancelToken, Pause
from chains.errors import BadRequest, LocalModelFailed
from chains.events import Mode
from chains.llm.port import Endpoint, KeyFor, ModelPort, ShapeMemory
from chains.models import EXTRACTIVE, ModelInfo, look_up_model
from chains.prompts import Customization
from chains.request.chain import Chain
from chains.request.deferral import ToolLimits, offer_tools
from chains.request.epochs import LoggedBreaker
from chains.request.project import build_project_context, decide_text, find_project_context
from chains.request.session import SessionPort
from chains.request.usage import SUMMARY, CallUsage, LogUsage, build_usage_entry, find_factor
from chains.tokenizer import load_counter
from context.assemble.attachments import CurrentSource, Resolve
from context.assemble.inputs import HistoryPolicy, SummaryTask
from context.budget import BudgetPolicy, RequestBudget, compute_budget
from context.layers import Segment
from context.log.entries import Entry, MessageEntry
from context.pipeline import Ports
from context.tokens import TokenCounter
from vault.quotes.sections import Support

__all__ = ["SEARCHED", "Summarise", "TurnContext", "TurnRequest"]

SEARCHED: Final = "searched"
# No model that can answer from notes has a shorter context.
LEAST_LIMIT: Final = 1_024

# Returns a summary like `context.assemble.inputs.Summarise`, and records the usage of each call.
Summarise = Callable[[SummaryTask, LogUsage], str]


@dataclass(frozen=True)
class TurnRequest:
    """A user message and the settings of its turn.

    Attributes:
        temperature: the setting `chat.temperature`, or None to send none.
        model: `extractive`, or a model's name, with or without its provider's prefix.
        api_base: the address of the user's own server, or an empty string for the provider's.
        threshold: the setting `autoCompactThreshold`, in tokens.
        offline: whether to reject calls to other computers.
        dry_run: whether to prepare the request without sending or storing it.
        attached: the attachments, numbered from 1: complete at first, later what fits the budget.
        unsent: the attachments that do not fit at all.
        named: the attachments as the user named them, which are stored with the user message.
        turn: the id of the turn if its user message is already in the log.
        user_message: the log entry of the user message if it is already in the log.
        problems: one sentence for each message hook that failed.
        reads_whole: whether large attachments are read by map-reduce instead of searched.
        is_regenerated: whether the last user message is in the log and is answered again.
        is_continued: whether the answer is not replaced but continued, because it broke off. Then
            `is_regenerated` is true too.
        trim_at: the setting `context.trimAt`.
        compact_at: the setting `context.compactAt`.
        block_at: the setting `context.blockAt`.
        keep_last: the setting `context.keepLastAssistantMessages`.
        clean_after: the setting `history.cleanToolOutputAfterTurns`.
        summary_model: the model for summaries, or an empty string for the model that answers.
        rewrites: the setting `retrieval.rewrite`: whether the model rewrites follow-up questions.
        local_context: the setting `chat.localContext`, in tokens.
        max_seconds: the setting `chat.maxSeconds`; 0 is no limit.
        image_models: the setting `chat.imageModels`.
        searched: the search query, or an empty string if the query is the user message itself.
        support: how well the passages support a quoted answer, or None if it was not measured.
        has_notes: whether there were notes to search.
        started_s: the start time of the turn in seconds, on the monotonic clock.
    """

    question: str
    mode: Mode
    model: str
    api_base: str
    threshold: int
    max_output_tokens: int
    temperature: float | None
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
    is_regenerated: bool = False
    is_continued: bool = False
    trim_at: float = 0.80
    compact_at: float = 0.95
    block_at: float = 0.98
    auto_compact: bool = True
    keep_last: int = 10
    clean_after: int = 3
    summary_model: str = ""
    rewrites: bool = False
    local_context: int = 16_384
    max_seconds: int = 0
    image_models: tuple[str, ...] = ()
    searched: str = ""
    support: Support | None = None
    has_notes: bool = True
    started_s: float = field(default_factory=monotonic, compare=False)

    @property
    def summarised_by(self) -> str:
        """The name of the model that writes summaries, or an empty string if there is none."""
        name = self.summary_model or self.model
        return "" if name == EXTRACTIVE else name

    @property
    def lowest_temperature(self) -> float | None:
        """The temperature for calls that need one right text, or None to send none."""
        return None if self.temperature is None else 0.0

    @property
    def history_policy(self) -> HistoryPolicy:
        """The settings for trimming and compacting the history.

        Raises:
            BadPolicy: the thresholds are not in ascending order.
        """
        policy = BudgetPolicy(self.trim_at, self.compact_at, self.block_at)
        has_model = bool(self.summarised_by)
        return HistoryPolicy(policy, self.auto_compact, self.keep_last, self.clean_after, has_model)


@dataclass(frozen=True)
class TurnContext:
    """The values shared by the steps of a turn.

    Attributes:
        request: the user message and its settings, which the steps of the turn update.
        model: the model that answers.
        counter: the model's token counter.
        cancel: the token that cancels the turn. Long hooks check it too.
        summarise: summarises turns with a model, or None to build outlines instead.
    """

    chain: Chain
    request: TurnRequest
    session: SessionPort
    model: ModelInfo
    counter: TokenCounter
    cancel: CancelToken = field(default_factory=CancelToken)
    summarise: Summarise | None = None

    @classmethod
    def open(
        cls,
        chain: Chain,
        request: TurnRequest,
        session: SessionPort,
        cancel: CancelToken | None = None,
    ) -> "TurnContext":
        """Build the context of a turn. This may query a server for the model's limit."""
        context = cls(
            chain.with_folder_names(session, request.threshold),
            request,
            session,
            find_model(chain, request, request.model),
            load_counter(request.model),
            cancel or CancelToken(),
        )
        return context._with_project().with_offered_tools()

    def _with_project(self) -> "TurnContext":
        project, session = self.chain.project, self.session
        if project is None:
            return self
        recorded = found = find_project_context(session, self.chain.find_excluded)
        if found is None:
            budget = self.compute_request_budget(self.factor).budget
            includes_text = decide_text(session, project)
            found = build_project_context(project.notes, self.counter, budget, includes_text)
        return replace(self, chain=self.chain.with_project(found, recorded is None))

    @property
    def customization(self) -> Customization:
        """The user's prompts, instructions and hooks."""
        return self.chain.customization

    @property
    def resolve(self) -> Resolve | None:
        """The function that returns the current state of a source from an earlier turn.

        It is None if sources of earlier turns are not sent again. Unless the model accepts
        images, the function reports every image as `unseen` or `unsure`, so that it is not sent
        again.
        """
        known = self.chain.resolve
        if known is None or self.model.sees:
            return known
        unseen = CurrentSource("unsure" if self.model.sees is None else "unseen")
        return lambda segment: unseen if segment.kind == "image" else known(segment)

    @property
    def factor(self) -> float | None:
        """The safety factor for token budgets, learned from reported usage, or None."""
        return find_factor(self.session, self.request.model)

    def compute_request_budget(self, factor: float | None = None) -> RequestBudget:
        """Compute the token budget of one of the turn's requests.

        Args:
            factor: the safety factor that was learned from the provider's counts, or None.
        """
        request = self.request
        limits = request.threshold, self.model.input_limit, request.max_output_tokens
        return compute_budget(self.counter, *limits, factor)

    def with_query(
        self, searched: str, support: Support | None = None, has_notes: bool = True
    ) -> "TurnContext":
        """Return a copy with a search query and the quality of its results.

        Args:
            searched: the query, or an empty string if the query is the user message itself.
            support: how well the passages support a quoted answer, or None if it was not measured.
            has_notes: whether there were notes to search.
        """
        request = replace(self.request, searched=searched, support=support, has_notes=has_notes)
        return replace(self, request=request)

    def with_attachments(
        self, attached: tuple[Segment, ...], unsent: tuple[Segment, ...]
    ) -> "TurnContext":
        """Return a copy with the given attachments: those to send, and those to leave out."""
        return replace(self, request=replace(self.request, attached=attached, unsent=unsent))

    def with_offered_tools(self) -> "TurnContext":
        """Return a copy that offers only some of the agent's tools if all of them are too large."""
        chain, agent = self.chain, self.chain.agent
        if agent is None:
            return self
        if not ShapeMemory(chain.learned, self.model.learned_owner).find_shape().offers_tools:
            return replace(self, chain=replace(chain, tools=(), toolless_model=self.model.name))
        foreign = frozenset(t.definition.name for t in agent.extra_tools if t.origin == "mcp")
        sizes = self.compute_request_budget(self.factor)
        limits = ToolLimits(sizes.window, int(sizes.budget * agent.limits.tools_share))
        place = f"{self.request.model} {self.request.threshold}"
        offer = offer_tools(chain.tools, foreign, self.session, place, limits, self.counter)
        stored = {**chain.stored_fields, **(offer.stored_fields or {})}
        chain = replace(chain, tools=offer.tools, deferred=offer.deferred, stored_fields=stored)
        return replace(self, chain=chain)

    def with_promoted_tools(self, names: Sequence[str]) -> "TurnContext":
        """Return a copy whose requests also offer tools that earlier requests left out."""
        chain = self.chain
        found = {tool.name: tool for tool in chain.deferred.definitions}
        late = tuple(found[name] for name in names if name in found)
        deferred = chain.deferred.include(tool.name for tool in late)
        return replace(self, chain=replace(chain, tools=(*chain.tools, *late), deferred=deferred))

    def without_tools(self) -> "TurnContext":
        """Return a copy whose requests offer no tools."""
        return replace(self, chain=replace(self.chain, tools=()))

    def learn_limit(self, limit: int | None) -> None:
        """Remember the context length that a service reported when it rejected a request.

        Implausible values are ignored: very small ones, and those not below the known limit.
        """
        model, limits = self.model, self.chain.learned
        is_plausible = limit is not None and LEAST_LIMIT <= limit < (model.input_limit or math.inf)
        if limits is not None and limit is not None and is_plausible:
            limits.learn_limit(model.learned_owner, limit, model.reported_limit)

    def open_model(self, read: Sequence[Segment] = ()) -> ModelPort:
        """Return a port to the model that answers.

        Args:
            read: the segments that tools have read in this turn, for the ledger.

        Raises:
            BadRequest: no service has a model with that name.
        """
        request = self.request
        if request.model == EXTRACTIVE:
            # Its regular expressions take long to compile, and searches do without them.
            from chains.extractive.model import ExtractiveModel

            vault = None if self.chain.search is None else self.chain.vault
            return ExtractiveModel(
                request.question,
                has_searched=self.chain.search is not None,
                has_notes=request.has_notes,
                searched=request.searched,
                support=request.support,
                compare=None if vault is None else vault.measure_cosines,
                find_days=None if vault is None else vault.find_days,
            )
        return open_model(self, self.model, read)

    def ports(self, new_entries: list[Entry], turn: str) -> Ports:
        """Build the ports for preparing a request.

        Args:
            new_entries: the list to which log entries are added, such as those for token usage. The
                caller stores them.
            turn: the id of the turn that the token usage belongs to.
        """
        session = self.session
        return Ports(
            self.counter,
            new_entries.extend,
            session.new_id,
            session.now,
            hooks=self.customization.hooks,
            resolve=self.resolve,
            cancel=self.cancel,
            summarise=self._log_summaries(new_entries, turn),
            breaker=LoggedBreaker(session, new_entries),
            find_excluded=self.chain.find_excluded and cache(self.chain.find_excluded),
            load_result=session.load_result,
        )

    def _log_summaries(
        self, new_entries: list[Entry], turn: str
    ) -> Callable[[SummaryTask], str] | None:
        summarise, session = self.summarise, self.session
        if summarise is None:
            return None

        def log(call: CallUsage) -> None:
            new_entries.append(build_usage_entry(session, turn, call, purpose=SUMMARY))

        return lambda task: summarise(task, log)


def find_model(chain: Chain, request: TurnRequest, name: str) -> ModelInfo:
    """Look up a model's properties. This may query a server for the model's limit.

    A dry run queries no server. It therefore does not reject images if it is unknown whether the
    server's model accepts them.
    """
    model = look_up_model(
        name,
        request.api_base,
        key_for=None if request.dry_run else chain.key_for,
        offline=request.offline,
        local_context=request.local_context,
        image_models=request.image_models,
        ledger=chain.ledger,
    )
    if request.dry_run and model.sees is None and model.endpoint and model.endpoint.api_base:
        model = replace(model, sees=True)
    learned = chain.learned and chain.learned.find_limit(model.learned_owner, model.reported_limit)
    return replace(model, input_limit=learned) if learned else model


def open_model(context: TurnContext, model: ModelInfo, read: Sequence[Segment] = ()) -> ModelPort:
    """Return a port to a language model.

    Args:
        context: the turn that the calls belong to.
        model: the properties of the model.
        read: the segments that tools have read in this turn, for the ledger.

    Raises:
        BadRequest: no service has a model with that name.
        LocalModelFailed: the file of the model cannot be used.
    """
    if model.problem:
        raise LocalModelFailed(model.problem, service=model.name)
    if model.endpoint is None:
        raise BadRequest(
            model.name,
            reason="no service has a model of that name. Put the service in front of it, as in "
            f"openai/{model.name}, or set chat.apiBase to the address of a server.",
        )
    # An answer without a model needs none of these.
    from chains.gguf.model import GgufModel
    from chains.llm.records import CallOrigin, CallRecorder
    from chains.model import LiteLLMModel

    chain, request = context.chain, context.request
    origin = CallOrigin(context.session.id or None, request.turn, read)
    port = partial(LiteLLMModel, recorder=CallRecorder(chain.ledger, origin))
    shapes = ShapeMemory(chain.learned, model.learned_owner)
    make = partial(port, offline=request.offline, max_seconds=request.max_seconds)

    def make_port(endpoint: Endpoint, key_for: KeyFor, pause: Pause) -> ModelPort:
        return make(endpoint, key_for, pause=pause, shapes=shapes)

    if model.file is None:
        return make_port(model.endpoint, chain.key_for, chain.pause)
    context_tokens = model.input_limit or model.file.context_length
    return GgufModel(chain.local, model.file, context_tokens, make_port, chain.pause)
