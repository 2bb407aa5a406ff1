"""Build and store log entries for the token usage that providers report for model calls."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from chains.events import Usage, Warned
from chains.request.session import SessionPort
from context.log.entries import OtherEntry, UsageEntry
from context.report.report import ContextReport
from context.tokens import LARGEST_FACTOR, OWN_FACTOR, raise_factor, step_factor

__all__ = [
    "CallUsage",
    "LogUsage",
    "build_factor_entry",
    "build_usage_entry",
    "find_factor",
    "log_usage",
    "sum_usage",
    "warn_of_cut",
]

# The purposes, in the log, of the requests of a turn and of other model calls.
ANSWER: Final = "answer"
SUMMARY: Final = "summary"
REWRITE: Final = "rewriting"
READING: Final = "reading"
TITLE: Final = "title"
REHEARSAL: Final = "rehearsal"
# The custom type of the entry for a safety factor that a rejected request has raised.
RAISED: Final = "factor_raised"
# Token counts differ up to threefold in non-Latin scripts. Below this share, text is missing.
LEAST_COUNTED_SHARE: Final = 0.25
# No server has a context length below this, so a smaller request is never cut.
SMALLEST_CONTEXT: Final = 4_096


@dataclass(frozen=True)
class CallUsage:
    """The usage that a provider reported for one call.

    Attributes:
        report: the context report of the call's request.
    """

    report: ContextReport
    usage: Usage


# Records the usage of a call.
LogUsage = Callable[[CallUsage], None]


def build_usage_entry(
    session: SessionPort,
    turn: str,
    call: CallUsage,
    *,
    parent: str | None = None,
    purpose: str = ANSWER,
) -> UsageEntry:
    """Build the log entry for the usage of a model call.

    The entry also contains the safety factor for token budgets, which is raised if the provider
    counted more tokens than Strata.

    Args:
        session: the session of the call.
        turn: the id of the turn that the call belongs to, or an empty string if it belongs to none.
        call: the usage and the context report of the call.
        parent: the id of the parent entry, or None for the last entry of the path.
        purpose: the purpose of the call.
    """
    path, report, usage = session.path(), call.report, call.usage
    leaf = path[-1].id if path else None
    return UsageEntry(
        session.new_id(),
        parent or leaf,
        session.now(),
        turn,
        request=report.request if purpose == ANSWER else 0,
        model=report.model,
        estimated=report.used,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        factor=raise_factor(report.request_budget.factor, report.used, usage.prompt_tokens),
        purpose=purpose,
        cost=usage.cost,
    )


def log_usage(session: SessionPort, turn: str, calls: Sequence[CallUsage], purpose: str) -> None:
    """Log the usage of calls other than turn requests, such as summaries."""
    if calls:
        session.append([build_usage_entry(session, turn, c, purpose=purpose) for c in calls])


def sum_usage(calls: Iterable[CallUsage], more: Usage | None = None) -> Usage | None:
    """Sum the usage of calls, or return None if no usage was reported.

    Args:
        more: a usage to add to the sum, or None.
    """
    total = more
    for call in calls:
        total = call.usage.plus(total)
    return total


def warn_of_cut(model: str, report: ContextReport, usage: Usage) -> Warned | None:
    """Return a warning if a provider counted so few tokens that it must have cut the request.

    The warnings about one model have one topic.
    """
    used, counted = report.used, usage.prompt_tokens
    if used <= SMALLEST_CONTEXT or counted <= 0 or counted >= used * LEAST_COUNTED_SHARE:
        return None
    message = (
        f"The service counted {counted:,} tokens where about {used:,} were sent. It may have cut "
        "the beginning off: give it a longer context."
    )
    return Warned(message, topic=f"cut {model}")


def build_factor_entry(session: SessionPort, report: ContextReport) -> OtherEntry:
    """Build the log entry for a safety factor that is raised without reported usage.

    The service rejected a request as too long that was short enough by Strata's count.
    """
    content = {
        "model": report.model,
        "estimated": report.used,
        "factor": step_factor(report.request_budget.factor),
    }
    path = session.path()
    place = session.new_id(), path[-1].id if path else None, session.now()
    return OtherEntry(*place, "custom", {"customType": RAISED, "content": content})


def find_factor(session: SessionPort, model: str) -> float | None:
    """Return the safety factor for token budgets that was learned for a model, or None.

    Factors outside of the limits, which Strata never writes, are ignored.
    """
    # Each turn reads all usage, so this loop calls no function.
    factors = [
        entry.factor
        for entry in session.usage()
        if entry.model == model and OWN_FACTOR <= entry.factor <= LARGEST_FACTOR
    ]
    for raised in session.custom(RAISED):
        factor = raised.content.get("factor")
        if isinstance(factor, int | float) and raised.content.get("model") == model:
            factors += [factor] if OWN_FACTOR <= factor <= LARGEST_FACTOR else []
    return max(factors, default=None)
