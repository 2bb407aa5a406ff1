"""Define `Turn`: one message of the user, with all that is needed to answer it.

The application begins a turn with the question, the settings and the chat, and adds what the mode
brings: a prompt, notes and tools. Each step of `chains.turn.run` returns a copy with more fields.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import TYPE_CHECKING, Final, Literal

from chains.cancel import CancelToken, Pause, TimeLimit, wait_or_cancel
from chains.gguf.process import ModelRunner
from chains.ledger import LedgerPort, NoLedger
from chains.llm.port import KeyFor, LearnedPort
from chains.models import EXTRACTIVE, ModelInfo
from chains.prompts import NO_CUSTOMIZATION, READING_PROMPT, SUMMARY_PROMPT, Customization
from chains.request.ask import MODES, Ask, ModeRules
from chains.request.deferral import NOTHING_DEFERRED, DeferredTools
from chains.request.session import SessionPort, SessionView
from chains.request.usage import LogUsage, find_factor
from chains.spending import NoSpendingLimit, SpendingPort
from chains.tool import READING_TOOLS, ApprovalPort, ApprovalRules, Tool
from context.assemble.attachments import CurrentSource, Resolve
from context.assemble.inputs import HistoryPolicy, SummaryTask
from context.budget import BudgetPolicy, RequestBudget, compute_budget
from context.history.exclusion import FindExcluded, NoteRules
from context.history.quotes import HiddenNotes
from context.layers import Segment
from context.log.entries import Entry, MessageEntry, SegmentsEntry
from context.messages import ToolDefinition
from context.tokens import ByteEstimator, TokenCounter
from vault.quotes.sections import Support
from vault.vault import Vault

if TYPE_CHECKING:  # most turns ask for no list
    from vault.questions.reader import PartlyRead

__all__ = [
    "SEARCHED",
    "SearchedQuery",
    "Summarise",
    "Turn",
    "TurnPorts",
    "TurnSettings",
]

SEARCHED: Final = "searched"  # the key of the query in the segments entry of a turn

# Returns a summary like `context.assemble.inputs.Summarise`, and records the usage of each call.
Summarise = Callable[[SummaryTask, LogUsage], str]


@dataclass(frozen=True)
class TurnSettings:
    """The settings that turns read, under the names that they have in `app.config.settings`.

    Attributes:
        auto_compact_threshold: the most tokens of a request.
        max_output_tokens: the tokens that are kept free for an answer.
        chat_api_base: the address of the user's own server, or an empty string for the provider's.
        chat_temperature: the temperature, or an empty string to send none.
        chat_max_seconds: the longest time for an answer; 0 is no limit.
        chat_local_context: the context length, in tokens, that local models are loaded with.
        chat_summary_model: the model for summaries, or an empty string for the model that answers.
        chat_image_models: the names of models that accept images.
        context_trim_at, context_compact_at, context_block_at: the shares of the budget from which
            on old tool results are shortened, old turns are summarised, and that is done first.
        context_auto_compact: whether old turns are summarised automatically.
        context_keep_last_assistant_messages: how many of the newest answers keep their tool results
            longest.
        history_clean_tool_output_after_turns: after how many turns tool results are shortened.
        retrieval_top_k: how many passages are retrieved.
        retrieval_rewrite: whether the model rewrites follow-up questions.
        project_include_text: `auto` if the text of a project's notes may be sent, or `never`.
        privacy_offline: whether calls to other computers are refused.
        agent_max_steps: the most requests of a turn that offer tools.
        agent_max_seconds: the time after which no more tools are offered.
        result_offload_threshold: the bytes above which a tool result is stored outside of the log.
        tool_deferral_threshold: the share of the budget that tool definitions may take.
    """

    auto_compact_threshold: int
    max_output_tokens: int
    chat_api_base: str
    chat_temperature: float | Literal[""]
    chat_max_seconds: int
    chat_local_context: int
    chat_summary_model: str
    chat_image_models: Sequence[str]
    context_trim_at: float
    context_compact_at: float
    context_block_at: float
    context_auto_compact: bool
    context_keep_last_assistant_messages: int
    history_clean_tool_output_after_turns: int
    retrieval_top_k: int
    retrieval_rewrite: bool
    project_include_text: Literal["auto", "never"]
    privacy_offline: bool
    agent_max_steps: int
    agent_max_seconds: float
    result_offload_threshold: int
    tool_deferral_threshold: float

    @classmethod
    def read(cls, values: object) -> "TurnSettings":
        """Take the values of all settings from an object that has attributes of these names."""
        return cls(**{field.name: getattr(values, field.name) for field in fields(cls)})


@dataclass(frozen=True)
class SearchedQuery:
    """What was searched for, and how good the results are.

    Attributes:
        text: the query, or an empty string if it is the user message itself.
        support: how well the passages support an answer made of quotations, or None if it was not
            measured.
        has_notes: whether there were notes to search.
        partly: what was understood of a request for a list, if only a part of it was.
    """

    text: str = ""
    support: Support | None = None
    has_notes: bool = True
    partly: "PartlyRead | None" = None


@dataclass(frozen=True)
class TurnPorts:
    """What a turn reaches beyond this package, apart from its notes and its chat.

    Attributes:
        key_for: returns a provider's key.
        pause: waits before a failed call is repeated.
        resolve: returns the current state of a source from an earlier turn. If None, sources of
            earlier turns are not sent again.
        find_excluded: returns those of the given paths whose notes models may not read now. If
            None, no note is excluded.
        hidden_notes: looks up the notes that models may not read now, or None.
        ledger: records each outgoing call before it is made.
        spending: holds the calls of the turn to the spending limit.
        learned: remembers what services said when they refused a request, or None.
        local: runs model files.
        approvals: asks the user about an agent's proposals. Without it, proposals that the rules do
            not approve are rejected.
        clock: the time in seconds, for the limits of an agent.
    """

    key_for: KeyFor
    pause: Pause = wait_or_cancel
    resolve: Resolve | None = None
    find_excluded: FindExcluded | None = None
    hidden_notes: HiddenNotes | None = None
    ledger: LedgerPort = field(default_factory=NoLedger)
    spending: SpendingPort = field(default_factory=NoSpendingLimit)
    learned: LearnedPort | None = None
    local: ModelRunner = field(default_factory=ModelRunner)
    approvals: ApprovalPort | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Turn:
    """A message of the user, and all that is needed to answer it.

    What the user wants, and where:

        ask: the question and its options.
        model_name: `extractive`, or a model's name, with or without its provider's prefix.
        settings: the settings as they are. Only after a service rejected a request as too long, the
            requests of the turn have a lower threshold.
        session: the chat.
        attached: the attachments, numbered from 1: complete at first, later what fits the budget.
        is_regenerated: whether the last user message is in the log and is answered again.
        is_continued: whether the answer is not replaced but continued, because it broke off. Then
            `is_regenerated` is true too.

        asked_on: the day on which a past question was asked, if it is asked again to compare its
            request. Words such as "yesterday" refer to it. None for a question of now.

    What its mode brings (see `chains.request.ask.MODES`):

        customization: the user's prompts, instructions and hooks.
        vault: the notes: the open vault or the project's part of it, or None.
        pages: the web pages and transcripts that the project keeps, or None for those that the
            session's log describes.
        search: returns the notes to retrieve passages from, and raises if none are open. It is None
            to skip retrieval.
        tools: the tools that requests offer.
        extra_tools: the agent's tools in addition to the standard ones.
        rules: approves proposals without asking the user, if the approval level or an earlier
            approval permits it.
        tool_time: the time that the tools have, which the turn starts.

    What its steps find out:

        id: the id of the turn, or an empty string before its user message has an entry.
        user_message: the log entry of the user message, or None before it is built.
        is_logged: whether that entry is in the log.
        problems: one sentence for each message hook that failed.
        model: the properties of the model that answers.
        counter: the model's token counter.
        summarise: summarises turns with a model, or None to build outlines instead.
        deferred: the agent's tools that requests omit until the model searches for them.
        is_toolless: whether the service takes no tools, so that an agent can only answer.
        query: what was searched for, and how good the results are.
        unsent: the attachments that do not fit at all.
        stored_fields: extra fields to store in the log with the turn's segments.
        segments_entry: the log entry of the retrieved and attached segments, or None.
        added: the log entries of messages that hooks added.
        started_s: the start time of the turn in seconds, on the monotonic clock.
    """

    ask: Ask
    model_name: str
    settings: TurnSettings
    ports: TurnPorts
    session: SessionPort = field(default_factory=SessionView)
    cancel: CancelToken = field(default_factory=CancelToken)
    attached: tuple[Segment, ...] = ()
    is_regenerated: bool = False
    is_continued: bool = False
    asked_on: date | None = None

    customization: Customization = NO_CUSTOMIZATION
    vault: Vault | None = None
    pages: tuple[Segment, ...] | None = None
    search: Callable[[], Vault] | None = None
    tools: tuple[ToolDefinition, ...] = ()
    extra_tools: tuple[Tool, ...] = ()
    rules: ApprovalRules = field(default_factory=ApprovalRules)
    tool_time: TimeLimit = field(default_factory=TimeLimit)

    id: str = ""
    user_message: MessageEntry | None = None
    is_logged: bool = False
    problems: tuple[str, ...] = ()
    model: ModelInfo = field(default_factory=lambda: ModelInfo("", None))
    counter: TokenCounter = field(default_factory=ByteEstimator)
    summarise: Summarise | None = None
    deferred: DeferredTools = NOTHING_DEFERRED
    is_toolless: bool = False
    query: SearchedQuery = field(default_factory=SearchedQuery)
    unsent: tuple[Segment, ...] = ()
    stored_fields: Mapping[str, object] = field(default_factory=dict)
    segments_entry: SegmentsEntry | None = None
    added: tuple[Entry, ...] = ()
    started_s: float = field(default_factory=time.monotonic, compare=False)

    @property
    def mode_rules(self) -> ModeRules:
        """How messages of the turn's mode are answered."""
        return MODES[self.ask.mode]

    @property
    def is_in_project(self) -> bool:
        """Whether the notes are those of the chat's project, which the system message describes."""
        return self.ask.project is not None and self.mode_rules.uses_project

    def open_searched(self) -> Vault | None:
        """Return the notes that the mode searches, or None if it searches none.

        Raises:
            Exception: any error of `search`, such as that no notes are open.
        """
        if self.search is not None:
            return self.search()
        return self.vault if self.mode_rules.searches_notes else None

    @property
    def temperature(self) -> float | None:
        """The temperature, or None to send none."""
        temperature = self.settings.chat_temperature
        return None if temperature == "" else temperature

    @property
    def lowest_temperature(self) -> float | None:
        """The temperature for calls that need one right text, or None to send none."""
        return None if self.temperature is None else 0.0

    @property
    def summarised_by(self) -> str:
        """The name of the model that writes summaries, or an empty string if there is none."""
        name = self.settings.chat_summary_model or self.model_name
        return "" if name == EXTRACTIVE else name

    @property
    def history_policy(self) -> HistoryPolicy:
        """The settings for trimming and compacting the history.

        Raises:
            BadPolicy: the thresholds are not in ascending order.
        """
        settings = self.settings
        shares = settings.context_trim_at, settings.context_compact_at, settings.context_block_at
        return HistoryPolicy(
            BudgetPolicy(*shares),
            settings.context_auto_compact,
            settings.context_keep_last_assistant_messages,
            settings.history_clean_tool_output_after_turns,
            bool(self.summarised_by),
        )

    @property
    def setup_problems(self) -> tuple[str, ...]:
        """One sentence for each unusable prompt, instruction or hook, and for missing tools."""
        prompts = self.mode_rules.prompt, SUMMARY_PROMPT, READING_PROMPT
        found = self.customization.problems(*prompts)
        if not self.is_toolless:
            return found
        return (*found, f"{self.model.name} takes no tools, so the agent can only answer.")

    @property
    def reading_tools(self) -> frozenset[str]:
        """The names of the tools that only read, of the connected MCP servers too."""
        extra = (tool.definition.name for tool in self.extra_tools if tool.reads_only)
        return READING_TOOLS.union(extra)

    @property
    def note_rules(self) -> NoteRules | None:
        """What decides which notes are left out of earlier turns, or None if none is."""
        ports = self.ports
        if ports.find_excluded is None:
            return None
        return NoteRules(ports.find_excluded, self.session.load_result, ports.hidden_notes)

    @property
    def resolve(self) -> Resolve | None:
        """The function that returns the current state of a source from an earlier turn.

        It is None if sources of earlier turns are not sent again. Unless the model accepts
        images, the function reports every image as `unseen` or `unsure`, so that it is not sent
        again.
        """
        known, find_excluded = self.ports.resolve, self.ports.find_excluded
        if known is None:
            return None
        unseen = CurrentSource("unsure" if self.model.sees is None else "unseen")

        def resolve(segment: Segment) -> CurrentSource:
            if segment.kind == "image" and not self.model.sees:
                return unseen
            source = segment.source  # outside of the vault, which has its rules checked anyway
            if find_excluded and os.path.isabs(source) and find_excluded(frozenset([source])):
                return CurrentSource("excluded")
            return known(segment)

        return resolve

    @property
    def factor(self) -> float | None:
        """The safety factor for token budgets, learned from reported usage, or None."""
        return find_factor(self.session, self.model_name)

    def compute_request_budget(self, factor: float | None = None) -> RequestBudget:
        """Compute the token budget of one of the turn's requests.

        Args:
            factor: the safety factor that was learned from the provider's counts, or None.
        """
        settings = self.settings
        limits = settings.auto_compact_threshold, self.model.input_limit
        return compute_budget(self.counter, *limits, settings.max_output_tokens, factor)
