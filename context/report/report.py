"""The context report of a request: its content, what was left out, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from context.budget import BudgetPolicy, ContextBudget, RequestBudget
from context.exam import SummaryExam
from context.history.memory import Memory
from context.history.pins import compute_pins_limit
from context.json_codec import Record
from context.layers import Layer, Segment, sort_by_wire
from context.messages import Message
from context.offload import Offloaded
from context.report.layer_parts import LayerPart
from context.report.markdown import report_markdown

# An answer came, or at least its beginning; the service refused the request; it was never sent.
Outcome = Literal["", "answered", "refused", "not_sent"]
When = Literal["last", "next"]
SegmentState = Literal["full", "compacted", "shrunk", "dropped", "pinned"]


@dataclass(frozen=True, slots=True)
class LayerUse(Record):
    """The size of one layer in a request, and whether the provider's cache covers it.

    Attributes:
        tokens: the token count of the layer.
        cached: whether the layer was reused from the previous request.
        items: the number of tools, system parts, turns, segments or messages in the layer.
    """

    tokens: int = 0
    cached: bool = False
    items: int = 0


@dataclass(frozen=True, slots=True)
class SegmentUse(Record):
    """How a request uses a segment: in full, shortened or not at all.

    Attributes:
        tokens: the token count as sent, or 0 if the segment is left out.
        original_tokens: the token count of the whole segment.
        reason: why the segment is shortened or left out, or None.
    """

    segment: Segment
    tokens: int
    original_tokens: int
    state: SegmentState
    reason: str | None = None

    json_shape = (
        "id = segment.id",
        "layer = segment.layer",
        "kind = segment.kind",
        "source = segment.source",
        "lines = segment.lines or null",
        "tokens",
        "original_tokens",
        "state",
        "version = segment.version",
        "reason",
        "derived = segment.derived if segment.derived",
    )


@dataclass(frozen=True, slots=True)
class LeftOut(Record):
    """Content that a request leaves out, and the reason.

    Attributes:
        entries: the ids of the log entries or segments that were left out, or the names of the
            tools.
        turns: the number of whole turns, or 0 for other content.
        tokens: the token count of the content.
        reason: why the content is left out: `room` (old turns, in later requests too), `tail` (old
            turns, in this request only), `share` (larger than its share of the budget), `budget`,
            `work` (too many tool calls), `shortened`, `summary` (the summary of earlier turns, from
            this request only), `summary_shortened`, `gone`, `excluded`,
            `withheld` (what messages hold of excluded notes), `unseen` (an image that
            the model cannot see), `unsure` (an image, and it is not known whether the model sees
            images) or `history_guarantee_broken` (even the last answered turn).
    """

    layer: Layer
    entries: Sequence[str]
    turns: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class Prefix(Record):
    """The comparison of a request's prefix (its start) with that of the previous request.

    Attributes:
        hash: the hash of tools, instructions and history.
        tokens_reused: the token count of the common prefix.
        changed: whether the previous prefix was changed, rather than only extended.
        reasons: the reasons for the change, empty if there was none.
        differences: every tool, section and message that is not as it was.
    """

    hash: str
    tokens_reused: int = 0
    changed: bool = False
    reasons: tuple[str, ...] = ()
    differences: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions that were taken to keep the history within its token budget.

    Attributes:
        trim: whether a decision to shorten more messages was stored.
        compact: whether a compaction was stored, which summarises turns or clears tool results.
        block: whether the next user message had to wait for the compaction.
        warnings: one sentence for each failed summary.
        compaction: the result of the compaction as JSON, or None if nothing was compacted.
    """

    trim: bool = False
    compact: bool = False
    block: bool = False
    warnings: tuple[str, ...] = ()
    compaction: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class TrimSummary(Record):
    """How many messages of a request are shortened, and the tokens that this saves.

    Attributes:
        up_to_entry: the id of the first entry that stays unchanged.
        messages: the number of shortened messages.
        tokens_before: the token count of these messages in full.
        tokens_after: the token count of these messages as sent.
    """

    up_to_entry: str
    messages: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class PinUse(Record):
    """A pinned item of a session, and its token count.

    The item is sent with its own turn, or with the context that is carried forward.

    Attributes:
        target: the id of the pinned message or segment.
        kind: the type of the item.
        source: the path of a note, or the name of the chat for a message.
        tokens: the token count of the item.
    """

    target: str
    kind: str
    source: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """A stored compaction of the session, which the request repeats.

    Attributes:
        entry: the id of the log entry.
        first_kept_entry: the id of the first entry that stays as it was, or None.
        before_tokens: the token count of the messages before, or None if it was not stored.
        after_tokens: the token count of the messages after, or None if it was not stored.
        by: who wrote the summary: `model`, `outline` or `none`.
        edited: whether the user has edited the summary.
        exam: what requests still say of what left them then. Only the last compaction has it.
    """

    entry: str
    first_kept_entry: str | None = None
    before_tokens: int | None = None
    after_tokens: int | None = None
    by: str = "none"
    edited: bool = False
    exam: SummaryExam | None = None


