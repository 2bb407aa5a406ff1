"""Texts of the context panel: labels, window size, reuse and prices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.widgets.controls import one_line
from ui.widgets.formatting import count, money, plural

if TYPE_CHECKING:
    from context.report.report import Compaction, ContextReport

__all__ = [
    "UNPAID",
    "Counted",
    "Prices",
    "describe_maker",
    "describe_reuse",
    "describe_spending",
    "describe_window",
    "explain_estimate",
    "price_sentence",
    "word_name",
    "word_reason",
]

_REASONS = {
    "room": "Dropped: history over its budget",
    "tail": "Left out this once, for a long message or many passages",
    "share": "Lowest rank: over the room for passages",
    "budget": "Over the budget",
    "work": "Shortened: results of earlier steps",
    "shortened": "Shortened to its beginning",
    "summary": "Left out this once, to make room",
    "summary_shortened": "Shortened to its first half, this once",
    "hook": "Taken out by a hook",
    "excluded": "Excluded from the vault now",
    "withheld": "The text of notes that are excluded now",
    "gone": "Gone from the vault",
    "unseen": "The model does not see images",
    "unsure": "Not known whether the model sees images",
    "history_guarantee_broken": "Even your previous question had to be left out to make room.",
}

# What became of requests that nobody has to pay for.
UNPAID = ("refused", "not_sent")
_MAKERS = {"model": "written by a model", "outline": "made without a model"}


def explain_estimate(expected: tuple[int, int] | None) -> str:
    """Return a sentence that says which passages the preview of a request counts.

    Args:
        expected: the number and the token count of the passages, or None if it counts none.
    """
    if expected is None:
        return "Without the passages, which are looked up on sending"
    number = plural(expected[0], "passage")
    return f"With about {count(expected[1])} for {number}, looked up on sending"


def describe_maker(compaction: "Compaction") -> str:
    """Return who wrote the summary of a compaction, or an empty string if there is none.

    Args:
        compaction: the compaction in the request report.
    """
    maker = _MAKERS.get(compaction.by, "")
    return f"{maker}, edited by you" if maker and compaction.edited else maker


def word_name(name: str) -> str:
    """Convert an identifier to words, for example `task_context` to `Task context`."""
    words = one_line(name.replace("_", " "))
    return words[:1].upper() + words[1:]


def word_reason(reason: str | None) -> str:
    """Return a sentence that explains why a request omits something.

    Args:
        reason: the reason in the request report, such as `budget`, or None.
    """
    return _REASONS.get(reason or "", word_name(reason or ""))


@dataclass(frozen=True)
class Prices:
    """A model's prices in US dollars per prompt token, or None if they are unknown.

    Attributes:
        read: the price of a token that is not cached.
        kept: the price of a cached token.
    """

    read: float | None = None
    kept: float | None = None


@dataclass(frozen=True)
class Counted:
    """Token counts that the provider reported for a request.

    Attributes:
        prompt: the number of tokens in the request.
        kept: how many of them were cached.
    """

    prompt: int
    kept: int = 0


def describe_window(context: "ContextReport", counted: Counted | None = None) -> str:
    """Return a line of text that explains how the token budget is computed.

    Args:
        context: the request report.
        counted: the token counts that the provider reported, or None. They are added to the text.
    """
    kept = count(context.request_budget.reserve)
    parts = [f"Window {count(context.request_budget.window)}, less {kept} kept for the answer"]
    if context.request_budget.factor > 1:
        spare = f"{count(round((context.request_budget.factor - 1) * 100))}\N{NO-BREAK SPACE}%"
        parts.append(f"{spare} spare, because this model's tokenizer is not known")
    if context.request_budget.model_limit is None:
        parts.append("The model's limit is not known")
    if counted is not None:
        parts.append(f"The service counted {count(counted.prompt)}")
    return " · ".join(parts)


def describe_spending(dollars: float, is_estimate: bool) -> str:
    """Return a sentence with the price of a chat so far.

    Args:
        dollars: the price in US dollars.
        is_estimate: whether a part of the price is estimated.
    """
    about = "about " if is_estimate else ""
    return f"This chat has cost {about}{money(dollars)} so far."


def describe_reuse(reused: int, used: int, reasons: Sequence[str]) -> str:
    """Return a sentence that explains why a part of a request was not in the provider's cache.

    Return an empty string if there is nothing to explain.

    Args:
        reused: the number of tokens that the provider has cached.
        used: the number of tokens in the request.
        reasons: the changes since the previous request.
    """
    if reasons:
        return f"Changed: {'; '.join(reasons)}."
    return "The rest is new." if 0 < reused < used else ""


def price_sentence(
    context: "ContextReport", prices: Prices | None, counted: Counted | None = None
) -> str:
    """Return a sentence with the price of a request, and its price without cached tokens.

    Return an empty string if the price is unknown, or nothing has to be paid, because the request
    was refused, was not sent or exceeds its token budget.

    Args:
        context: the request report.
        prices: the model's prices, or None if unknown.
        counted: the provider's token counts, which replace those in the report, or None.
    """
    is_sent = context.used <= context.budget and context.outcome not in UNPAID
    if prices is None or not prices.read or not is_sent:
        return ""
    prompt = context.used if counted is None else counted.prompt
    kept = context.prefix.tokens_reused if counted is None else counted.kept
    about = "About " if counted is None else ""
    if prices.kept is None or not kept:
        return f"{about}{money(prompt * prices.read)} to read."
    saved = kept * (prices.read - prices.kept)
    cost = money(prompt * prices.read - saved)
    return f"{about}{cost} to read; without reuse {money(prompt * prices.read)}."
