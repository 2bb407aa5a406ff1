"""The steps of the budget guard: each leaves out content, the least valuable first.

`context.fit.guard` runs the steps in the order of `STEPS` until the request fits. A step that drops
turns can store this for later requests. All other steps affect a single request.

Reasons: ARCHITECTURE.md, "The guard".
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from context.assemble.request import END_LOOP, Request
from context.draft import RequestDraft, make_preamble
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
GUARANTEE_BROKEN: Final = "history_guarantee_broken"


def _note_step(
    request: Request, step: str, draft: RequestDraft, left_out: Sequence[LeftOut]
) -> Request:
    """Return the request after a step of the budget guard.

    Args:
        request: the request before the step.
        step: the name of the step.
        draft: the content of the request after the step.
        left_out: the content that the step left out.
    """
    steps = request.steps if request.steps[-1:] == (step,) else (*request.steps, step)
    return replace(request, draft=draft, steps=steps, left_out=(*request.left_out, *left_out))


def _note_losses(
    request: Request, step: str, draft: RequestDraft, left_out: Sequence[LeftOut]
) -> Request:
    """Return the request after a step, or the request before it if nothing was left out."""
    return _note_step(request, step, draft, left_out) if left_out else request


def _drop_turns(request: Request, fitted: FittedTurns, step: str, reason: str) -> Request:
    """Return the request after a step that dropped turns from the history.

    Pinned items of dropped turns move to the start of the context that is carried forward.

    Args:
        request: the request before the step.
        fitted: the turns to keep and the turns to drop.
        step: the name of the step.
        reason: the reason given in the report.
    """
    if not fitted.dropped:
        return request
    pins, tail = request.draft.pins, request.draft.tail
    gone = {message.id for turn in fitted.dropped for message in turn.messages}
    moved = tuple(pins.segments[name] for name in pins.segments if name in gone)
    tail = replace(tail, segments=(*moved, *tail.segments)) if moved else tail
    draft = replace(request.draft, history=fitted.kept, tail=tail)
    return _note_step(request, step, draft, [record_dropped_turns(fitted.dropped, reason)])


def _compute_history_budget(request: Request) -> int:
    """Return the tokens available for the history in this request."""
    draft = request.draft
    layers, tail = draft.layers, draft.tail.total + draft.uncached_tokens
    return request.budget_tokens - layers[Layer.T] - layers[Layer.L1] - tail - layers[Layer.W]


def record_dropped_turns(dropped: Sequence[MeasuredTurn], reason: str) -> LeftOut:
    """Build the record of dropped turns for the context report."""
    turns = TurnList.of(dropped)
    return LeftOut(Layer.L4, turns.entries, len(turns), turns.tokens, reason)


def record_dropped_segment(segment: Segment, reason: str, counter: TokenCounter) -> LeftOut:
    """Build the record of a dropped segment for the context report."""
    return LeftOut(segment.layer, (segment.id,), 0, count_segment(segment, counter), reason)


def _cut_history(request: Request) -> Request:
    """Drop old turns from this and later requests if the history itself exceeds its token budget.

    The history is cut well below its budget, so the next drop is needed only much later.
    """
    history_budget = request.budget_tokens - request.lasting_tokens
    work = request.draft.layers[Layer.W]
    if request.draft.layers[Layer.L4] + work <= history_budget:
        return request
    fitted = fit_turns(request.draft.history, int(history_budget * CUT_TO) - work)
    return replace(_drop_turns(request, fitted, "drop", ROOM), cut=len(fitted.dropped))


def _make_room(request: Request) -> Request:
    """Leave out old turns, from this request only, if the user message with its context is large.

    Several passes may be needed, because pinned items of dropped turns move to the context.
    """
    while request.draft.used > request.budget_tokens:
        fitted = fit_for_now(request.draft.history, _compute_history_budget(request))
        if not fitted.dropped:
            break
        request = _drop_turns(request, fitted, "tail", TAIL)
    return request


def _shorten_summary(request: Request) -> Request:
    return _replace_summary(request, shorten_summary, "shorten_summary", SUMMARY_HALVED)


def _leave_summary_out(request: Request) -> Request:
    """Leave out the summary of earlier turns, from this request only.

    The log still contains the summary, so the next request that has room contains it again. What
    was shortened before is reported once, as left out.
    """
    halved = {one.entries: one.tokens for one in request.left_out if one.reason == SUMMARY_HALVED}
    request = _replace_summary(request, lambda _: None, "summary", SUMMARY)
    out = {one.entries for one in request.left_out if one.reason == SUMMARY}
    left_out = tuple(
        replace(one, tokens=one.tokens + halved.get(one.entries, 0))
        if one.reason == SUMMARY
        else one
        for one in request.left_out
        if one.reason != SUMMARY_HALVED or one.entries not in out
    )
    return replace(request, left_out=left_out)


def _replace_summary(
    request: Request, change: Callable[[Message], Message | None], step: str, reason: str
) -> Request:
    """Return the request with a shorter summary of earlier turns, or without it.

    Args:
        request: the request before the step.
        change: returns the new summary, or None to leave it out.
        step: the name of the step.
        reason: the reason given in the report.
    """
    history, counter = request.draft.history, request.draft.tail.counter
    head, pinned = history[: count_summaries(history)], request.draft.pins.messages
    left_out, messages = list[LeftOut](), list[Message]()
    for message in head.messages:
        can_change = is_summary(head[0], message) and message.id not in pinned
        new = change(message) if can_change else message
        saved = count_message(message, counter) - (count_message(new, counter) if new else 0)
        left_out += [LeftOut(Layer.L4, (str(message.id),), 0, saved, reason)] if saved > 0 else []
        messages += [new] if new else []
    rest = [MeasuredTurn.measure(head[0].turn, messages, counter)] if messages else []
    turns = TurnList.of((*rest, *history[len(head) :]))
    return _note_losses(request, step, replace(request.draft, history=turns), left_out)


def _shorten_answers(request: Request) -> Request:
    counter = request.draft.tail.counter
    over = request.draft.used - request.budget_tokens
    history, left_out = [], []
    for turn in request.draft.history:
        messages = []
        for message in turn.messages:
            is_kept = over <= 0 or message.id in request.draft.pins.messages
            shorter = message if is_kept else shorten_answer(message)
            saved = count_message(message, counter) - count_message(shorter, counter)
            if saved > 0:
                over -= saved
                left_out.append(LeftOut(Layer.L4, (str(message.id),), 0, saved, SHORTENED))
            messages.append(shorter if saved > 0 else message)
        history.append(MeasuredTurn.measure(turn.turn, messages, counter))
    return _note_losses(
        request, "shorten", replace(request.draft, history=TurnList.of(history)), left_out
    )


def _shrink_tail(request: Request) -> Request:
    draft = request.draft
    shrunk = shorten_tail(draft.tail, draft.tail.total - (draft.used - request.budget_tokens))
    if shrunk.tail is draft.tail:
        return request
    counter = draft.tail.counter
    left_out = [record_dropped_segment(segment, BUDGET, counter) for segment in shrunk.left_out]
    return _note_step(request, "shrink_tail", replace(draft, tail=shrunk.tail), left_out)


def _break_guarantee(request: Request) -> Request:
    fitted = fit_without_guarantee(request.draft.history, _compute_history_budget(request))
    return _drop_turns(request, fitted, GUARANTEE_BROKEN, GUARANTEE_BROKEN)


def _shorten_work(request: Request) -> Request:
    draft = request.draft
    work = draft.work
    for smaller in shrink_older_results(draft.work):
        pairs = zip(draft.work, smaller, strict=True)
        work = tuple(full if _is_spared(full, draft) else short for full, short in pairs)
        if replace(draft, work=work).used <= request.budget_tokens:
            break
    return _with_work(request, "work", work)


def _is_spared(message: Message, draft: RequestDraft) -> bool:
    """Return whether results in a message stay, so that the model does not repeat an act."""
    is_named = message.id in draft.pins.messages or message.id in draft.acts
    return is_named or any(result.is_error for result in list_tool_results(message))


def _end_loop(request: Request) -> Request:
    """Remove the tools from the request, so that the model has to answer.

    Keep as many results of tool calls as fit.
    """
    before = request.draft
    if not before.work:
        return request
    tools = before.layers[Layer.T]
    bare = make_preamble(before.preamble.system, before.end_tools, before.tail.counter)
    names = tuple(tool.name for tool in before.preamble.tools)
    gone = [LeftOut(Layer.T, names, 0, tools, WORK)] if names else []
    steps = (*request.steps, END_LOOP)
    request = replace(request, steps=steps, left_out=(*request.left_out, *gone))
    request = replace(request, draft=replace(before, preamble=bare))
    if request.draft.used <= request.budget_tokens:
        return request
    shrunk = shrink_work(before.work)
    budget = request.budget_tokens
    fitting = (work for work in shrunk if replace(request.draft, work=work).used <= budget)
    return _with_work(request, "", next(fitting, ()))


def _with_work(request: Request, step: str, work: tuple[Message, ...]) -> Request:
    counter, before = request.draft.tail.counter, request.draft.work
    now = {message.id: count_message(message, counter) for message in work}
    saved = [(m, count_message(m, counter) - now.get(m.id, 0)) for m in before]
    left_out = [LeftOut(Layer.W, (str(m.id),), 0, size, WORK) for m, size in saved if size > 0]
    after = _note_losses(request, step, replace(request.draft, work=work), left_out)
    return after if step else replace(after, steps=request.steps)


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
