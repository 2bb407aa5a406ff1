"""What is decided for good before a request is sent: a trim, a compaction.

Both answer to what lasts: tools, instructions, history, work, and of the tail no more than what
tails take beyond this request. What is decided becomes entries; the request is then made from the
path that ends with them.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

from context.assemble.base import Base, Line
from context.assemble.inputs import Ports, PrepareInputs, SummaryTask, Upkeep
from context.assemble.request import Preamble
from context.budget import Room
from context.compaction import HEAD, CompactResult
from context.fit.compact import TARGET, Order, Outcome, result_of, run_chain, with_messages
from context.fit.summaries import Maker, as_said, summary_size
from context.fit.trim import (
    LEAST_SHARE_BEFORE_COMPACTION,
    LEAST_SHARE_OF_WAY,
    Trim,
    plan_anew,
    plan_trim,
)
from context.frozen import FrozenMapping
from context.history.boundaries import MODEL, Epoch, Reach
from context.history.turn_list import TurnList
from context.layers import Layer
from context.log.entries import DropEntry, Entry, TransformEntry, TrimEntry
from context.tokens import count_message

COMPACTION: Final = "compaction"
COMPACTED: Final = "the history was compacted"
CLEARED: Final = "old results were cleared"
ROOM: Final = "room"

# Why a compaction is made: the history fills its room, no further question fits, it was asked for,
# the provider said that the request is too long.
Why = Literal["auto", "block", "asked", "overflow"]


@dataclass(frozen=True)
class Standing:
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

    def should_compact(self, upkeep: Upkeep) -> bool:
        """Return whether history and work fill their room, or the whole its budget."""
        is_full = upkeep.policy.should_compact(self.history + self.work, self.room)
        return is_full or upkeep.policy.is_blocked(self.used, self.budget)


@dataclass(frozen=True)
class Past:
    """The history that a compaction is made of.

    Attributes:
        shown: the turns as they are sent, oldest first.
        line: the same turns as they were said, with the question and the work in progress.
        reach: how far they are trimmed, or have to be trimmed now.
        resting: older turns that a drop leaves out.
    """

    shown: TurnList
    line: Line
    reach: Reach
    resting: TurnList
    preamble: Preamble

    @property
    def kept_as(self) -> TurnList:
        """The turns as they are kept: with their answers in full, whatever else is trimmed."""
        return self.line.shown_parts(self.reach.after(0))[0]


@dataclass(frozen=True)
class Compacted:
    """A compaction that freed something; its entries are not stored yet.

    Attributes:
        summary: empty where none was needed.
    """

    entries: tuple[Entry, ...]
    result: CompactResult
    summary: str
    by: Maker
    warnings: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """Where it is stored."""
        return self.entries[0].id

    @property
    def has_trimmed(self) -> bool:
        """Whether anything of what it kept is trimmed."""
        trims = (entry for entry in self.entries if isinstance(entry, TrimEntry))
        return any(trim.tokens_after < trim.tokens_before for trim in trims)

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON."""
        return compaction_json(self.result, self.entry, self.summary, self.by)


def compaction_json(
    result: CompactResult, entry: str | None, summary: str, by: Maker
) -> dict[str, object]:
    """Return what a compaction did, as JSON; `entry` is None where there was nothing to do."""
    return {
        "before_tokens": result.before_tokens,
        "after_tokens": result.after_tokens,
        "before_messages": result.before_messages,
        "after_messages": result.after_messages,
        "strategies_run": list(result.strategies_run),
        "entry": entry,
        "summary": summary,
        "by": by,
    }


def standing(base: Base, budget: int) -> Standing:
    """Return what a request holds as far as that lasts."""
    layers = base.draft.layers
    beside = layers[Layer.T] + layers[Layer.L1] + base.standing_tail
    return Standing(budget, beside, layers[Layer.L4], layers[Layer.W], layers[Layer.L5])


