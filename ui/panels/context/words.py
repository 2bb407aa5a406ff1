"""Texts of the context panel: labels, window, reuse and prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui.widgets.controls import one_line
from ui.widgets.figures import count, money

__all__ = [
    "Counted",
    "Prices",
    "in_words",
    "price_sentence",
    "reason_in_words",
    "what_changed",
    "window_sentence",
]

_REASONS = {
    "room": "Dropped: history over its budget",
    "tail": "Left out this once, for a long message or many passages",
    "share": "Lowest rank: over the room for passages",
    "budget": "Over the budget",
    "work": "Shortened: results of earlier steps",
    "shortened": "Shortened to its beginning",
    "hook": "Taken out by a hook",
    "excluded": "Excluded from the vault now",
    "gone": "Gone from the vault",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}


def in_words(name: str) -> str:
    """Convert an identifier to words, such as `task_context` to `Task context`."""
    words = one_line(name.replace("_", " "))
    return words[:1].upper() + words[1:]


def reason_in_words(reason: str | None) -> str:
    """Return the text for the reason why something was left out of a request."""
    return _REASONS.get(reason or "", in_words(reason or ""))


@dataclass(frozen=True)
class Prices:
    """Prices in dollars per prompt token: newly read, or cached (`kept`); None if unknown."""

    read: float | None = None
    kept: float | None = None


@dataclass(frozen=True)
class Counted:
    """Token counts reported by the provider.

    Attributes:
        prompt: the tokens of the request.
        kept: the cached tokens among them.
    """

    prompt: int
    kept: int = 0


def window_sentence(context: Mapping[str, Any], counted: Counted | None = None) -> str:
    """Return one line on how the budget is calculated, with the provider's count if known."""
    parts = [f"Window {count(context['window'])}"]
    parts.append(f"less {count(context['reserve'])} kept for the answer")
    if context["factor"] > 1:
        held = f"{count(round((context['factor'] - 1) * 100))}\N{NO-BREAK SPACE}%"
        parts.append(f"{held} held back for counting")
    if context["model_limit"] is None:
        parts.append("limit unknown")
    if counted is not None:
        parts.append(f"the service counted {count(counted.prompt)}")
    return ", ".join(parts)


def what_changed(reused: int, reasons: Sequence[str]) -> str:
    """Describe why the rest of a request is not reused; empty if nothing is reused or changed."""
    if reasons:
        return f"Changed: {'; '.join(reasons)}."
    return "Only the last answer and your message are new." if reused else ""


def price_sentence(
    context: Mapping[str, Any], prices: Prices | None, counted: Counted | None = None
) -> str:
    """Describe the price of a request with and without reuse; empty if the price is not known.

    Args:
        context: the request report.
        prices: the prices of the model.
        counted: the provider's token counts, which take precedence over the report if given.
    """
    is_sent = context["used"] <= context["budget"]
    if prices is None or not prices.read or not is_sent:
        return ""
    prompt = context["used"] if counted is None else counted.prompt
    kept = context["prefix"]["tokens_reused"] if counted is None else counted.kept
    about = "About " if counted is None else ""
    if prices.kept is None or not kept:
        return f"{about}{money(prompt * prices.read)} to read."
    saved = kept * (prices.read - prices.kept)
    cost = money(prompt * prices.read - saved)
    return f"{about}{cost} to read; without reuse {money(prompt * prices.read)}."
