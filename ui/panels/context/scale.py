"""Positions on the bar: layers, free space, reserve, and the marks.

Style Guide: the whole width is the window, in the order of the wire, so that the reused beginning
is one stretch; a part that is not zero is at least 3 px wide; marks are shares of the budget.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui.theme import tokens

__all__ = [
    "BarPart",
    "ScaleMark",
    "Slot",
    "bar_parts",
    "budget_mark",
    "label_spans",
    "marks",
    "slots",
]

_MARKS = (("trim", "trim_at"), ("compact", "compact_at"), ("block", "block_at"))
_LABEL_GAP = 2
Slot = tuple["BarPart", int, int]


@dataclass(frozen=True)
class BarPart:
    """A stretch of the bar: a layer's code, or `free`, `margin`, `reserve`."""

    code: str
    tokens: int


@dataclass(frozen=True)
class ScaleMark:
    """A share of the budget at which something is done.

    Attributes:
        name: `trim`, `compact`, `block`, or `budget` for its end.
        x: the place on the bar, in pixels.
        text: what stands above it.
    """

    name: str
    share: float
    x: int
    text: str
    is_passed: bool


def bar_parts(context: Mapping[str, Any]) -> tuple[BarPart, ...]:
    """Return the layers that hold something, then what is free, then what is held back.

    Their tokens add up to the window; over the budget there is nothing but the layers.
    """
    used = [BarPart(code, context["layers"][code]["tokens"]) for code in tokens()["layer_order"]]
    rest = [
        BarPart("free", max(0, context["budget"] - context["used"])),
        BarPart("margin", max(0, context["window"] - context["reserve"] - context["budget"])),
        BarPart("reserve", context["reserve"]),
    ]
    parts = used if context["used"] > context["budget"] else [*used, *rest]
    return tuple(part for part in parts if part.tokens > 0)


def slots(parts: Sequence[BarPart], width: int) -> list[Slot]:
    """Return each part with its left edge and its width, gap included, over a whole width.

    A part too small to be seen gets its least width, and the widest parts pay for it.
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


def marks(context: Mapping[str, Any], width: int) -> list[ScaleMark]:
    """Return where something is done for the sake of room; over the budget, where that ends."""
    if context["used"] > context["budget"]:
        return [budget_mark(context, width)]
    budget = context["budget"]
    found = []
    for name, key in _MARKS:
        share = _shares(context)[key]
        x = round(share * budget / max(1, context["window"]) * width)
        text = f"trim {_figure(share)}" if name == "trim" else _figure(share)
        found.append(ScaleMark(name, share, x, text, context["used"] > int(budget * share)))
    return found


def budget_mark(context: Mapping[str, Any], width: int) -> ScaleMark:
    """Return the end of the budget, where a request reaches beyond it."""
    x = round(context["budget"] * width / max(1, context["used"]))
    return ScaleMark("budget", 1.0, x, "budget", True)


def label_spans(
    found: Sequence[ScaleMark], text_width: Callable[[str], int], width: int
) -> dict[str, tuple[int, int]]:
    """Return where the words of the marks stand, left and right; one without room is left out.

    That of the last mark stands right of it, those before left of theirs, so that they do not meet;
    where they would, they give way to the left.
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


def _shares(context: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the shares in force; a report that was kept by an older version tells none."""
    policy: Mapping[str, float] | None = context.get("policy")
    keys = [key for _, key in _MARKS]
    return policy or dict(zip(keys, tokens()["bar"]["marks"], strict=True))


def _figure(share: float) -> str:
    return f"{share * 100:.3g}"
