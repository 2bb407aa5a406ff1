"""Shorten a request that a service rejected as too long.

The history is compacted once, and the request is prepared again for a smaller window. The window is
the limit that the service names. If even our largest request for that limit would not be smaller,
the figures of the service contradict our counts: the safety factor is raised, and the window is a
part of the rejected request.

Reasons: ARCHITECTURE.md, "The guard".
"""

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Final

from chains.events import Event
from chains.request.draft import PreparedTurn, prepare_step
from chains.request.request import TurnContext
from chains.request.usage import build_factor_entry
from chains.turn.compact import compact, prepare_request
from context.budget import compute_budget
from context.errors import ContextOverflow
from context.layers import Layer
from context.report.report import ContextReport

__all__ = ["shrink_request"]

LEAST_SHARE: Final = 0.5
_NUMBER: Final = re.compile(r"\d[\d,]*")
_FIXED_LAYERS: Final = (Layer.T, Layer.L1, Layer.E, Layer.L5)


def shrink_request(
    context: TurnContext, before: PreparedTurn, overflow: ContextOverflow
) -> Generator[Event, None, PreparedTurn | None]:
    """Compact the session, and prepare a rejected request again in a smaller window.

    Args:
        context: the values shared by the steps of the turn.
        before: the rejected request.
        overflow: the exception for the rejected request.

    Returns:
        The new request, or None if it would not be smaller. If the figures of the service
        contradict our counts, it is returned in any case, because it may be accepted as it is.
    """
    report = before.request.report
    window = _find_window(context, report, overflow)
    if is_contradicted := window is None:
        _raise_factor(context, report)
        window = _find_smaller_window(report, overflow)
    lower = _with_threshold(context, window)
    forced = yield from compact(lower, turn=before.turn, reason="overflow")
    try:
        turn = yield from _prepare_again(lower, before)
    except ContextOverflow:
        least = _with_threshold(context, _find_least_window(report))
        try:
            turn = yield from _prepare_again(least, before)
        except ContextOverflow:
            if forced.entry is None and not is_contradicted:
                return None
            turn = yield from _prepare_again(context, before)
    is_smaller = turn.request.report.used < report.used
    return turn if is_smaller or is_contradicted else None


def _find_window(
    context: TurnContext, report: ContextReport, overflow: ContextOverflow
) -> int | None:
    """Return the size of the window to prepare the request again for.

    Return None if the service names a limit in which the request fits by our counts.
    """
    if overflow.limit is None:
        return report.used
    request, sizes = context.request, report.request_budget
    limits = min(request.threshold, overflow.limit), context.model.input_limit
    allowed = compute_budget(context.counter, *limits, request.max_output_tokens, sizes.factor)
    return overflow.limit if allowed.budget < report.used else None


def _find_smaller_window(report: ContextReport, overflow: ContextOverflow) -> int:
    """Return a window smaller than the request, by the share that the figures of a service name."""
    limit = overflow.limit or 0
    numbers = (int(found.replace(",", "")) for found in _NUMBER.findall(str(overflow)))
    sent = min((number for number in numbers if number > limit), default=limit)
    share = limit / sent if sent else 1.0
    return int(report.used * max(LEAST_SHARE, share))


def _find_least_window(report: ContextReport) -> int:
    """Return the window in which half of what can be left out of a request fits."""
    fixed = sum(report.layers[layer].tokens for layer in _FIXED_LAYERS if layer in report.layers)
    sizes = report.request_budget
    window = int((fixed + report.used) / 2 * sizes.factor)
    return min(window + sizes.reserve, window * 4 // 3) + 1


def _with_threshold(context: TurnContext, window: int) -> TurnContext:
    request = context.request
    request = replace(request, threshold=min(request.threshold, window))
    return replace(context, request=request)


def _raise_factor(context: TurnContext, report: ContextReport) -> None:
    session = context.session
    session.append([build_factor_entry(session, report)])


def _prepare_again(
    context: TurnContext, before: PreparedTurn
) -> Generator[Event, None, PreparedTurn]:
    return (
        yield from prepare_request(
            context, lambda context: prepare_step(context, before, replaces_last=True)
        )
    )
