"""What services count of the calls of a chat, as entries of its log."""

from collections.abc import Callable
from typing import Final

from chains.events import Usage
from chains.request.session import ChatPort
from context.log.entries import UsageEntry
from context.report.report import ContextReport
from context.tokens import raised_factor

__all__ = ["SUMMARY", "Spend", "counted"]

SUMMARY: Final = "summary"

# Takes note of what a service counted of a request.
Spend = Callable[[ContextReport, Usage], None]


def counted(
    chat: ChatPort,
    turn: str,
    report: ContextReport,
    usage: Usage,
    *,
    parent: str | None = None,
    purpose: str = "",
) -> UsageEntry:
    """Return what a service counted of a request, with the factor that follows from it.

    Args:
        turn: the one that it was sent for; empty for none.
        parent: the answer to it; by default the end of the path.
        purpose: what a call beside the requests of a turn was for; empty for one of these.
    """
    path, factor = chat.path(), report.room.factor
    leaf = path[-1].id if path else None
    return UsageEntry(
        chat.new_id(),
        parent or leaf,
        chat.now(),
        turn,
        request=0 if purpose else report.request,
        model=report.model,
        estimated=report.used,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        factor=raised_factor(factor, report.used, usage.prompt_tokens),
        purpose=purpose,
    )
