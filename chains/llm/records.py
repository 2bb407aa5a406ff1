"""Record model calls in the ledger, with the turn and the notes that are sent.

`chains.llm.http` records a call just before it is sent, when its body is complete. Some providers
are called through another client, which does not use that module. These calls are recorded with
`ModelCallRecord.write_early` before the client is called.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chains.ledger import LedgerPort, NoLedger, OpenRecord, OutgoingCall
from context.assemble.request import Request
from context.layers import Segment

__all__ = ["CallOrigin", "CallRecorder", "ModelCallRecord"]


@dataclass(frozen=True)
class CallOrigin:
    """The turn that makes a model call.

    Attributes:
        session: the session id, or None if the session has not started.
        turn: the turn id, or None.
        read: the segments that tools have read during this turn.
    """

    session: str | None = None
    turn: str | None = None
    read: Sequence[Segment] = ()


@dataclass(frozen=True)
class CallRecorder:
    """Records the model calls of one turn in the ledger."""

    ledger: LedgerPort = field(default_factory=NoLedger)
    origin: CallOrigin = CallOrigin()

    def open_record(self, request: Request) -> "ModelCallRecord":
        """Create the ledger record for sending a request, without writing to the ledger yet."""
        origin, report = self.origin, request.report
        notes = tuple(dict.fromkeys(_list_notes(request, origin.read)))
        call = OutgoingCall(
            "model",
            "",
            session=origin.session or report.session,
            turn=origin.turn,
            notes=notes,
            tokens=report.used,
        )
        return ModelCallRecord(self.ledger, call)


class ModelCallRecord:
    """The ledger record of one attempt to call a model. It is written only once.

    Attributes:
        tokens: the token count reported by the service, or None.
    """

    def __init__(self, ledger: LedgerPort, call: OutgoingCall) -> None:
        self._ledger = ledger
        self._call = call
        self._written: OpenRecord | None = None
        self.tokens: int | None = None

    def write(self, host: str, bytes_out: int) -> None:
        """Record the model call in the ledger, unless this was already done.

        Args:
            host: the host of the model server.
            bytes_out: the number of bytes to send.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        if self._written is None:
            call = replace(self._call, host=host, bytes_out=bytes_out)
            self._written = self._ledger.record(call)

    def write_early(self, host: str, arguments: Mapping[str, Any]) -> None:
        """Record a call before it is made, using the size of its arguments as the body size.

        This is used for clients that do not report the body they send.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        body = {key: arguments[key] for key in ("model", "messages", "tools") if key in arguments}
        self.write(host, len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")))

    def finish(self, bytes_in: int) -> None:
        """Add the number of received bytes to the record, and `tokens` if they were reported."""
        if self._written is not None:
            self._written.finish(bytes_in, self.tokens)


def _list_notes(request: Request, read: Sequence[Segment]) -> Iterator[str]:
    """Yield the paths of the notes whose text is in a request.

    Args:
        read: the segments that tools have read during the turn.
    """
    for use in request.report.segments:
        if use.state != "dropped" and use.segment.kind != "url":
            yield use.segment.source
    for segment in read:
        yield segment.source