@dataclass(frozen=True, slots=True)
class ContextReport(Record):
    """The context report of one request: its content, what was left out, and why.

    Attributes:
        guard: the names of the budget guard's steps that changed the request, in order.
        dropped: everything that was left out.
        cached_tokens: the number of input tokens that the provider reported as read from its cache.
        ephemerals: the number of messages that hooks added to this request only.
        offloaded: the tool results that are stored outside of the request, which contains
            references to them.
        compactions: all compactions of the session's active path.
        transforms: the stored patches of hooks and compactions that the request repeats, as JSON.
        system_parts: the name and character count of each part of the system message.
        parts: the items of the layers that have no segments.
        has_uncached: whether the last message belongs to this request only.
        pins: all pinned items, in order.
        policy: the budget fractions above which to trim, compact or block.
        auto_compact: whether old turns are summarised automatically.
        instruction_tokens: the token count of the instructions (L1) that come from notes.
        outcome: what became of the request, or an empty string as long as it is not known.
    """

    session: str | None
    when: When
    request: int
    model: str
    request_budget: RequestBudget
    layers: Mapping[Layer, LayerUse]
    prefix: Prefix
    guard: tuple[str, ...] = ()
    actions: Actions = field(default_factory=Actions)
    trimmed: TrimSummary | None = None
    compactions: tuple[Compaction, ...] = ()
    offloaded: tuple[Offloaded, ...] = ()
    segments: tuple[SegmentUse, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cached_tokens: int = 0
    memory: Memory = field(default_factory=Memory)
    deferred_tools: tuple[str, ...] = ()
    ephemerals: int = 0
    transforms: tuple[Mapping[str, object], ...] = ()
    system_parts: tuple[tuple[str, int], ...] = ()
    parts: Mapping[Layer, tuple[LayerPart, ...]] = field(default_factory=dict)
    has_uncached: bool = False
    pins: tuple[PinUse, ...] = ()
    policy: BudgetPolicy = field(default_factory=BudgetPolicy)
    auto_compact: bool = True
    instruction_tokens: int = 0
    outcome: Outcome = ""

    # What the session adds that keeps the report: the tokens that the provider counted, the texts
    # that hooks added, and whether the report was computed anew from the log.
    counted: ClassVar[None] = None
    ephemeral_log: ClassVar[tuple[object, ...]] = ()
    rebuilt: ClassVar[bool] = False

    json_shape = (
        "session",
        "when",
        "request",
        "outcome",
        "model",
        "counter = request_budget.counter",
        "factor = request_budget.factor",
        "threshold = request_budget.threshold",
        "model_limit = request_budget.model_limit",
        "window = request_budget.window",
        "reserve = request_budget.reserve",
        "budget",
        "used",
        "fraction",
        "components = shown_components",
        "layers = layers_by_wire",
        "actions = shown_actions",
        "segments",
        "dropped",
        "trimmed",
        "compactions",
        "offloaded",
        "cached_tokens",
        "prefix",
        "warnings",
        "tools",
        "ephemerals",
        "transforms",
        "system_parts = shown_system_parts",
        "parts",
        "uncached = uncached_messages",
        "memory",
        "pins",
        "pins_limit",
        "policy = shown_policy",
        "deferred_tools",
        "counted",
        "ephemeral_log",
        "rebuilt",
    )

    @property
    def components(self) -> ContextBudget:
        """The token count of the request by component. The token budget is the effective window."""
        sizes = {layer: use.tokens for layer, use in self.layers.items()}
        prompt, tools = sizes.pop(Layer.L1, 0), sizes.pop(Layer.T, 0)
        added = min(prompt, self.instruction_tokens)
        return ContextBudget(
            total=self.request_budget.budget + self.request_budget.reserve,
            max_output_tokens=self.request_budget.reserve,
            system_prompt=prompt - added,
            skill_prompts=added,
            tool_descriptions=tools,
            conversation=sum(sizes.values()),
        )

    @property
    def budget(self) -> int:
        """The maximum size of the request in tokens."""
        return self.request_budget.budget

    @property
    def used(self) -> int:
        """The token count of all layers together."""
        return sum(use.tokens for use in self.layers.values())

    @property
    def pins_limit(self) -> int:
        """The most tokens that pinned items may have together."""
        return compute_pins_limit(self.budget)

    @property
    def uncached_messages(self) -> int:
        """The number of messages at the end that belong to this request only."""
        return int(self.has_uncached)

    @property
    def layers_by_wire(self) -> Mapping[Layer, LayerUse]:
        """The sizes of the layers in the order in which they are sent."""
        return dict(sort_by_wire(self.layers))

    @property
    def shown_actions(self) -> Mapping[str, object]:
        """The actions in the history, and the steps of the budget guard."""
        actions = self.actions
        flags = {"trim": actions.trim, "compact": actions.compact, "block": actions.block}
        return {**flags, "guard": self.guard}

    @property
    def shown_components(self) -> Mapping[str, int]:
        """The token count of each component, and what remains of the budget."""
        parts = self.components
        return {
            "system_prompt": parts.system_prompt,
            "skill_prompts": parts.skill_prompts,
            "tool_descriptions": parts.tool_descriptions,
            "conversation": parts.conversation,
            "remaining": parts.remaining_tokens,
        }

    @property
    def shown_policy(self) -> Mapping[str, float]:
        """The budget fractions, and whether old turns are summarised automatically."""
        policy = self.policy
        fractions = {name: getattr(policy, name) for name in ("trim_at", "compact_at", "block_at")}
        return {**fractions, "auto_compact": self.auto_compact}

    @property
    def shown_system_parts(self) -> Sequence[Mapping[str, object]]:
        """The name and the character count of each part of the system message."""
        return [{"name": name, "chars": size} for name, size in self.system_parts]

    @property
    def start_tokens(self) -> int:
        """The token count of the tools and instructions (T and L1) together."""
        return sum(self.layers[one].tokens for one in (Layer.T, Layer.L1) if one in self.layers)

    @property
    def fraction(self) -> float:
        """The used fraction of the token budget, or 1.0 if the budget is zero."""
        return self.used / self.budget if self.budget else 1.0

    def for_preview(self, user_message: Message) -> "ContextReport":
        """Return the report for the preview of a message that may not be written yet.

        An empty message has no tokens. Its overhead is counted as soon as there is a text.
        """
        if user_message.content:
            return self
        use = replace(self.layers[Layer.L5], tokens=0)
        return replace(self, layers={**self.layers, Layer.L5: use})

    def to_markdown(self) -> str:
        """Render the report as Markdown."""
        return report_markdown(self.to_dict())
