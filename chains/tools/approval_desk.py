"""Wait for approvals that arrive from another thread, such as the window or RPC.

The types for proposals are defined in `chains.tool` and re-exported here.
"""

import threading

from chains.cancel import CancelToken
from chains.errors import ProposalOutdated
from chains.tool import (
    ApprovalPort,
    ApprovalRequest,
    ApprovalRules,
    Decision,
    KeptHunks,
    Proposal,
    ProposalKind,
    Verdict,
)

__all__ = [
    "ApprovalDesk",
    "ApprovalPort",
    "ApprovalRequest",
    "ApprovalRules",
    "Decision",
    "KeptHunks",
    "Proposal",
    "ProposalKind",
    "ProposalOutdated",
    "Verdict",
]


class ApprovalDesk:
    """Holds proposals until they are answered. Thread-safe.

    The front end shows the request in `ApprovalRequested`, and calls `answer` with its id.
    An answer may arrive before the turn starts waiting for it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, Verdict | None] = {}
        self._hunks: dict[str, int] = {}

    def open(self, id: str, hunks: int = 0) -> None:
        """Accept answers to a proposal. Call this before the proposal is shown to the user.

        Args:
            id: the id of the proposal.
            hunks: the number of hunks that can be approved separately.
        """
        with self._changed:
            self._waiting.setdefault(id, None)
            self._hunks[id] = hunks or self._hunks.get(id, 0)

    def close(self, id: str) -> None:
        """Accept no more answers to a proposal, because its turn has ended."""
        with self._changed:
            self._waiting.pop(id, None)
            self._hunks.pop(id, None)
            self._changed.notify_all()

    def is_open(self, id: str) -> bool:
        """Return whether a proposal waits for its answer."""
        with self._changed:
            return id in self._waiting and self._waiting[id] is None

    def count_hunks(self, id: str) -> int:
        """Return how many hunks of a waiting proposal can be approved separately.

        The result is 0 if no proposal with that id is waiting.
        """
        with self._changed:
            return self._hunks.get(id, 0)

    def answer(self, id: str, decision: Verdict) -> bool:
        """Answer a proposal. Return False if no proposal with that id is waiting."""
        with self._changed:
            if not self.is_open(id):
                return False
            self._waiting[id] = decision
            self._changed.notify_all()
            return True

    def reject_all(self) -> None:
        """Reject all waiting proposals, for example when the client disconnects."""
        with self._changed:
            for id, decision in self._waiting.items():
                self._waiting[id] = decision or "reject"
            self._changed.notify_all()

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Verdict:
        """Wait for the user's decision. If the turn is cancelled, the proposal is rejected."""
        self.open(request.id)
        forget = cancel.on_cancel(self._wake)
        try:
            with self._changed:
                self._changed.wait_for(lambda: cancel.is_cancelled or not self.is_open(request.id))
                return self._waiting.get(request.id) or "reject"
        finally:
            forget()
            self.close(request.id)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
