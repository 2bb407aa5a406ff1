"""Decide whether to trim or compact the history before a request is sent.

Both decisions consider only content that later requests also contain: tools, instructions, history,
tool calls, and a share of the user message. Each decision is stored in the log, and the request is
then built from the updated log.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from context.assemble.apply_hooks import make_uncached_message
from context.assemble.inputs import HistoryPolicy
from context.assemble.request import Request
from context.budget import BudgetPolicy
from context.draft import RequestDraft
from context.fit.trim import (
    LEAST_SHARE_BEFORE_COMPACTION,
    LEAST_SHARE_OF_WAY,
    plan_trim,
)
from context.layers import Layer
from context.log.entries import Entry

# The reason for a compaction: the history fills its budget, no more user messages fit, the user
# asked for it, or the provider reported that the request is too long.
Why = Literal["auto", "block", "asked", "overflow"]


@dataclass(frozen=True)
class HistoryUsage:
    """How much of the token budget is used by content that later requests also contain.

    Attributes:
        budget: the token limit of the request.
        fixed_tokens: the tokens of tools and instructions, and those reserved for the user message
            with its context.
        history: the token count of the history.
        work: the token count of the current turn's tool calls.
        question: the token count of the user message, which is part of `fixed_tokens`.
    """

    budget: int
    fixed_tokens: int
    history: int
    work: int
    question: int = 0

    @property
    def used(self) -> int:
        """The token count of all content that later requests also contain."""
        return self.fixed_tokens + self.history + self.work

    @property
    def history_budget(self) -> int:
        """The tokens available for the history and the current tool calls."""
        return max(0, self.budget - self.fixed_tokens)

    @property
    def fixed_without_question(self) -> int:
        """The value of `fixed_tokens` without the tokens of the user message."""
        return self.fixed_tokens - self.question

    def should_compact(self, history_policy: HistoryPolicy) -> bool:
        """Return whether the history or the whole request is so large that compaction is due."""
        is_full = history_policy.policy.should_compact(
            self.history + self.work, self.history_budget
        )
        return is_full or history_policy.policy.is_blocked(self.used, self.budget)


def measure_usage(request: Request) -> HistoryUsage:
    """Measure how much of the token budget is used by content that later requests also contain.

    `request` must be drafted.
    """
    layers, sizes = request.draft.layers, (request.budget_tokens, request.lasting_tokens)
    return HistoryUsage(*sizes, layers[Layer.L4], layers[Layer.W], layers[Layer.L5])


def decide_trim(request: Request, why: Why | None) -> tuple[Entry, ...]:
    """Return the log entry that shortens old messages, or an empty tuple if none is needed.

    Args:
        request: the drafted request.
        why: the reason to compact the history if no more messages are shortened, or None if there
            is no such reason.
    """
    history_policy, now = request.history_policy, measure_usage(request)
    if history_policy is None or not history_policy.policy.should_trim(now.used, now.budget):
        return ()
    has_answers = not (history_policy.auto_compact and history_policy.can_summarise)
    has_answers = has_answers or _is_tripped(request)
    least_share = LEAST_SHARE_OF_WAY if why is None else LEAST_SHARE_BEFORE_COMPACTION
    messages = (
        request.trim_input,
        now.fixed_without_question,
        now.budget,
        history_policy,
        request.offsets,
    )
    trim = plan_trim(*messages, has_answers=has_answers, least_share=least_share)
    if trim is None:
        return ()
    place = request.ports.new_id(), None, request.ports.now()
    return (trim.make_entry(place, request.epoch),)


def decide_compaction(request: Request) -> Why | None:
    """Return the reason why the history must be compacted before the request, or None.

    If automatic compaction is disabled, the history is compacted only at the start of a turn, if
    the used fraction of the token budget exceeds `BudgetPolicy.block_at`.
    """
    history_policy = request.history_policy
    if history_policy is None or _is_tripped(request):
        return None
    now = measure_usage(request)
    if history_policy.auto_compact:
        return "auto" if now.should_compact(history_policy) else None
    is_blocked = request.number == 1 and history_policy.policy.is_blocked(now.used, now.budget)
    return "block" if is_blocked else None


def _is_tripped(request: Request) -> bool:
    return request.ports.breaker is not None and request.ports.breaker.is_tripped(
        request.model, request.budget_tokens
    )


COMPACT_CONTEXT: Final = "compact_context"
_NOTE: Final = (
    "[Context: {percent}% used. You can call compact_context to free space before continuing with "
    "large operations.]"
)


def add_usage_note(
    draft: RequestDraft, fitted: RequestDraft, budget: int, policy: BudgetPolicy
) -> RequestDraft:
    """Add a message that tells the model how much of the token budget is used.

    The message is added only if the request is close to its limit and the tool `compact_context`,
    which the message recommends, is available. It is sent only with this request.

    Args:
        draft: the content of the request before the budget guard.
        fitted: the content that the guard let through, whose size the message says.
        budget: the token limit of the request.
        policy: contains the fraction of the limit above which the message is added.
    """
    can_compact = any(tool.name == COMPACT_CONTEXT for tool in fitted.preamble.tools)
    if not can_compact or not policy.should_trim(fitted.used, budget):
        return draft
    note = _NOTE.format(percent=100 * fitted.used // budget)
    others = () if draft.uncached is None else (draft.uncached,)
    return replace(draft, uncached=make_uncached_message([note], others))
