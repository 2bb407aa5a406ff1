"""Record model calls in the ledger, with the turn and the notes that are sent.

`chains.llm.http` records a call just before it is sent, when its body is complete. Some providers
are called through another client, which does not use that module. These calls are recorded with
`ModelCallRecord.write_early` before the client is called.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chains.cancel import CancelToken
from chains.ledger import LedgerPort, NoLedger, OpenRecord, OutgoingCall
from chains.llm.port import Endpoint
from chains.spending import NoSpendingLimit, PricedCall, Reservation, SpendingPort
from context.assemble.request import Request
from context.layers import Segment

__all__ = ["CallOrigin", "CallRecorder", "ModelCallRecord"]


# Returns the most that a call can cost in dollars, or None: by the endpoint, the tokens of the
# request, the most tokens of the answer, and whether a part of the request is to be cached.
PriceCall = Callable[[Endpoint, int, int, bool], float | None]


def _call_it_free(*_size: object) -> float:
    return 0.0


def _ignore_wait(_seconds: float) -> None:
    pass


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
    """Records the model calls of one turn in the ledger, and books what they cost.

    Attributes:
        ledger: records each call.
        origin: the chat and turn of the calls.
        spending: the limit for the calls.
        price: returns the most that a call can cost.
        add_wait: receives the seconds in which the user was asked about the limit.
    """

    ledger: LedgerPort = field(default_factory=NoLedger)
    origin: CallOrigin = CallOrigin()
    spending: SpendingPort = field(default_factory=NoSpendingLimit)
    price: PriceCall = _call_it_free
    add_wait: Callable[[float], None] = _ignore_wait

    def open_record(self, request: Request, endpoint: Endpoint) -> "ModelCallRecord":
        """Create the record for sending a request, without writing it yet."""
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
        priced = self._price(request, endpoint)
        return ModelCallRecord(self.ledger, call, self.spending, priced, self.add_wait)

    def _price(self, request: Request, endpoint: Endpoint) -> PricedCall:
        """Return a call with the most that it can cost, by the tokens that Strata counted."""
        report, most_tokens = request.report, request.base.options["maxTokens"]
        assert isinstance(most_tokens, int)
        tokens = math.ceil(report.used * report.request_budget.factor)
        most = self.price(endpoint, tokens, most_tokens, bool(request.marks))
        return PricedCall(report.model, endpoint.service, most)


class ModelCallRecord:
    """The record of one attempt to call a model, and its cost. It is written only once.

    Attributes:
        tokens: the token count reported by the service, or None.
        cost: the cost of the call in dollars by the reported token counts, or None.
    """

    def __init__(
        self,
        ledger: LedgerPort,
        call: OutgoingCall,
        spending: SpendingPort,
        priced: PricedCall,
        add_wait: Callable[[float], None],
    ) -> None:
        self._ledger, self._spending, self._add_wait = ledger, spending, add_wait
        self._call, self._priced = call, priced
        self._written: OpenRecord | None = None
        self._booked: Reservation | None = None
        self.tokens: int | None = None
        self.cost: float | None = None

    def check(self, cancel: CancelToken) -> float:
        """Ask the user if the call may pass a spending limit, and return how long that took.

        Raises:
            SpendingLimitReached: the call may pass a limit, and the user did not allow it.
        """
        if not self._has_cost:
            return 0.0
        waited_s = self._spending.check(self._priced, cancel)
        self._add_wait(waited_s)
        return waited_s

    def write(self, host: str, bytes_out: int) -> None:
        """Record the model call in the ledger, unless this was already done.

        Args:
            host: the host of the model server.
            bytes_out: the number of bytes to send.

        Raises:
            LedgerFailed: the call could not be recorded, so it must not be made.
            SpendingLimitReached: a call beside this one has used what was left of a limit.
        """
        if self._written is None:
            if self._has_cost:
                self._booked = self._spending.reserve(replace(self._priced, host=host))
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

    def finish(self, bytes_in: int, *, is_billed: bool = True) -> None:
        """Add the number of received bytes to the record, and `tokens` if they were reported.

        Args:
            bytes_in: the number of received bytes.
            is_billed: whether the service may bill the call. If it does not say its token counts,
                the most that the call can cost stays booked.
        """
        if self._booked is not None:
            self._booked.settle(self.cost if is_billed else 0.0)
        if self._written is not None:
            self._written.finish(bytes_in, self.tokens)

    @property
    def _has_cost(self) -> bool:
        return self._priced.most != 0.0


def _list_notes(request: Request, read: Sequence[Segment]) -> Iterator[str]:
    """Yield the paths of the notes whose text is in a request.

    Args:
        read: the segments that tools have read during the turn.
    """
    for use in request.report.segments:
        if use.state != "dropped" and not use.segment.is_web:
            yield use.segment.source
    for segment in read:
        if not segment.is_web:
            yield segment.source
