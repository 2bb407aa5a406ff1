"""Prepare one request, from the entries of a session to a request that may be sent.

Replay the path → run hooks → apply stored trims and drops → add the turn's context, carry-forward
and memory → measure → trim → compact → run ephemeral hooks → add the note on usage → guard →
compare with the previous request → report → place marks → `PreparedRequest`. Only compaction calls
a model. A preview writes nothing, runs no hook, and has an outline in place of a model's summary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from context.accounting import make_report, measure_layers
from context.assemble.apply_hooks import (
    HookedPath,
    add_entries,
    apply_ephemeral_hooks,
    replay_with_hooks,
)
from context.assemble.builder import RequestPlan, build_plan
from context.assemble.inputs import Ports, PrepareInputs, compute_request_budget
from context.assemble.request import Preamble, RequestDraft, Tail
from context.budget import BudgetPolicy, RequestBudget
from context.envelope import ContextEnvelope
from context.errors import ContextOverflow
from context.fit.cache import Continuation, hash_prefix
from context.fit.compact import Compaction, compact_history, make_history, preview_compaction
from context.fit.drop import make_drop_entry
from context.fit.guard import GuardReport, PreparedRequest, can_fit, enforce_budget, seal
from context.fit.marks import CacheMark, place_marks
from context.fit.policy import Why, add_usage_note, decide_compaction, decide_trim, measure_usage
from context.history.boundaries import Epoch
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn
from context.layers import Layer
from context.log.entries import Entry
from context.messages import FrozenMapping, Message
from context.report.report import Actions, ContextReport, Prefix, When

__all__ = [
    "Mode",
    "Ports",
    "PrepareInputs",
    "prepare",
]

Mode = Literal["send", "preview"]


def prepare(inputs: PrepareInputs, ports: Ports, mode: Mode = "send") -> PreparedRequest:
    """Build a request that fits its budget, with a report of its content and of what was left out.

    New entries (transforms, a trim, a compaction, a drop) are appended in one write, unless this
    is a preview.

    Raises:
        ContextOverflow: when instructions, tools and the user message alone exceed the budget; then
            nothing is appended.
        ContextHookError: when a hook fails; then nothing is appended either.
        BadInputs: when the path does not end with this turn's user message or its work.
    """
    is_sent = mode == "send"
    room = compute_request_budget(inputs, ports.counter)
    decided = _decide(inputs, ports, room, replay_with_hooks(inputs, ports, room, is_sent), is_sent)
    shaped, base = _apply_ephemerals(decided, inputs, ports, room) if is_sent else decided.parts
    policy = BudgetPolicy() if inputs.history_policy is None else inputs.history_policy.policy
    base = replace(base, draft=add_usage_note(base.draft, room.budget, policy))
    guarded = enforce_budget(base.draft, room.budget, base.standing_tail)
    when: When = "last" if is_sent else "next"
    report = make_report(inputs, room, shaped, base, guarded, when, decided.actions)
    if not guarded.fits:
        raise _make_overflow(report)
    prepared = seal(guarded, shaped.envelope, report, _place_marks(inputs, guarded.draft))
    if is_sent:
        _append(inputs, ports, room, shaped, base, guarded)
    return prepared


@dataclass(frozen=True)
class _Decided:
    """A request after the decisions to trim and to compact."""

    shaped: HookedPath
    base: RequestPlan
    has_trimmed: bool = False
    compacted: Compaction | None = None
    why: Why | None = None

    @property
    def parts(self) -> tuple[HookedPath, RequestPlan]:
        return self.shaped, self.base

    @property
    def actions(self) -> Actions:
        compacted = self.compacted
        if compacted is None:
            return Actions(self.has_trimmed)
        is_blocked = self.why == "block"
        return Actions(self.has_trimmed, True, is_blocked, compacted.warnings, compacted.to_dict())

    def with_entries(
        self, entries: tuple[Entry, ...], inputs: PrepareInputs, ports: Ports, room: RequestBudget
    ) -> "_Decided":
        shaped = add_entries(self.shaped, entries, inputs, ports, room)
        base = build_plan(inputs, ports, room, shaped, self.base.prior)
        return replace(self, shaped=shaped, base=base)


def _decide(
    inputs: PrepareInputs, ports: Ports, room: RequestBudget, shaped: HookedPath, is_sent: bool
) -> _Decided:
    """Decide whether to trim and to compact. Nothing is decided for a request that cannot fit.

    A trim can make a compaction unnecessary. If it does not, the trim is discarded, and the
    compaction decides how far the turns that it keeps are trimmed.
    """
    decided = _Decided(shaped, build_plan(inputs, ports, room, shaped))
    if not can_fit(decided.base.draft, room.budget):
        return decided
    trimmed, why = decided, decide_compaction(decided.base, inputs, ports, room)
    if trims := decide_trim(decided.base, inputs, ports, room, why):
        trimmed = replace(decided.with_entries(trims, inputs, ports, room), has_trimmed=True)
        why = decide_compaction(trimmed.base, inputs, ports, room)
    if why is None:
        return trimmed
    past, now = make_history(decided.base, trimmed.base), measure_usage(trimmed.base, room.budget)
    settle = compact_history if is_sent else preview_compaction
    compacted = settle(past, now, inputs, ports, room, why)
    if compacted is None:
        return trimmed
    decided = decided.with_entries(compacted.entries, inputs, ports, room)
    return replace(decided, has_trimmed=compacted.has_trimmed, compacted=compacted, why=why)


def _apply_ephemerals(
    decided: _Decided, inputs: PrepareInputs, ports: Ports, room: RequestBudget
) -> tuple[HookedPath, RequestPlan]:
    shaped = apply_ephemeral_hooks(decided.shaped, inputs, ports, room)
    if shaped is decided.shaped:
        return decided.parts
    return shaped, build_plan(inputs, ports, room, shaped, decided.base.prior)


def _place_marks(inputs: PrepareInputs, draft: RequestDraft) -> tuple[CacheMark, ...]:
    if inputs.takes_marks is False:
        return ()
    head = (turn for turn in draft.history[:1] if turn.turn.user is None)
    summary = next((message.id for turn in head for message in turn.messages), None)
    return place_marks(draft, inputs.model, summary)


def _append(
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    shaped: HookedPath,
    base: RequestPlan,
    guarded: GuardReport,
) -> None:
    new = list(shaped.new)
    if guarded.cut:
        parent = (new or inputs.path)[-1].id
        new.append(_make_drop(inputs, ports, room, base, guarded, parent))
    if new:
        ports.append(new)


def _make_drop(
    inputs: PrepareInputs,
    ports: Ports,
    room: RequestBudget,
    base: RequestPlan,
    guarded: GuardReport,
    parent: str,
) -> Entry:
    before = base.draft.history
    kept = before[guarded.cut :]
    place, epoch = (ports.new_id(), parent, ports.now()), Epoch(room.budget, inputs.model)
    return make_drop_entry(place, kept[0], (before.tokens, kept.tokens), epoch)


def _make_overflow(report: ContextReport) -> ContextOverflow:
    layers = report.layers
    needed = layers[Layer.L5].tokens
    free = max(0, report.budget - (report.used - needed))
    return ContextOverflow(
        f"Your message has {needed:,} tokens, but only {free:,} are free for it: raise "
        "autoCompactThreshold, shorten the message or split it.",
        report,
    )


def prepare_call(
    preamble: Preamble,
    history: Sequence[MeasuredTurn],
    question: str,
    room: RequestBudget,
    *,
    model: str,
    session: str | None = None,
    temperature: float = 0.0,
    takes_marks: bool = False,
) -> PreparedRequest:
    """Build a request for a single call outside of the turns. Nothing is left out of it.

    Raises:
        ContextOverflow: when the call exceeds its budget.
    """
    tail = Tail((), Message("user", question), preamble.counter)
    draft = RequestDraft(preamble, TurnList.of(history), tail)
    guarded = enforce_budget(draft, room.budget, tail.total)
    report = _make_call_report(draft, room, model, session)
    if not guarded.fits or guarded.left_out:
        raise ContextOverflow(
            f"This call has {draft.used:,} tokens where {room.budget:,} fit.", report
        )
    options = FrozenMapping({"temperature": temperature, "maxTokens": room.reserve})
    envelope = ContextEnvelope(
        system=preamble.system,
        tools=preamble.tools,
        options=options,
    )
    marks = place_marks(draft, model) if takes_marks else ()
    # No later request continues a call, so its user message needs no cache mark.
    return seal(guarded, envelope, report, tuple(mark for mark in marks if mark.layer != Layer.W))


def _make_call_report(
    draft: RequestDraft, room: RequestBudget, model: str, session: str | None
) -> ContextReport:
    continued = Continuation(Prefix(hash_prefix(draft)))
    return ContextReport(
        session=session,
        when="last",
        request=1,
        model=model,
        room=room,
        layers=measure_layers(draft, continued),
        prefix=continued.prefix,
        tools=tuple(tool.name for tool in draft.preamble.tools),
    )
