"""The budget guard: the last check of a request's size before the request is sent.

If a request exceeds its token budget, the guard leaves out content, the least valuable first. It
never calls a model, and the report lists everything that is left out. If the required content alone
is too large, the pipeline raises `ContextOverflow`. Models are called only with a
`PreparedRequest`, which only the guard can create.
"""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from typing import Final

from context.assemble.request import RequestDraft
from context.envelope import ContextEnvelope, EncodedJson, Messages
from context.errors import UnguardedRequest
from context.fit.cache import encode_message, make_message_body
from context.fit.guard_steps import END_LOOP, STEPS, GuardState
from context.fit.marks import CacheMark
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn
from context.layers import Layer, Segment
from context.messages import Message, compact_json, thaw_mapping
from context.report.report import ContextReport, LeftOut

_SEAL: Final = object()
_BODY: Final = "body"


@dataclass(frozen=True)
class PreparedRequest:
    """A request that passed the budget guard and can be sent.

    Attributes:
        base: the request's envelope (system message, tools and options), without messages.
        draft: the content of the request.
        marks: the positions up to which the provider may cache the request. Empty for providers
            without cache marks.
        ends_loop: whether the request offers no tools, so that the model has to answer, because the
            turn's tool calls exceed the budget.
    """

    base: ContextEnvelope
    report: ContextReport
    draft: RequestDraft
    marks: tuple[CacheMark, ...] = ()
    ends_loop: bool = False
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise UnguardedRequest("Only the budget guard can make a request that may be sent.")

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


@dataclass(frozen=True, slots=True)
class GuardReport:
    """The result of applying the budget guard to a draft.

    Attributes:
        draft: the content of the request after the guard. If `fits` is false, this is only the
            required content.
        steps: the names of the steps that changed the draft, in order.
        left_out: everything that was left out.
        cut: the number of old turns that later requests leave out too, or 0.
        ends_loop: whether the tools were removed, so that the model has to answer.
    """

    draft: RequestDraft
    fits: bool
    steps: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cut: int = 0
    ends_loop: bool = False


def enforce_budget(
    draft: RequestDraft,
    budget: int,
    lasting_tail_tokens: int,
    lasting_start_tokens: int | None = None,
) -> GuardReport:
    """Make a request fit its token budget by leaving out the least valuable content first.

    Args:
        draft: the content of the request before the guard.
        budget: the token limit of the request.
        lasting_tail_tokens: the tokens to reserve, in this and later requests, for the user message
            and its context (the tail).
        lasting_start_tokens: the tokens to reserve for the tools and instructions, or None for
            their size in this request. Only the decision to drop turns permanently uses these two
            values. The other steps use the actual sizes.

    Reasons: ARCHITECTURE.md, "The guard".
    """
    if not can_fit(draft, budget):
        return GuardReport(_strip(draft), fits=False)
    start = draft.layers[Layer.T] + draft.layers[Layer.L1]
    lasting_start = start if lasting_start_tokens is None else lasting_start_tokens
    passing = GuardState(draft, budget, lasting_start + lasting_tail_tokens)
    for step in STEPS:
        if passing.draft.used <= budget:
            break
        passing = step(passing)
    ends_loop = END_LOOP in passing.steps
    return GuardReport(passing.draft, True, passing.steps, passing.left_out, passing.cut, ends_loop)


def can_fit(draft: RequestDraft, budget: int) -> bool:
    """Return whether a draft fits the token budget once all optional content is left out."""
    return draft.used <= budget or _strip(draft).used <= budget


def _strip(draft: RequestDraft) -> RequestDraft:
    return replace(draft, history=TurnList.of(), tail=replace(draft.tail, segments=()), work=())


def seal(
    guarded: GuardReport,
    envelope: ContextEnvelope,
    report: ContextReport,
    marks: tuple[CacheMark, ...] = (),
) -> PreparedRequest:
    """Turn the content of a request that passed the guard into a request that can be sent.

    Args:
        guarded: the result of the guard.
        envelope: the envelope with the system message, tools and options.
        report: the context report of the request.
        marks: the positions up to which the provider may cache the request.

    Raises:
        UnguardedRequest: when the content did not pass the guard.
    """
    if not guarded.fits or report.used > report.budget:
        raise UnguardedRequest("This request is over its budget and cannot be sent.")
    return PreparedRequest(envelope, report, guarded.draft, marks, guarded.ends_loop, seal=_SEAL)
