"""Record the calls to a model in the ledger: what is sent, for which turn, with which notes.

`chains.llm.http` records a call when its body is complete, just before it is sent. Some providers
have their own clients, which bypass that module: `write_early` records their calls before the
client is called.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chains.ledger import LedgerPort, NoLedger, OpenRecord, OutgoingCall
from context.fit.guard import PreparedRequest
from context.layers import Segment

__all__ = ["CallOrigin", "CallRecorder", "ModelCallRecord"]


@dataclass(frozen=True)
class CallOrigin:
    """The turn that needs a call to a model.

    Attributes:
        session: the id of the session, or None if it has not begun.
        turn: the id of the turn, or None.
        read: the segments that tools have read in this turn.
    """

    session: str | None = None
    turn: str | None = None
    read: Sequence[Segment] = ()


@dataclass(frozen=True)
class CallRecorder:
    """Records the calls of one turn to a model."""

    ledger: LedgerPort = field(default_factory=NoLedger)
    origin: CallOrigin = CallOrigin()

    def open_record(self, request: PreparedRequest) -> "ModelCallRecord":
        """Return the record for one attempt to send a request. Nothing is written yet."""
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
    """The record of one attempt to call a model, written once.

    Attributes:
        tokens: the tokens that the service counted, in and out, or None until it reports them.
    """

    def __init__(self, ledger: LedgerPort, call: OutgoingCall) -> None:
        self._ledger = ledger
        self._call = call
        self._written: OpenRecord | None = None
        self.tokens: int | None = None

    def write(self, host: str, bytes_out: int) -> None:
        """Record the call, unless it is recorded already.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        if self._written is None:
            call = replace(self._call, host=host, bytes_out=bytes_out)
            self._written = self._ledger.record(call)

    def write_early(self, host: str, arguments: Mapping[str, Any]) -> None:
        """Record a call of a client that does not report its body, with the size of the arguments.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
        """
        body = {key: arguments[key] for key in ("model", "messages", "tools") if key in arguments}
        self.write(host, len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")))

    def finish(self, bytes_in: int) -> None:
        """Add the received bytes, and the counted tokens if the service reported them."""
        if self._written is not None:
            self._written.finish(bytes_in, self.tokens)


def _list_notes(request: PreparedRequest, read: Sequence[Segment]) -> Iterator[str]:
    """Yield the sources of the segments whose text is in a request."""
    for use in request.report.segments:
        if use.state != "dropped" and use.segment.kind != "url":
            yield use.segment.source
    for segment in read:
        yield segment.source
