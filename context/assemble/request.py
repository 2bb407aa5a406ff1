"""Define `Request`: a request to a model, from its inputs to the form that is sent.

`context.pipeline` tells the story. Each step takes a request, and returns a copy with more fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from context.assemble.attachments import CarryForward
from context.assemble.inputs import GivenSummary, HistoryPolicy, Ports, ToolDeferral
from context.budget import RequestBudget
from context.draft import (
    CacheMark,
    Preamble,
    RequestDraft,
    Tail,
    encode_message,
    make_message_body,
)
from context.envelope import ContextEnvelope, EncodedJson, Messages, System, SystemPart
from context.errors import UnguardedRequest
from context.history.boundaries import Epoch, TrimInput, TrimOffsets
from context.history.replay import ReplayedPath
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn
from context.layers import Segment
from context.log.entries import Entry, TransformEntry
from context.messages import Message, ToolDefinition, compact_json, thaw_mapping
from context.report.report import Actions, ContextReport, LeftOut
from context.tokens import ByteEstimator, TokenCounter

# How far a request has come. "refused" means that the required content alone exceeds the budget.
RequestState = Literal["new", "drafted", "guarded", "refused", "sealed"]

END_LOOP: Final = "end_loop"  # the step of the guard that removes the tools
# Only `context.fit.guard.seal` may pass this value.
GUARD_SEAL: Final = object()

_BODY: Final = "body"
_NO_COUNTER: Final = ByteEstimator()
# What the fields of a request hold before its steps fill them.
_NOT_REPLAYED: Final = ReplayedPath(_NO_COUNTER)
_NOTHING_TO_TRIM: Final = TrimInput(TurnList.of(), None, (), frozenset(), _NO_COUNTER)
_NOTHING: Final = RequestDraft(
    Preamble(System(), (), _NO_COUNTER), TurnList.of(), Tail((), Message("user", ""), _NO_COUNTER)
)


@dataclass(frozen=True)
class Request:
    """A request to a model. The steps of `context.pipeline.prepare` fill one copy after another.

    `state` says which fields are filled. A *new* request has its inputs. Replaying the log fills in
    the conversation. A *drafted* request has its content, before and after messages were shortened
    and turns compacted. A *guarded* one fits its budget, and a *refused* one cannot. A *sealed* one
    has its report and its cache marks, and it alone can be sent. Only the budget guard can seal a
    request, and a sealed request cannot be changed.

    Inputs, which are never changed:

        budget: the token budget, and what it was computed from.
        session: the id of the session, or None.
        path: the log entries of the active path. It ends with this turn's user message and
            segments, then the tool calls and results so far.
        turn: the id of the turn.
        number: the number of the request within its turn, starting at 1. Later requests reuse the
            context of the first.
        system, tools, temperature: the instructions, the tools that can run, and the option.
        end_tools: the tools of the request if the budget ends the loop of tool calls. Some services
            refuse earlier tool calls without any.
        previous: the previous request on this path, as a draft or as JSON. None for the first.
        is_cached: whether the same service answered the previous request, so that it may have
            cached the common prefix.
        instructions: the parts of the system message that come from notes, for the report. The id
            of each segment is the name of its part.
        takes_marks: whether the provider supports cache marks, or None to decide by the model's
            name.
        unsent: the attachments that cannot be sent at all, for the report.
        sees: whether the model accepts images, or None if unknown. Unless it does, images are
            listed in `unsent`.
        warnings: the warnings of the turn so far, for the report.
        history_policy: the settings for trimming and compaction. If None, only the budget guard
            shortens the request.
        summary_instructions: the user's instructions for summaries, or an empty string.
        given_summary: a summary that the user already reviewed, for a compaction on demand.
        deferral: the tools that the request omits to save tokens.
        reading_tools: the names of the tools that only read. The results of all other tools are not
            shortened, so that the model does not act again. If None, all tools only read.

    The conversation, as rebuilt from the log and changed by hooks:

        reading: the turns and other state that were rebuilt from the log.
        base: the instructions, tools, options and uncached messages.
        transforms: the stored changes by hooks and compactions, which later requests repeat.
        new_entries: the log entries to store when the request is sent.
        decided: the changes by hooks and compactions since the previous request.
        hook_warnings: one sentence for each patch or tool that cannot be used.

    The content, and the data for shortening it:

        draft: the content. If the request is refused, only the required content.
        unguarded: the content before the guard left anything out.
        trim_input: the history, user message and tool calls before any text was shortened, without
            the turns that requests no longer contain.
        offsets: the indexes up to which the messages of `trim_input` are already shortened.
        dropped_turns: the old turns that requests no longer contain, as stored in the log.
        lasting_tokens: the tokens to reserve, in this and later requests, for the tools and
            instructions, and for the user message with its context.
        carry_forward: the segments carried forward from earlier turns (L2). They are empty if an
            earlier request of the turn already built them.
        offered: all segments of this turn and all carried-forward segments, including those that
            were left out.
        oversized: the segments left out because carried sources or passages exceeded their share of
            the budget.

    What was done to make it fit, and what makes it ready to send:

        actions: whether the history was trimmed or compacted, and the result.
        steps: the names of the guard's steps that changed the content, in order.
        left_out: everything that the guard left out.
        cut: the number of old turns that later requests leave out too, or 0.
        sealed_report: the context report, or None before the request is sealed. See `report`.
        marks: the positions up to which the provider may cache the request.
    """

    ports: Ports
    budget: RequestBudget
    session: str | None
    model: str
    temperature: float | None
    system: tuple[SystemPart, ...] = ()
    path: tuple[Entry, ...] = ()
    turn: str = ""
    number: int = 1
    tools: tuple[ToolDefinition, ...] = ()
    end_tools: tuple[ToolDefinition, ...] = ()
    previous: Mapping[str, object] | RequestDraft | None = None
    is_cached: bool = True
    instructions: tuple[Segment, ...] = ()
    takes_marks: bool | None = None
    unsent: tuple[Segment, ...] = ()
    sees: bool | None = True
    warnings: tuple[str, ...] = ()
    history_policy: HistoryPolicy | None = None
    summary_instructions: str = ""
    given_summary: GivenSummary | None = None
    deferral: ToolDeferral = field(default_factory=ToolDeferral)
    reading_tools: frozenset[str] | None = None

    state: RequestState = "new"
    reading: ReplayedPath = _NOT_REPLAYED
    base: ContextEnvelope = field(default_factory=ContextEnvelope)
    transforms: tuple[TransformEntry, ...] = ()
    new_entries: tuple[Entry, ...] = ()
    decided: tuple[TransformEntry, ...] = ()
    hook_warnings: tuple[str, ...] = ()

    draft: RequestDraft = _NOTHING
    unguarded: RequestDraft = _NOTHING
    trim_input: TrimInput = _NOTHING_TO_TRIM
    offsets: TrimOffsets = field(default_factory=TrimOffsets)
    dropped_turns: TurnList = field(default_factory=TurnList.of)
    lasting_tokens: int = 0
    carry_forward: CarryForward = field(default_factory=CarryForward)
    offered: tuple[Segment, ...] = ()
    oversized: tuple[Segment, ...] = ()

    actions: Actions = field(default_factory=Actions)
    steps: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cut: int = 0
    sealed_report: ContextReport | None = None
    marks: tuple[CacheMark, ...] = ()
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if self.state == "sealed" and seal is not GUARD_SEAL:
            raise UnguardedRequest("Only the budget guard can make a request that may be sent.")

    @property
    def counter(self) -> TokenCounter:
        """The token counter of the request."""
        return self.ports.counter

    @property
    def budget_tokens(self) -> int:
        """The maximum size of the request in tokens."""
        return self.budget.budget

    @property
    def epoch(self) -> Epoch:
        """The token budget and model, which decide whether stored trims and drops still apply."""
        return Epoch(self.budget_tokens, self.model)

    @property
    def ends_loop(self) -> bool:
        """Whether the guard removed the tools, so that the model has to answer."""
        return END_LOOP in self.steps

    @property
    def is_sealed(self) -> bool:
        """Whether the request passed the budget guard, so that it can be sent."""
        return self.state == "sealed"

    @property
    def report(self) -> ContextReport:
        """The context report of a sealed request.

        Raises:
            UnguardedRequest: the request is not sealed.
        """
        if self.sealed_report is None:
            raise UnguardedRequest("This request has not passed the budget guard.")
        return self.sealed_report

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of this turn's context that are sent. They are stored in the log."""
        return self.draft.tail.segments

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages as sent. The context of this turn precedes its user message."""
        return self.draft.messages

    @cached_property
    def envelope(self) -> ContextEnvelope:
        """The request as an envelope, with its messages."""
        draft = self.draft
        cached = (*draft.history_messages, draft.tail.question, *draft.work)
        uncached = () if draft.uncached is None else (draft.uncached,)
        messages = Messages(cached, uncached)
        return replace(self.base, tools=draft.preamble.tools, messages=messages)

    def request_body(self) -> dict[str, object]:
        """Return the request as a new JSON object that does not depend on the provider."""
        messages = [make_message_body(message) for message in self.messages]
        return {**self._head, "messages": messages, **self._end}

    def encode_body(self) -> EncodedJson:
        """Return the result of `request_body` as JSON text.

        The text of the history is taken from a cache.
        """
        head, end = compact_json(self._head), compact_json(self._end)
        history = self.draft.history.accumulate(_BODY, _encode_turns)
        now = map(encode_message, self.draft.present)
        messages = ",".join((*filter(None, [history]), *now))
        return EncodedJson(f'{head[:-1]},"messages":[{messages}],{end[1:]}')

    @property
    def _head(self) -> dict[str, object]:
        tools = [tool.to_dict() for tool in self.draft.preamble.tools]
        return {"system": self.base.system.compiled, "tools": tools}

    @property
    def _end(self) -> dict[str, object]:
        marks = [mark.to_dict() for mark in self.marks]
        return {"options": thaw_mapping(self.base.options), "marks": marks}


def _encode_turns(known: str | None, turns: Sequence[MeasuredTurn]) -> str:
    new = (encode_message(message) for turn in turns for message in turn.messages)
    return ",".join((*filter(None, [known]), *new))
