"""The port of the ledger, which records every outgoing call before it is made.

A call that cannot be recorded is not made: `record` then raises `LedgerFailed`, and the caller does
not catch it. Code that makes calls uses the port like this:

```
recorded = ledger.record(OutgoingCall("web", "example.org", bytes_out=len(body)))
...                                     # the call
recorded.finish(bytes_in=len(answer))   # also after a failure, with the bytes that arrived
```

One record belongs to one request on the network: each redirect and each retry has its own. Calls to
this computer are recorded too. Search, indexing and embedding run without the network, and need no
record.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["CallKind", "LedgerPort", "NoLedger", "OpenRecord", "OutgoingCall"]

CallKind = Literal["model", "embedding", "web", "mcp", "vectorstore"]


@dataclass(frozen=True)
class OutgoingCall:
    """A call that is about to be made.

    Attributes:
        kind: the part of Strata that makes the call.
        host: the host that is called, or the name of a service or of an MCP server over stdio.
        bytes_out: the size of the body that is sent.
        session: the id of the session that needs the call, or None.
        turn: the id of the turn that needs the call, or None.
        notes: the paths of the notes whose text is in the body.
        tokens: the estimated tokens of the body, or None if they are not counted.
    """

    kind: CallKind
    host: str
    bytes_out: int = 0
    session: str | None = None
    turn: str | None = None
    notes: tuple[str, ...] = ()
    tokens: int | None = None


class OpenRecord(Protocol):
    """The record of a call that is being made."""

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Add the result of the call. A failure to write it is logged, and not raised.

        Args:
            bytes_in: the bytes received.
            tokens: the tokens that the service counted, in and out. None keeps the estimate.
        """


class LedgerPort(Protocol):
    """The ledger. Its methods may be called from any thread."""

    def record(self, call: OutgoingCall) -> OpenRecord:
        """Record a call before it is made.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """


class _Unrecorded:
    """The record of a call without a ledger."""

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Discard the result of the call."""


class NoLedger:
    """A ledger that keeps nothing, for programs that use the chains without the application."""

    def record(self, call: OutgoingCall) -> OpenRecord:  # noqa: ARG002
        """Accept any call."""
        return _Unrecorded()
