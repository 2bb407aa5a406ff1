"""The interface of the ledger, which records every outgoing call before it is made.

A call that cannot be recorded is not made, because `record` raises `LedgerFailed`, which the caller
must not catch. Code that makes calls uses the port like this:

```
recorded = ledger.record(OutgoingCall("web", "example.org", bytes_out=len(body)))
...                                     # the call
recorded.finish(bytes_in=len(answer))   # also after a failure, with the bytes that arrived
```

Every network request gets its own record, including redirects and retries. Calls to this computer
are recorded too. Search and indexing use the network only if a vector server is set, whose calls
are recorded too. Embedding never uses the network.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["CallKind", "LedgerPort", "NoLedger", "OpenRecord", "OutgoingCall"]

CallKind = Literal["model", "embedding", "web", "mcp", "vectorstore"]


@dataclass(frozen=True)
class OutgoingCall:
    """An outgoing call that is about to be made.

    Attributes:
        kind: the kind of call, such as a call to a model or to a web page.
        host: the host, the name of a service, or the name of an MCP server that runs as a child
            process.
        bytes_out: the size of the request body.
        session: the session id, or None.
        turn: the turn id, or None.
        notes: the paths of the notes whose text is in the body.
        tokens: the estimated token count of the body, or None.
    """

    kind: CallKind
    host: str
    bytes_out: int = 0
    session: str | None = None
    turn: str | None = None
    notes: tuple[str, ...] = ()
    tokens: int | None = None

    @property
    def is_probe(self) -> bool:
        """Whether the call only asks a server for its models, without any text of the user."""
        return self.kind == "model" and self.tokens is None and self.session is None


class OpenRecord(Protocol):
    """The ledger record of an outgoing call in progress."""

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Add the result of the call to its record. Errors are logged, not raised.

        Args:
            bytes_in: the number of bytes received.
            tokens: the token count reported by the service, or None to keep the estimate.
        """


class LedgerPort(Protocol):
    """The interface of the ledger. Thread-safe."""

    def record(self, call: OutgoingCall) -> OpenRecord:
        """Record an outgoing call before it is made.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """


class _Unrecorded:
    """A record that stores nothing, returned by `NoLedger`."""

    def finish(self, bytes_in: int, tokens: int | None = None) -> None:
        """Discard the result of the call."""


class NoLedger:
    """A ledger that records nothing, for using `chains` outside of the application."""

    def record(self, call: OutgoingCall) -> OpenRecord:  # noqa: ARG002
        """Accept an outgoing call without recording it."""
        return _Unrecorded()
