"""Run tool calls that need approval: propose, ask the user, apply.

An approval covers one proposal. If the content that the proposal was computed from changes before
it is applied, the user is asked again.
"""

import logging
from collections.abc import Generator
from typing import Final

from chains.cancel import CancelToken
from chains.concurrency import call as run_in_pool
from chains.concurrency import gather
from chains.errors import ProposalOutdated
from chains.events import ApprovalRequested, Event
from chains.llm.port import RequestedCall
from chains.request.turn import Turn
from chains.tool import ApprovalPort, ApprovalRequest, KeptHunks, Proposal, Verdict
from chains.tools.registry import ToolOutcome, ToolRegistry
from chains.tools.schema import parse_arguments

__all__ = ["MOST_PROPOSALS", "NOT_BEGUN", "STILL_CHANGING", "ApprovedCalls", "ask_person"]

MOST_PROPOSALS: Final = 5
REJECTED: Final = (
    "Error: the user rejected this call, so nothing was done. Do not repeat it; go on without it, "
    "or ask the user."
)
NOBODY_TO_ASK: Final = (
    "Error: this call needs the user's approval, and nobody can be asked now. Nothing was done. "
    "Go on without it."
)
NOT_BEGUN: Final = ToolOutcome(
    "Error: the time for tools was over before this call began, so nothing was done.",
    is_error=True,
)
STILL_CHANGING: Final = ToolOutcome(
    "Error: the content changes all the time, so nothing was done.", is_error=True
)
_log = logging.getLogger(__name__)


class ApprovedCalls:
    """Runs tool calls that need the user's approval, one by one."""

    def __init__(self, turn: Turn, registry: ToolRegistry) -> None:
        self._rules, self._time = turn.rules, turn.tool_time
        self._port, self._clock = turn.ports.approvals, turn.ports.clock
        self._registry, self._cancel, self._new_id = registry, turn.cancel, turn.session.new_id

    def run(self, call: RequestedCall) -> Generator[Event, None, ToolOutcome | Proposal]:
        """Propose a tool call, ask the user, and apply the proposal if it is approved.

        Calls to other computers are not applied here. A write that has begun is completed even if
        the turn is cancelled.

        Returns:
            The outcome of the call. For a call to another computer, this is the approved proposal,
            so that the caller can apply several in parallel with `apply`.

        Raises:
            Cancelled: the turn was cancelled before the call was applied.
        """
        for _ in range(MOST_PROPOSALS):
            found = self._propose(call)
            if isinstance(found, ToolOutcome):
                return found
            approved = yield from self._ask(call, found)
            if isinstance(approved, ToolOutcome):
                return approved
            self._cancel.raise_if_cancelled()
            if approved.kind in ("fetch", "mcp"):
                return approved
            try:
                return self._registry.apply(call, approved)
            except ProposalOutdated:
                continue
        return STILL_CHANGING

    def _propose(self, call: RequestedCall) -> Proposal | ToolOutcome:
        work = [lambda: self._registry.propose(call)]
        found = [one for _, one in gather(work, self._cancel, limit=self._time)]
        return found[0] if found else NOT_BEGUN

    def apply(self, call: RequestedCall, proposal: Proposal) -> ToolOutcome:
        """Apply an approved proposal.

        The outcome is `STILL_CHANGING` if the tool call must be proposed again.
        """
        try:
            return self._registry.apply(call, proposal)
        except ProposalOutdated:
            return STILL_CHANGING

    def _ask(
        self, call: RequestedCall, proposal: Proposal
    ) -> Generator[Event, None, ToolOutcome | Proposal]:
        """Ask the user about a proposal.

        Return the proposal if it is approved, otherwise the outcome of the rejected call.
        """
        decision: Verdict | None = self._rules.decide(proposal)
        if decision is None:
            if self._port is None:
                return ToolOutcome(NOBODY_TO_ASK, is_error=True, is_denied=True)
            decision = yield from self._wait(call, proposal, self._port)
        if isinstance(decision, KeptHunks) and proposal.keep is not None:
            return proposal.keep(decision.numbers)
        if decision not in ("once", "session"):
            return ToolOutcome(REJECTED, is_error=True, is_denied=True)
        if decision == "session":
            self._rules.remember(proposal)
        return proposal

    def _wait(
        self, call: RequestedCall, proposal: Proposal, port: ApprovalPort
    ) -> Generator[Event, None, Verdict]:
        """Wait for the user's decision on a proposal.

        The waiting time counts neither towards the turn's limit nor towards its duration.
        """
        arguments = parse_arguments(call)
        request = ApprovalRequest(self._new_id(), call.id, call.name, arguments, proposal)
        start = self._clock()
        decision = yield from ask_person(port, request, self._cancel)
        self._time.extend(self._clock() - start)
        return decision


def ask_person(
    port: ApprovalPort, request: ApprovalRequest, cancel: CancelToken
) -> Generator[Event, None, Verdict]:
    """Show a proposal, and wait for the user's decision.

    Raises:
        Cancelled: the token was cancelled.
    """

    def decide() -> Verdict:
        try:
            return port.decide(request, cancel)
        except Exception:  # noqa: BLE001 - without a decision nothing may be done
            _log.exception("No decision could be had about %s", request.tool)
            return "reject"

    yield ApprovalRequested(request)
    return run_in_pool(decide, cancel)
