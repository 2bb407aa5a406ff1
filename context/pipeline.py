"""Build a request from the log entries of a session.

The steps are: replay the log → run hooks → apply stored trims and drops → add the turn's context,
carry-forward and memory → count tokens → trim → compact → run ephemeral hooks → add a note on usage
→ check the budget → compare with the previous request → report → place cache marks →
`PreparedRequest`. Only compaction calls a model. A preview writes nothing, runs no hook, and uses
an outline in place of a model's summary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from context.accounting import make_report, measure_layers
from context.assemble.apply_hooks import (
    HookedPath,
    add_entries,
    apply_ephemeral_hooks,
    replay_with_hooks,
)
from context.assemble.builder import RequestPlan, build_plan
from context.assemble.inputs import Ports, PrepareInputs, RequestSetup
from context.assemble.request import Preamble, RequestDraft, Tail
from context.budget import BudgetPolicy, RequestBudget
from context.envelope import ContextEnvelope
from context.errors import ContextOverflow
from context.fit.cache import Continuation, hash_prefix
from context.fit.compact import PlannedCompaction, compact_history, make_history, preview_compaction
from context.fit.drop import make_drop_entry
from context.fit.guard import GuardReport, PreparedRequest, can_fit, enforce_budget, seal
from context.fit.marks import CacheMark, place_marks
from context.fit.policy import Why, add_usage_note, decide_compaction, decide_trim, measure_usage
from context.history.turn_list import TurnList, count_summaries
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
_NOTE_ROUNDS: Final = 2


def prepare(inputs: PrepareInputs, ports: Ports, mode: Mode = "send") -> PreparedRequest:
    """Build a request that is not larger than its token budget, with a report of its content.

    New log entries (patches of hooks, a trim, a compaction or a drop) are stored in one write.

    Args:
        inputs: the session's log, the context of the turn and the settings.
        ports: the functions that this package calls, such as the one that stores log entries.
        mode: "send", or "preview" to store nothing and run no hook.

    Raises:
        ContextOverflow: when instructions, tools and the user message alone exceed the budget.
            Nothing is stored.
        ContextHookError: when a hook fails. Nothing is stored.
        BadInputs: when the path does not end with this turn's user message or its tool calls.
    """
    is_sent = mode == "send"
    request = RequestSetup.build(inputs, ports)
    hooked_path = replay_with_hooks(request, is_sent)
    fitted = _trim_and_compact(request, hooked_path, is_sent)
    if is_sent:
        fitted = fitted.with_ephemerals(request)
    plan, guarded = _enforce_budget(request, fitted.plan)
    marks = _place_marks(inputs, guarded.draft)
    when: When = "last" if is_sent else "next"
    report = make_report(request, fitted.hooked_path, plan, guarded, when, fitted.actions)
    if not guarded.fits:
        raise _make_overflow(report)
    if not is_sent:
        report = report.for_preview(guarded.draft.tail.question)
    prepared = seal(guarded, fitted.hooked_path.envelope, report, marks)
    if is_sent:
        _append(request, fitted.hooked_path, plan, guarded)
    return prepared


@dataclass(frozen=True)
class _FittedPlan:
    """A plan of a request, after it was decided which messages are shortened or compacted.

    Attributes:
        hooked_path: the replayed log with the changes of hooks.
        plan: the plan of the request.
        has_trimmed: whether old messages were shortened.
        compacted: the compaction of old turns, or None.
        why: why the history was compacted, or None.
    """

    hooked_path: HookedPath
    plan: RequestPlan
    has_trimmed: bool = False
    compacted: PlannedCompaction | None = None
    why: Why | None = None

    @property
    def actions(self) -> Actions:
        compacted = self.compacted
        if compacted is None:
            return Actions(self.has_trimmed)
        is_blocked = self.why == "block"
        return Actions(self.has_trimmed, True, is_blocked, compacted.warnings, compacted.to_dict())

    def with_entries(self, request: RequestSetup, entries: tuple[Entry, ...]) -> "_FittedPlan":
        """Return a copy of the plan with new log entries added.

        Args:
            request: the setup of the request.
            entries: the new log entries, which are not stored yet.
        """
        return self._with_path(request, add_entries(self.hooked_path, entries, request))

    def with_ephemerals(self, request: RequestSetup) -> "_FittedPlan":
        """Return a copy of the plan with the changes of `ephemeral` hooks."""
        hooked_path = apply_ephemeral_hooks(self.hooked_path, request)
        return self if hooked_path is self.hooked_path else self._with_path(request, hooked_path)

    def _with_path(self, request: RequestSetup, hooked_path: HookedPath) -> "_FittedPlan":
        plan = build_plan(request, hooked_path, self.plan.carry_forward)
        return replace(self, hooked_path=hooked_path, plan=plan)


def _trim_and_compact(request: RequestSetup, hooked_path: HookedPath, is_sent: bool) -> _FittedPlan:
    """Shorten old messages and compact the history, as the history policy decides.

    A request stays unchanged if its required content alone exceeds the budget. If shortening
    messages does not free enough tokens, the history is compacted. The compaction then decides
    which of the remaining messages are shortened.

    Args:
        request: the setup of the request.
        hooked_path: the replayed log with the changes of hooks.
        is_sent: whether the request is sent, and not only previewed.
    """
    fitted = _FittedPlan(hooked_path, build_plan(request, hooked_path))
    if not can_fit(fitted.plan.draft, request.budget_tokens):
        return fitted
    trimmed, why = fitted, decide_compaction(fitted.plan, request)
    if trims := decide_trim(fitted.plan, request, why):
        trimmed = replace(fitted.with_entries(request, trims), has_trimmed=True)
        why = decide_compaction(trimmed.plan, request)
    if why is None:
        return trimmed
    history = make_history(fitted.plan, trimmed.plan)
    usage = measure_usage(trimmed.plan, request.budget_tokens)
    compact = compact_history if is_sent else preview_compaction
    compacted = compact(history, usage, request, why)
    if compacted is None:
        return trimmed
    fitted = fitted.with_entries(request, compacted.entries)
    return replace(fitted, has_trimmed=compacted.has_trimmed, compacted=compacted, why=why)


def _enforce_budget(request: RequestSetup, plan: RequestPlan) -> tuple[RequestPlan, GuardReport]:
    """Make a request fit its budget. A note tells the model if most of the budget is then used.

    The note says the size of what the guard lets through, and must fit itself. It is written once
    more with the size that includes it.
    """
    history_policy = request.inputs.history_policy
    policy = BudgetPolicy() if history_policy is None else history_policy.policy
    budget, lasting = request.budget_tokens, (plan.lasting_tail_tokens, plan.lasting_start_tokens)
    guarded, noted = enforce_budget(plan.draft, budget, *lasting), plan
    for _ in range(_NOTE_ROUNDS if guarded.fits else 0):
        draft = add_usage_note(plan.draft, guarded.draft, budget, policy)
        if draft.uncached == noted.draft.uncached:
            break
        again = enforce_budget(draft, budget, *lasting)
        if not again.fits:
            break
        noted, guarded = replace(plan, draft=draft), again
    return noted, guarded


def _place_marks(inputs: PrepareInputs, draft: RequestDraft) -> tuple[CacheMark, ...]:
    if inputs.takes_marks is False:
        return ()
    head = (turn for turn in draft.history[:1] if turn.turn.user is None)
    summary = next((message.id for turn in head for message in turn.messages), None)
    return place_marks(draft, inputs.model, summary)


def _append(
    request: RequestSetup, hooked_path: HookedPath, plan: RequestPlan, guarded: GuardReport
) -> None:
    new = list(hooked_path.new)
    if guarded.cut:
        parent = (new or request.inputs.path)[-1].id
        new.append(_make_drop(request, plan, guarded, parent))
    if new:
        request.ports.append(new)


def _make_drop(
    request: RequestSetup, plan: RequestPlan, guarded: GuardReport, parent: str
) -> Entry:
    before = plan.draft.history
    first = count_summaries(before)
    kept = before.without(first, first + guarded.cut)
    place = request.ports.new_id(), parent, request.ports.now()
    return make_drop_entry(place, kept[first], (before.tokens, kept.tokens), request.epoch)


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
    request_budget: RequestBudget,
    *,
    model: str,
    session: str | None = None,
    temperature: float | None = 0.0,
    takes_marks: bool = False,
) -> PreparedRequest:
    """Build a request for a single model call outside of any turn, such as a summary.

    Nothing is left out of the request.

    Args:
        preamble: the tools and instructions.
        history: the turns to send.
        question: the text of the user message.
        request_budget: the token budget of the request.
        model: the name of the model.
        session: the id of the session, or None.
        temperature: the temperature of the model, or None to send none.
        takes_marks: whether the provider accepts cache marks.

    Raises:
        ContextOverflow: when the request exceeds its budget.
    """
    tail = Tail((), Message("user", question), preamble.counter)
    draft = RequestDraft(preamble, TurnList.of(history), tail)
    guarded = enforce_budget(draft, request_budget.budget, tail.total)
    report = _make_call_report(draft, request_budget, model, session)
    if not guarded.fits or guarded.left_out:
        raise ContextOverflow(
            f"This call has {draft.used:,} tokens where {request_budget.budget:,} fit.", report
        )
    options = FrozenMapping({"temperature": temperature, "maxTokens": request_budget.reserve})
    envelope = ContextEnvelope(
        system=preamble.system,
        tools=preamble.tools,
        options=options,
    )
    marks = place_marks(draft, model) if takes_marks else ()
    # No later request continues a call, so its user message needs no cache mark.
    return seal(guarded, envelope, report, tuple(mark for mark in marks if mark.layer != Layer.W))


def _make_call_report(
    draft: RequestDraft, request_budget: RequestBudget, model: str, session: str | None
) -> ContextReport:
    continued = Continuation(Prefix(hash_prefix(draft)))
    return ContextReport(
        session=session,
        when="last",
        request=1,
        model=model,
        request_budget=request_budget,
        layers=measure_layers(draft, continued),
        prefix=continued.prefix,
        tools=tuple(tool.name for tool in draft.preamble.tools),
    )