def trim_due(
    base: Base, inputs: PrepareInputs, ports: Ports, room: Room, why: Why | None
) -> tuple[Entry, ...]:
    """Return the trim that has to be made now, if any.

    Args:
        why: why a compaction is due, where this does not spare it.
    """
    upkeep, now = inputs.upkeep, standing(base, room.budget)
    if upkeep is None or not upkeep.policy.should_trim(now.used, now.budget):
        return ()
    has_answers = not (upkeep.auto_compact and upkeep.can_summarise)
    has_answers = has_answers or _is_tripped(inputs, ports, room)
    least_share = LEAST_SHARE_OF_WAY if why is None else LEAST_SHARE_BEFORE_COMPACTION
    messages = base.line, now.beside_line, now.budget, upkeep, base.reach
    trim = plan_trim(*messages, has_answers=has_answers, least_share=least_share)
    if trim is None:
        return ()
    place = ports.new_id(), None, ports.now()
    return (trim.entry(place, Epoch(room.budget, inputs.model)),)


def compaction_due(base: Base, inputs: PrepareInputs, ports: Ports, room: Room) -> Why | None:
    """Return why a compaction has to be made now, if one has.

    Before a further question is accepted, a chat that is blocked is compacted whatever the
    settings say.
    """
    upkeep = inputs.upkeep
    if upkeep is None or _is_tripped(inputs, ports, room):
        return None
    now = standing(base, room.budget)
    if upkeep.auto_compact:
        return "auto" if now.should_compact(upkeep) else None
    is_blocked = inputs.request == 1 and upkeep.policy.is_blocked(now.used, now.budget)
    return "block" if is_blocked else None


def foretell(
    past: Past, now: Standing, inputs: PrepareInputs, ports: Ports, room: Room, why: Why
) -> Compacted | None:
    """Return about what `compact` would come to; no model is asked and nothing is remembered."""
    has_model = inputs.upkeep is not None and inputs.upkeep.can_summarise
    order = replace(_order(past, now, inputs, ports, room, why), is_foretold=has_model)
    return _compacted(order, past, now, inputs, replace(ports, summarise=None, breaker=None), room)


def compact(
    past: Past, now: Standing, inputs: PrepareInputs, ports: Ports, room: Room, why: Why
) -> Compacted | None:
    """Return a compaction of the history, or `None` where there is nothing that it would free.

    Raises:
        Whatever the port for summaries raises when it is cancelled.
    """
    order = _order(past, now, inputs, ports, room, why)
    return _compacted(order, past, now, inputs, ports, room)


def _compacted(
    order: Order, past: Past, now: Standing, inputs: PrepareInputs, ports: Ports, room: Room
) -> Compacted | None:
    outcome = run_chain(order, ports.summarise)
    if not outcome.is_attempt:
        return None
    trim, after_tokens = _trimmed_anew(order, outcome, past, now)
    result = result_of(order, outcome, after_tokens)
    has_shrunk = result.after_tokens < result.before_tokens
    if ports.breaker is not None:
        ports.breaker.record(inputs.model, room.budget, has_shrunk)
    if not has_shrunk:
        return None
    entries = _entries(outcome, result, inputs, ports, room)
    if trim is not None:
        place = ports.new_id(), None, ports.now()
        entries = (*entries, trim.entry(place, Epoch(room.budget, inputs.model)))
    return Compacted(entries, result, outcome.summary, outcome.by, tuple(outcome.warnings))


def _trimmed_anew(
    order: Order, outcome: Outcome, past: Past, now: Standing
) -> tuple[Trim | None, int]:
    """Decide again how far the kept turns are trimmed; return that and what the history takes."""
    if past.reach == Reach():
        return None, outcome.tokens(order.counter)
    summary, counter = outcome.summary_tokens(order.counter), order.counter
    kept, gone = past.line.history[outcome.first_kept :], past.line.history[: outcome.first_kept]
    history = TurnList.of(with_messages(turn, outcome.cleared, counter) for turn in kept)
    line = replace(past.line, history=history)
    question = 0 if line.question is None else count_message(line.question, counter)
    target = min(order.target, order.shown_tokens - 1) - summary + now.work + question
    reach, trim = plan_anew(line, past.reach.after(gone.message_count), target)
    return trim, summary + line.shown_parts(reach)[0].tokens


