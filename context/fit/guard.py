"""The budget guard: the last check of a request's size before the request is sent.

If a request exceeds its token budget, the guard leaves out content, the least valuable first. It
never calls a model, and the report lists everything that is left out. If the required content alone
is too large, the pipeline raises `ContextOverflow`. Models are called only with a sealed `Request`,
and only the guard can seal one.
"""

from dataclasses import replace
from typing import Final

from context.assemble.request import GUARD_SEAL, Request
from context.budget import BudgetPolicy
from context.draft import CacheMark, RequestDraft
from context.errors import UnguardedRequest
from context.fit.guard_steps import STEPS
from context.fit.policy import add_usage_note
from context.history.turn_list import TurnList
from context.report.report import ContextReport

_NOTE_ROUNDS: Final = 2


def enforce_budget(request: Request) -> Request:
    """Make a request fit its token budget by leaving out the least valuable content first.

    If even the required content does not fit, the request is refused, and contains nothing else.
    Only the decision to drop turns permanently uses `lasting_tokens`. The other steps use the
    actual sizes.

    Reasons: ARCHITECTURE.md, "The guard".
    """
    if not can_fit(request):
        return replace(request, state="refused", draft=_strip(request.draft))
    for step in STEPS:
        if request.draft.used <= request.budget_tokens:
            break
        request = step(request)
    return replace(request, state="guarded")


def enforce_with_note(request: Request) -> Request:
    """Make a request fit its token budget. A note tells the model if most of the budget is used.

    The note says the size of what the guard lets through, and must fit itself. It is written once
    more with the size that includes it.
    """
    history_policy = request.history_policy
    policy = BudgetPolicy() if history_policy is None else history_policy.policy
    guarded = enforce_budget(request)
    for _ in range(_NOTE_ROUNDS if guarded.state == "guarded" else 0):
        draft = add_usage_note(request.draft, guarded.draft, request.budget_tokens, policy)
        if draft.uncached == guarded.unguarded.uncached:
            break
        noted = enforce_budget(replace(request, draft=draft, unguarded=draft))
        if noted.state == "refused":
            break
        guarded = noted
    return guarded


def can_fit(request: Request) -> bool:
    """Return whether a request fits its budget once all optional content is left out."""
    draft, budget = request.draft, request.budget_tokens
    return draft.used <= budget or _strip(draft).used <= budget


def _strip(draft: RequestDraft) -> RequestDraft:
    return replace(draft, history=TurnList.of(), tail=replace(draft.tail, segments=()), work=())


def seal(request: Request, report: ContextReport, marks: tuple[CacheMark, ...] = ()) -> Request:
    """Turn a request that passed the guard into one that can be sent.

    Args:
        request: the request after the guard.
        report: the context report of the request.
        marks: the positions up to which the provider may cache the request. Empty for providers
            without cache marks.

    Raises:
        UnguardedRequest: when the request did not pass the guard.
    """
    if request.state != "guarded" or report.used > report.budget:
        raise UnguardedRequest("This request is over its budget and cannot be sent.")
    return replace(request, state="sealed", sealed_report=report, marks=marks, seal=GUARD_SEAL)
