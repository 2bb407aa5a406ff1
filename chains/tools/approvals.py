"""Wait for approvals that arrive from another thread, such as that of the window or of RPC.

The types for tools that ask first are defined in `chains.tool`, and can be imported from here too.
"""

import threading
from contextlib import suppress

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
    """Holds the proposals of a front end until their decisions arrive. Thread-safe.

    The front end shows the event `ApprovalRequested`, and calls `answer` with the id of the event.
    An answer may arrive before the turn begins to wait for it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, Verdict | None] = {}
        self._hunks: dict[str, int] = {}

    def open(self, id: str, hunks: int = 0) -> None:
        """Accept an answer to a proposal from now on; called before its event is shown.

        Args:
            id: the id of the proposal.
            hunks: the number of hunks that can be approved without the others.
        """
        with self._changed:
            self._waiting.setdefault(id, None)
            self._hunks[id] = hunks or self._hunks.get(id, 0)

    def count_hunks(self, id: str) -> int:
        """Return how many hunks a waiting proposal has that can be approved without the others."""
        with self._changed:
            return self._hunks.get(id, 0)

    def answer(self, id: str, decision: Verdict) -> bool:
        """Decide about a proposal. Return False if none with that id waits for a decision."""
        with self._changed:
            if id not in self._waiting or self._waiting[id] is not None:
                return False
            self._waiting[id] = decision
            self._changed.notify_all()
            return True

    def reject_all(self) -> None:
        """Reject every proposal that waits, as when the client is gone."""
        with self._changed:
            for id, decision in self._waiting.items():
                self._waiting[id] = decision or "reject"
            self._changed.notify_all()

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Verdict:
        """Wait for the decision about a proposal; a cancelled turn rejects it."""
        self.open(request.id)
        forget = cancel.on_cancel(self._wake)
        try:
            with self._changed:
                self._changed.wait_for(
                    lambda: cancel.is_cancelled or self._waiting[request.id] is not None
                )
                return self._waiting[request.id] or "reject"
        finally:
            forget()
            with self._changed, suppress(KeyError):
                del self._waiting[request.id]
            self._hunks.pop(request.id, None)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
