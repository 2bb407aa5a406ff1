"""The notice above the layer rows: a request's main problem, and actions to solve it.

At most one notice is shown. An error (`danger`) takes precedence over a warning (`amber`), and a
warning over information (`info`). A notice has one sentence and up to three actions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from context.layers import Layer
from ui.panels.context.words import UNPAID, describe_maker
from ui.widgets.buttons import ButtonText
from ui.widgets.formatting import count, percent, plural

if TYPE_CHECKING:
    from context.report.report import ContextReport

__all__ = ["ACTION_TEXTS", "Act", "NoticeText", "build_notice", "find_passed_share"]

Act = Literal["compact", "raise", "summary", "before"]
ACTION_TEXTS: Mapping[Act, ButtonText] = {
    "compact": ButtonText("Compact now", "Replace older messages by a summary", "compact"),
    "raise": ButtonText("Raise the limit", "Open the settings of the limit"),
    "summary": ButtonText("Show summary", "Show what stands for the older messages"),
    "before": ButtonText(
        "Continue from before", "Go on in a new chat, with the messages before the summary"
    ),
}
_UNPAID = {
    "refused": ("No answer came to this request", "Nothing arrived, so there is no price to show."),
    "not_sent": ("This request was not sent", "Nothing of it left this computer."),
}
_BROKEN = "history_guarantee_broken"
# The headline and the actions after a compaction, by who wrote its summary.
_COMPACTED: Mapping[str, tuple[str, tuple[Act, ...]]] = {
    "model": ("Older messages became a summary", ("summary", "before")),
    "outline": ("Older messages became an outline", ("summary", "before")),
}
_CLEARED: tuple[str, tuple[Act, ...]] = ("Old results of tools are shortened", ("before",))


@dataclass(frozen=True)
class NoticeText:
    """The texts and actions of the notice about a request's main problem.

    Attributes:
        tone: the kind of notice: `danger`, `amber` or `info`.
        title: the headline.
        text: the sentence below the headline.
        actions: the names of the actions that the notice offers.
        entry: the ID of the compaction that the actions refer to, or an empty string if they refer
            to none.
    """

    tone: str
    title: str
    text: str
    actions: tuple[Act, ...] = ()
    entry: str = ""


def build_notice(context: "ContextReport") -> NoticeText | None:
    """Return the notice about a request's main problem, or None if there is nothing to report."""
    if context.used > context.budget:
        return _overflow(context)
    if context.outcome in UNPAID:
        return NoticeText("amber", *_UNPAID[context.outcome])
    if any(dropped.reason == _BROKEN for dropped in context.dropped):
        text = "Even your previous question had to be left out to make room."
        return NoticeText("amber", "Only your message is sent", text, ("raise",))
    if context.when == "next" and context.actions.compact:
        return _summary_first(context)
    if context.fraction > context.policy.trim_at:
        return _full(context)
    return _make_compacted_notice(context) or _repeat_warnings(context)


def find_passed_share(context: "ContextReport") -> float:
    """Return the highest threshold that a request exceeds, or 0.0 if it exceeds none.

    The threshold is a share of the token budget. 1.0 is the whole budget.
    """
    shares = context.policy
    steps = (1.0, shares.block_at, shares.compact_at, shares.trim_at)
    return next((step for step in steps if context.fraction > step), 0.0)


def _overflow(context: "ContextReport") -> NoticeText:
    message = context.layers[Layer.L5].tokens
    room = context.budget - (context.used - message)
    if room <= 0:
        text = "Tools and instructions alone fill the limit. Nothing was sent, nothing is lost."
        return NoticeText("danger", "Nothing fits below this limit", text, ("raise",))
    text = f"It has {plural(message, 'token')}; {count(room)} are free for it. Nothing was sent."
    return NoticeText("danger", "Your message does not fit", text, ("raise",))


def _summary_first(context: "ContextReport") -> NoticeText:
    """Return a notice saying that older messages are summarised before the next message is sent."""
    shares = context.policy
    share = shares.block_at if context.actions.block else shares.compact_at
    title = f"The chat is full at {percent(share)}"
    text = "Older messages are summarised first, then your message goes."
    return NoticeText("amber", title, text, ("compact", "raise"))


def _full(context: "ContextReport") -> NoticeText:
    """Return a notice saying that a request exceeds the first threshold of the token budget.

    The notice says whether older tool results have been shortened, and what happens at the next
    threshold.
    """
    shares = context.policy
    title = f"Past {percent(shares.trim_at)}"
    title += ", older results are shortened" if context.trimmed else ", nothing left to trim"
    text = f"At {percent(shares.compact_at)} older messages become a summary."
    if not context.auto_compact:
        text = (
            "Automatic compaction is off: when the budget is full, the oldest turns are left out."
        )
    return NoticeText("amber", title, text, ("compact", "raise"))


def _make_compacted_notice(context: "ContextReport") -> NoticeText | None:
    """Return a notice saying that a summary has replaced older messages.

    Return None if the chat was not compacted, or if the compaction is not news because this request
    only extends the previous one.
    """
    compactions = context.compactions
    is_news = context.prefix.changed or context.actions.compact
    if not compactions or not is_news:
        return None
    last, pins = compactions[-1], len(context.pins)
    parts = []
    if last.before_tokens is not None and last.after_tokens is not None:
        parts.append(f"{count(last.before_tokens)} → {count(last.after_tokens)} tokens")
    parts += filter(None, [describe_maker(last)])
    sentence = f"{', '.join(parts)}." if parts else ""
    kept = f"Pinned: {count(pins)}, kept word for word." if pins else ""
    text = " ".join(filter(None, (sentence[:1].upper() + sentence[1:], kept)))
    title, actions = _COMPACTED.get(last.by, _CLEARED)
    return NoticeText("info", title, text, actions, last.entry)


def _repeat_warnings(context: "ContextReport") -> NoticeText | None:
    """Return a notice with the warnings in a request report, or None if there are none."""
    from app.config.schema import use_labels  # late: it would delay the first paint

    warnings = use_labels(" ".join(context.warnings))
    what = "request" if context.when == "next" else "answer"
    return NoticeText("info", f"About this {what}", warnings) if warnings else None
