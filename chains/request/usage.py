"""Usage: what providers count for the calls of a session, kept as entries of its log."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from chains.events import Usage
from chains.request.session import SessionPort
from context.log.entries import UsageEntry
from context.report.report import ContextReport
from context.tokens import raise_factor

__all__ = ["CallUsage", "LogUsage", "build_usage_entry", "find_factor", "log_usage", "sum_usage"]

# The purposes of calls beside the requests of a turn, as the log keeps them.
SUMMARY: Final = "summary"
REWRITE: Final = "rewrite"
READING: Final = "read"


@dataclass(frozen=True)
class CallUsage:
    """The usage that a provider counted for one call.

    Attributes:
        report: the report on the request of the call.
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
    purpose: str = "",
) -> UsageEntry:
    """Build the log entry for the usage of a call, with the token factor that follows from it.

    Args:
        turn: the turn that the call belongs to; empty for none.
        parent: the answer to the call; by default the end of the path.
        purpose: the purpose of a call beside the requests of a turn; empty for one of these.
    """
    path, report, usage = session.path(), call.report, call.usage
    leaf = path[-1].id if path else None
    return UsageEntry(
        session.new_id(),
        parent or leaf,
        session.now(),
        turn,
        request=0 if purpose else report.request,
        model=report.model,
        estimated=report.used,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        factor=raise_factor(report.room.factor, report.used, usage.prompt_tokens),
        purpose=purpose,
    )


def log_usage(session: SessionPort, turn: str, calls: Sequence[CallUsage], purpose: str) -> None:
    """Write the usage of calls beside the requests of a turn to the log of a session."""
    if calls:
        session.append([build_usage_entry(session, turn, c, purpose=purpose) for c in calls])


def sum_usage(calls: Iterable[CallUsage], more: Usage | None = None) -> Usage | None:
    """Return the usage of calls together; None where no provider counted any."""
    total = more
    for call in calls:
        total = call.usage.plus(total)
    return total


def find_factor(session: SessionPort, model: str) -> float | None:
    """Return the factor that divides the budget of a model, by what its provider counted so far."""
    factors = [entry.factor for entry in session.usage() if entry.model == model]
    return max(factors, default=None)
