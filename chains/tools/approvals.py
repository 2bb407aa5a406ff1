"""Approvals that arrive from another thread, as those of the window and of RPC do.

The types that a tool needs to ask first are in `chains.tool`, and are offered here too.
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
    Proposal,
    ProposalKind,
)

__all__ = [
    "ApprovalDesk",
    "ApprovalPort",
    "ApprovalRequest",
    "ApprovalRules",
    "Decision",
    "Proposal",
    "ProposalKind",
    "ProposalOutdated",
]


class ApprovalDesk:
    """Holds the proposals of a front end until their decisions arrive. Thread-safe.

    The front end shows the event `ApprovalRequested`, and calls `answer` with the id of the event.
    An answer may arrive before the turn begins to wait for it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, Decision | None] = {}

    def open(self, id: str) -> None:
        """Accept an answer to a proposal from now on; called before its event is shown."""
        with self._changed:
            self._waiting.setdefault(id, None)

    def answer(self, id: str, decision: Decision) -> bool:
        """Decide about a proposal. Return False if none of that id waits for a decision."""
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

    def decide(self, request: ApprovalRequest, cancel: CancelToken) -> Decision:
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

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
