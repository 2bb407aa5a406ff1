"""The steps of the budget guard: each leaves out content, the least valuable first.

`context.fit.guard` runs the steps in the order of `STEPS` until the request fits. A step that drops
turns can store this for later requests. All other steps affect a single request.

Reasons: ARCHITECTURE.md, "The guard".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context.assemble.request import RequestDraft, make_preamble
from context.fit.drop import (
    CUT_TO,
    ROOM,
    FittedTurns,
    fit_for_now,
    fit_turns,
    fit_without_guarantee,
)
from context.fit.shorten import (
    shorten_answer,
    shorten_summary,
    shorten_tail,
    shrink_older_results,
    shrink_work,
)
from context.history.tool_pairing import list_tool_results
from context.history.turn_list import TurnList, count_summaries, is_summary
from context.history.turns import MeasuredTurn
from context.layers import Layer, Segment
from context.messages import Message
from context.report.report import LeftOut
from context.tokens import TokenCounter, count_message, count_segment

TAIL: Final = "tail"
SHORTENED: Final = "shortened"
SUMMARY: Final = "summary"
SUMMARY_HALVED: Final = "summary_shortened"
BUDGET: Final = "budget"
WORK: Final = "work"
END_LOOP: Final = "end_loop"
GUARANTEE_BROKEN: Final = "history_guarantee_broken"


@dataclass(frozen=True)
class GuardState:
    """The content of a request between two steps of the budget guard.

    Attributes:
        budget: the token limit of the request.
        lasting_tokens: the tokens to reserve in this and later requests for tools, instructions and
            the user message with its context.
        steps: the names of the steps that changed the content, in order.
        left_out: everything left out so far.
        cut: the number of old turns that later requests leave out too.
    """

    draft: RequestDraft
    budget: int
    lasting_tokens: int
    steps: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cut: int = 0

    @property
    def history_budget_now(self) -> int:
        """The tokens available for the history in this request."""
        layers, tail = self.draft.layers, self.draft.tail.total + self.draft.uncached_tokens
        return self.budget - layers[Layer.T] - layers[Layer.L1] - tail - layers[Layer.W]

    def after(self, step: str, draft: RequestDraft, left_out: Sequence[LeftOut]) -> "GuardState":
        """Return the state after a step of the budget guard, or this state if nothing was left out.

        Args:
            step: the name of the step.
            draft: the content of the request after the step.
            left_out: the content that the step left out.
        """
        return self.done(step, draft, left_out) if left_out else self

    def done(self, step: str, draft: RequestDraft, left_out: Sequence[LeftOut]) -> "GuardState":
        """Return the state after a step of the budget guard, even if nothing was left out.

        Args:
            step: the name of the step.
            draft: the content of the request after the step.
            left_out: the content that the step left out.
        """
        steps = self.steps if self.steps[-1:] == (step,) else (*self.steps, step)
        all_left_out = (*self.left_out, *left_out)
        return replace(self, draft=draft, steps=steps, left_out=all_left_out)

    def with_turns(self, fitted: FittedTurns, step: str, reason: str) -> "GuardState":
        """Return the state after a step that dropped turns from the history.

        Pinned items of dropped turns move to the start of the context that is carried forward.

        Args:
            fitted: the turns to keep and the turns to drop.
            step: the name of the step.
            reason: the reason given in the report.
        """
        if not fitted.dropped:
            return self
        pins, tail = self.draft.pins, self.draft.tail
        gone = {message.id for turn in fitted.dropped for message in turn.messages}
        moved = tuple(pins.segments[name] for name in pins.segments if name in gone)
        tail = replace(tail, segments=(*moved, *tail.segments)) if moved else tail
        draft = replace(self.draft, history=fitted.kept, tail=tail)
        return self.after(step, draft, [record_dropped_turns(fitted.dropped, reason)])


def record_dropped_turns(dropped: Sequence[MeasuredTurn], reason: str) -> LeftOut:
    """Build the record of dropped turns for the context report."""
    turns = TurnList.of(dropped)
    return LeftOut(Layer.L4, turns.entries, len(turns), turns.tokens, reason)


def record_dropped_segment(segment: Segment, reason: str, counter: TokenCounter) -> LeftOut:
    """Build the record of a dropped segment for the context report."""
    return LeftOut(segment.layer, (segment.id,), 0, count_segment(segment, counter), reason)


def _cut_history(passing: GuardState) -> GuardState:
    """Drop old turns from this and later requests if the history itself exceeds its token budget.

    The history is cut well below its budget, so the next drop is needed only much later.
    """
    history_budget = passing.budget - passing.lasting_tokens
    work = passing.draft.layers[Layer.W]
    if passing.draft.layers[Layer.L4] + work <= history_budget:
        return passing
    fitted = fit_turns(passing.draft.history, int(history_budget * CUT_TO) - work)
    return replace(passing.with_turns(fitted, "drop", ROOM), cut=len(fitted.dropped))


def _make_room(passing: GuardState) -> GuardState:
    """Leave out old turns, from this request only, if the user message with its context is large.

    Several passes may be needed, because pinned items of dropped turns move to the context.
    """
    while passing.draft.used > passing.budget:
        fitted = fit_for_now(passing.draft.history, passing.history_budget_now)
        if not fitted.dropped:
            break
        passing = passing.with_turns(fitted, "tail", TAIL)
    return passing


def _shorten_summary(passing: GuardState) -> GuardState:
    return _replace_summary(passing, shorten_summary, "shorten_summary", SUMMARY_HALVED)


def _leave_summary_out(passing: GuardState) -> GuardState:
    """Leave out the summary of earlier turns, from this request only.

    The log still contains the summary, so the next request that has room contains it again.
    """
    return _replace_summary(passing, lambda _: None, "summary", SUMMARY)


def _replace_summary(
    passing: GuardState, change: Callable[[Message], Message | None], step: str, reason: str
) -> GuardState:
    """Return the state with a shorter summary of earlier turns, or without it.

    Args:
        passing: the state before the step.
        change: returns the new summary, or None to leave it out.
        step: the name of the step.
        reason: the reason given in the report.
    """
    history, counter = passing.draft.history, passing.draft.tail.counter
    head, pinned = history[: count_summaries(history)], passing.draft.pins.messages
    left_out, messages = list[LeftOut](), list[Message]()
    for message in head.messages:
        can_change = is_summary(head[0], message) and message.id not in pinned
        new = change(message) if can_change else message
        saved = count_message(message, counter) - (count_message(new, counter) if new else 0)
        left_out += [LeftOut(Layer.L4, (str(message.id),), 0, saved, reason)] if saved > 0 else []
        messages += [new] if new else []
    rest = [MeasuredTurn.measure(head[0].turn, messages, counter)] if messages else []
    turns = TurnList.of((*rest, *history[len(head) :]))
    return passing.after(step, replace(passing.draft, history=turns), left_out)


def _shorten_answers(passing: GuardState) -> GuardState:
    counter = passing.draft.tail.counter
    over = passing.draft.used - passing.budget
    history, left_out = [], []
    for turn in passing.draft.history:
        messages = []
        for message in turn.messages:
            is_kept = over <= 0 or message.id in passing.draft.pins.messages
            shorter = message if is_kept else shorten_answer(message)
            saved = count_message(message, counter) - count_message(shorter, counter)
            if saved > 0:
                over -= saved
                left_out.append(LeftOut(Layer.L4, (str(message.id),), 0, saved, SHORTENED))
            messages.append(shorter if saved > 0 else message)
        history.append(MeasuredTurn.measure(turn.turn, messages, counter))
    return passing.after("shorten", replace(passing.draft, history=TurnList.of(history)), left_out)


def _shrink_tail(passing: GuardState) -> GuardState:
    draft = passing.draft
    shrunk = shorten_tail(draft.tail, draft.tail.total - (draft.used - passing.budget))
    if shrunk.tail is draft.tail:
        return passing
    counter = draft.tail.counter
    left_out = [record_dropped_segment(segment, BUDGET, counter) for segment in shrunk.left_out]
    return passing.done("shrink_tail", replace(draft, tail=shrunk.tail), left_out)


def _break_guarantee(passing: GuardState) -> GuardState:
    fitted = fit_without_guarantee(passing.draft.history, passing.history_budget_now)
    return passing.with_turns(fitted, GUARANTEE_BROKEN, GUARANTEE_BROKEN)


def _shorten_work(passing: GuardState) -> GuardState:
    draft = passing.draft
    work = draft.work
    for smaller in shrink_older_results(draft.work):
        pairs = zip(draft.work, smaller, strict=True)
        work = tuple(full if _is_spared(full, draft) else short for full, short in pairs)
        if replace(draft, work=work).used <= passing.budget:
            break
    return _with_work(passing, "work", work)


def _is_spared(message: Message, draft: RequestDraft) -> bool:
    """Return whether results in a message stay, so that the model does not repeat an act."""
    is_named = message.id in draft.pins.messages or message.id in draft.acts
    return is_named or any(result.is_error for result in list_tool_results(message))


def _end_loop(passing: GuardState) -> GuardState:
    """Remove the tools from the request, so that the model has to answer.

    Keep as many results of tool calls as fit.
    """
    before = passing.draft
    if not before.work:
        return passing
    tools = before.layers[Layer.T]
    bare = make_preamble(before.preamble.system, before.end_tools, before.tail.counter)
    names = tuple(tool.name for tool in before.preamble.tools)
    gone = [LeftOut(Layer.T, names, 0, tools, WORK)] if names else []
    steps = (*passing.steps, END_LOOP)
    passing = replace(passing, steps=steps, left_out=(*passing.left_out, *gone))
    passing = replace(passing, draft=replace(before, preamble=bare))
    if passing.draft.used <= passing.budget:
        return passing
    shrunk = shrink_work(before.work)
    fitting = (work for work in shrunk if replace(passing.draft, work=work).used <= passing.budget)
    return _with_work(passing, "", next(fitting, ()))


def _with_work(passing: GuardState, step: str, work: tuple[Message, ...]) -> GuardState:
    counter, before = passing.draft.tail.counter, passing.draft.work
    now = {message.id: count_message(message, counter) for message in work}
    saved = [(m, count_message(m, counter) - now.get(m.id, 0)) for m in before]
    left_out = [LeftOut(Layer.W, (str(m.id),), 0, size, WORK) for m, size in saved if size > 0]
    after = passing.after(step, replace(passing.draft, work=work), left_out)
    return after if step else replace(after, steps=passing.steps)


STEPS: Final = (
    _shorten_work,
    _cut_history,
    _make_room,
    _shorten_summary,
    _leave_summary_out,
    _shorten_answers,
    _shrink_tail,
    _break_guarantee,
    _end_loop,
)
