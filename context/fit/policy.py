"""What is decided for good before a request is sent: a trim, a compaction.

Both answer to what lasts: tools, instructions, history, work, and of the tail no more than what
tails take beyond this request. What is decided becomes entries; the request is then made from the
path that ends with them.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from context.assemble.apply_hooks import make_uncached_message
from context.assemble.builder import RequestPlan
from context.assemble.inputs import HistoryPolicy, Ports, PrepareInputs
from context.assemble.request import RequestDraft
from context.budget import BudgetPolicy, RequestBudget
from context.fit.trim import (
    LEAST_SHARE_BEFORE_COMPACTION,
    LEAST_SHARE_OF_WAY,
    plan_trim,
)
from context.history.boundaries import Epoch
from context.layers import Layer
from context.log.entries import Entry

# Why a compaction is made: the history fills its room, no further question fits, it was asked for,
# the provider said that the request is too long.
Why = Literal["auto", "block", "asked", "overflow"]


@dataclass(frozen=True)
class HistoryUsage:
    """What a request holds as far as that lasts.

    Attributes:
        beside: tools, instructions and the standing part of the tail.
        history: L4, `work` W.
        question: what of `beside` the question takes.
    """

    budget: int
    beside: int
    history: int
    work: int
    question: int = 0

    @property
    def used(self) -> int:
        """All of it."""
        return self.beside + self.history + self.work

    @property
    def room(self) -> int:
        """What history and work may take."""
        return max(0, self.budget - self.beside)

    @property
    def beside_line(self) -> int:
        """What requests hold beside history, question and work."""
        return self.beside - self.question

    def should_compact(self, history_policy: HistoryPolicy) -> bool:
        """Return whether history and work fill their room, or the whole its budget."""
        is_full = history_policy.policy.should_compact(self.history + self.work, self.room)
        return is_full or history_policy.policy.is_blocked(self.used, self.budget)


def measure_usage(base: RequestPlan, budget: int) -> HistoryUsage:
    """Return what a request holds as far as that lasts."""
    layers = base.draft.layers
    beside = layers[Layer.T] + layers[Layer.L1] + base.standing_tail
    return HistoryUsage(budget, beside, layers[Layer.L4], layers[Layer.W], layers[Layer.L5])


def decide_trim(
    base: RequestPlan, inputs: PrepareInputs, ports: Ports, room: RequestBudget, why: Why | None
) -> tuple[Entry, ...]:
    """Return the trim that has to be made now, if any.

    Args:
        why: why a compaction is due, where this does not spare it.
    """
    history_policy, now = inputs.history_policy, measure_usage(base, room.budget)
    if history_policy is None or not history_policy.policy.should_trim(now.used, now.budget):
        return ()
    has_answers = not (history_policy.auto_compact and history_policy.can_summarise)
    has_answers = has_answers or _is_tripped(inputs, ports, room)
    least_share = LEAST_SHARE_OF_WAY if why is None else LEAST_SHARE_BEFORE_COMPACTION
    messages = base.line, now.beside_line, now.budget, history_policy, base.reach
    trim = plan_trim(*messages, has_answers=has_answers, least_share=least_share)
    if trim is None:
        return ()
    place = ports.new_id(), None, ports.now()
    return (trim.make_entry(place, Epoch(room.budget, inputs.model)),)


def decide_compaction(
    base: RequestPlan, inputs: PrepareInputs, ports: Ports, room: RequestBudget
) -> Why | None:
    """Return why a compaction has to be made now, if one has.

    Before a further question is accepted, a chat that is blocked is compacted whatever the
    settings say.
    """
    history_policy = inputs.history_policy
    if history_policy is None or _is_tripped(inputs, ports, room):
        return None
    now = measure_usage(base, room.budget)
    if history_policy.auto_compact:
        return "auto" if now.should_compact(history_policy) else None
    is_blocked = inputs.request == 1 and history_policy.policy.is_blocked(now.used, now.budget)
    return "block" if is_blocked else None


def _is_tripped(inputs: PrepareInputs, ports: Ports, room: RequestBudget) -> bool:
    return ports.breaker is not None and ports.breaker.is_tripped(inputs.model, room.budget)


COMPACT_CONTEXT: Final = "compact_context"
_NOTE: Final = (
    "[Context: {percent}% used. You can call compact_context to free space before continuing with "
    "large operations.]"
)


def add_usage_note(draft: RequestDraft, budget: int, policy: BudgetPolicy) -> RequestDraft:
    """Return a request with the note, where it is due; it belongs to this request alone."""
    can_compact = any(tool.name == COMPACT_CONTEXT for tool in draft.preamble.tools)
    if not can_compact or not policy.should_trim(draft.used, budget):
        return draft
    note = _NOTE.format(percent=100 * draft.used // budget)
    others = () if draft.uncached is None else (draft.uncached,)
    return replace(draft, uncached=make_uncached_message([note], others))
