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
from functools import partial
from typing import Final

from chains.events import Event
from chains.request.draft import Prepared, prepare_step
from chains.request.turn import Turn
from chains.request.usage import build_factor_entry
from chains.turn.compact import compact, prepare_request
from context.assemble.request import Request
from context.budget import compute_budget
from context.errors import ContextOverflow
from context.layers import Layer
from context.report.report import ContextReport

__all__ = ["shrink_request"]

LEAST_SHARE: Final = 0.5
_NUMBER: Final = re.compile(r"\d[\d,]*")
_FIXED_LAYERS: Final = (Layer.T, Layer.L1, Layer.E, Layer.L5)


def shrink_request(
    turn: Turn, before: Request, overflow: ContextOverflow
) -> Generator[Event, None, Prepared | None]:
    """Compact the session, and prepare a rejected request again in a smaller window.

    Args:
        before: the rejected request.
        overflow: the exception for the rejected request.

    Returns:
        The new request with its log entries, or None if it would not be smaller. If the figures of
        the service contradict our counts, it is returned in any case, because it may be accepted as
        it is.
    """
    report = before.report
    window = _find_window(turn, report, overflow)
    if is_contradicted := window is None:
        _raise_factor(turn, report)
        window = _find_smaller_window(report, overflow)
    lower = _with_threshold(turn, window)
    forced = yield from compact(lower, reason="overflow")
    try:
        prepared = yield from _prepare_again(lower, before)
    except ContextOverflow:
        least = _with_threshold(turn, _find_least_window(report))
        try:
            prepared = yield from _prepare_again(least, before)
        except ContextOverflow:
            if forced.entry is None and not is_contradicted:
                return None
            prepared = yield from _prepare_again(turn, before)
    is_smaller = prepared[0].report.used < report.used
    return prepared if is_smaller or is_contradicted else None


def _find_window(turn: Turn, report: ContextReport, overflow: ContextOverflow) -> int | None:
    """Return the size of the window to prepare the request again for.

    Return None if the service names a limit in which the request fits by our counts.
    """
    if overflow.limit is None:
        return report.used
    settings, sizes = turn.settings, report.request_budget
    limits = min(settings.auto_compact_threshold, overflow.limit), turn.model.input_limit
    allowed = compute_budget(turn.counter, *limits, settings.max_output_tokens, sizes.factor)
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


def _with_threshold(turn: Turn, window: int) -> Turn:
    threshold = min(turn.settings.auto_compact_threshold, window)
    return replace(turn, settings=replace(turn.settings, auto_compact_threshold=threshold))


def _raise_factor(turn: Turn, report: ContextReport) -> None:
    session = turn.session
    session.append([build_factor_entry(session, report)])


def _prepare_again(turn: Turn, before: Request) -> Generator[Event, None, Prepared]:
    return (
        yield from prepare_request(turn, partial(prepare_step, before=before, replaces_last=True))
    )