def past_of(sent: Base, planned: Base) -> Past:
    """Return the history of a request.

    Args:
        sent: what it would be with the trims that are stored.
        planned: with a further trim that is due but not enough by itself.
    """
    draft = sent.draft
    return Past(draft.history, sent.line, planned.reach, sent.resting, draft.preamble)


def _order(
    past: Past, now: Standing, inputs: PrepareInputs, ports: Ports, room: Room, why: Why
) -> Order:
    task = SummaryTask(
        said=(),
        sent=(),
        preamble=past.preamble,
        room=room,
        model=inputs.model,
        session=inputs.session,
        most_tokens=summary_size(now.room),
        instructions=inputs.summary_instructions,
    )
    return Order(
        shown=tuple(past.shown),
        kept_as=tuple(past.kept_as),
        said=as_said(past.line.history, ports.counter),
        resting=as_said(past.resting, ports.counter),
        continues=inputs.previous is not None and not past.resting,
        target=int(now.room * TARGET) - now.work,
        is_whole=why == "asked",
        is_foretold=False,
        pinned=past.line.pinned,
        task=task,
        counter=ports.counter,
    )


def _is_tripped(inputs: PrepareInputs, ports: Ports, room: Room) -> bool:
    return ports.breaker is not None and ports.breaker.is_tripped(inputs.model, room.budget)


def _entries(
    outcome: Outcome, result: CompactResult, inputs: PrepareInputs, ports: Ports, room: Room
) -> tuple[Entry, ...]:
    now, kept = ports.now(), outcome.turns
    transform_id = ports.new_id()
    patch = _patch(outcome, result, now)
    figures = f"{result.before_tokens:,} → {result.after_tokens:,} tokens"
    markdown = outcome.summary.removeprefix(f"{HEAD}\n")
    display = {"title": "Compacted", "summary": figures, "markdown": markdown}
    transform = TransformEntry(transform_id, None, now, COMPACTION, patch, display)
    if not outcome.drop_to:
        return (transform,) if patch else ()
    drop = DropEntry(
        id=ports.new_id(),
        parent_id=transform_id,
        timestamp=now,
        up_to_entry_id=kept[outcome.drop_to].turn.entry_ids[0],
        tokens_before=sum(turn.tokens for turn in kept),
        tokens_after=sum(turn.tokens for turn in kept[outcome.drop_to :]),
        reason=ROOM,
        budget=room.budget,
        extra=FrozenMapping({MODEL: inputs.model}),
    )
    return (transform, drop) if patch else (drop,)


def _patch(outcome: Outcome, result: CompactResult, now: str) -> tuple[dict[str, object], ...]:
    reason = COMPACTED if outcome.summary else CLEARED
    cached = {"scope": "cached", "invalidateCacheReason": reason}
    there = {message.id for turn in outcome.turns for message in turn.messages}
    cleared: list[dict[str, object]] = [
        {**cached, "op": "message_replace", "entryId": name, "parts": message.to_dict()["content"]}
        for name, message in outcome.cleared.items()
        if name in there
    ]
    if not outcome.summary:
        return tuple(cleared)
    apply: dict[str, object] = {
        **cached,
        "op": "compaction_apply",
        "summary": outcome.summary,
        "timestamp": now,
        "firstKeptEntryId": outcome.turns[0].messages[0].id,
        "tokensBefore": result.before_tokens,
        "tokensAfter": result.after_tokens,
        "by": outcome.by,
        "strategies": list(result.strategies_run),
    }
    return (*cleared, apply)
