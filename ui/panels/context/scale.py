"""The positions of layers, free space, reserve and threshold marks on the context bar.

The width of the bar corresponds to the model's context window. The bar segments are in request
order, so the reused prefix is contiguous. A segment with tokens is at least 3 px wide. The
thresholds are shares of the token budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.layers import Layer
from ui.theme import tokens

if TYPE_CHECKING:
    from context.report.report import ContextReport

__all__ = [
    "BarPart",
    "ScaleMark",
    "Slot",
    "label_spans",
    "list_bar_parts",
    "marks",
    "place_budget_mark",
    "slots",
]

_LABEL_GAP = 2
Slot = tuple["BarPart", int, int]


@dataclass(frozen=True)
class BarPart:
    """A segment of the context bar.

    Attributes:
        code: the code of a layer, `free` for unused tokens, `margin` for tokens kept free because
            counting is inexact, or `reserve` for the tokens kept for the answer.
        tokens: the number of tokens in the segment.
    """

    code: str
    tokens: int


@dataclass(frozen=True)
class ScaleMark:
    """A mark on the context bar, at a threshold or at the end of the token budget.

    Attributes:
        name: `trim` where old tool results are shortened, `compact` where messages are summarised,
            `block` where sending has to wait for a summary, or `budget` at the end of the budget.
        share: the threshold as a share of the token budget.
        x: the position in pixels from the left edge of the bar.
        text: the label of the mark.
        is_passed: whether the request exceeds the threshold.
    """

    name: str
    share: float
    x: int
    text: str
    is_passed: bool


def list_bar_parts(context: "ContextReport") -> tuple[BarPart, ...]:
    """Return the non-empty segments of the bar: layers, free space, margin and reserve.

    Their token counts add up to the context window. If the request exceeds the budget, only the
    layers are returned.
    """
    used = [BarPart(code, context.layers[Layer(code)].tokens) for code in tokens()["layer_order"]]
    window, reserve = context.request_budget.window, context.request_budget.reserve
    rest = [
        BarPart("free", max(0, context.budget - context.used)),
        BarPart("margin", max(0, window - reserve - context.budget)),
        BarPart("reserve", reserve),
    ]
    parts = used if context.used > context.budget else [*used, *rest]
    return tuple(part for part in parts if part.tokens > 0)


def slots(parts: Sequence[BarPart], width: int) -> list[Slot]:
    """Return each bar segment with its left edge and its width in pixels.

    A segment that would be too narrow gets the minimum width, and the wider segments become
    narrower.

    Args:
        parts: the segments, from left to right.
        width: the width of the bar in pixels.
    """
    total = sum(part.tokens for part in parts)
    if total <= 0 or width <= 0:
        return []
    least = int(tokens()["bar"]["min_segment"] + tokens()["bar"]["gap"])
    exact = [part.tokens * width / total for part in parts]
    wide = sum(size for size in exact if size > least)
    missing = sum(least - size for size in exact if size <= least)
    factor = max(0.0, (wide - missing) / wide) if wide else 1.0
    found, left = [], 0.0
    for part, size in zip(parts, exact, strict=True):
        right = left + (least if size <= least else size * factor)
        found.append((part, round(left), round(right) - round(left)))
        left = right
    return found


def marks(context: "ContextReport", width: int) -> list[ScaleMark]:
    """Return the threshold marks of the context bar for a request.

    If the request exceeds its token budget, return only the mark at the end of the budget.

    Args:
        context: the request report.
        width: the width of the bar in pixels.
    """
    if context.used > context.budget:
        return [place_budget_mark(context, width)]
    budget = context.budget
    found = []
    shares = context.policy
    at = {"trim": shares.trim_at, "compact": shares.compact_at, "block": shares.block_at}
    for name, share in at.items():
        x = round(share * budget / max(1, context.request_budget.window) * width)
        text = f"trim {_figure(share)}" if name == "trim" else _figure(share)
        found.append(ScaleMark(name, share, x, text, context.used > int(budget * share)))
    return found


def place_budget_mark(context: "ContextReport", width: int) -> ScaleMark:
    """Return the mark at the end of the token budget, for a request that exceeds its budget.

    Args:
        context: the request report.
        width: the width of the bar in pixels.
    """
    x = round(context.budget * width / max(1, context.used))
    return ScaleMark("budget", 1.0, x, "budget", True)


def label_spans(
    found: Sequence[ScaleMark], text_width: Callable[[str], int], width: int
) -> dict[str, tuple[int, int]]:
    """Return the left and right edge of each mark's label on the context bar, by mark name.

    The label of the mark `block` is to the right of the mark. The other labels are to the left of
    their marks if there is space. Labels that would overlap are moved to the left, and labels that
    do not fit are omitted.

    Args:
        found: the marks on the bar.
        text_width: returns the width of a text in pixels.
        width: the width of the bar in pixels.
    """
    spans: dict[str, tuple[int, int]] = {}
    end = width
    for mark in reversed(found):
        size = text_width(mark.text)
        is_right = mark.name == "block" or mark.x < size
        right = mark.x + size if is_right else mark.x
        left = min(right, end) - size
        if left >= 0 and right - end <= size:
            spans[mark.name] = (left, left + size)
            end = left - _LABEL_GAP
    return spans


def _figure(share: float) -> str:
    return f"{share * 100:.3g}"
