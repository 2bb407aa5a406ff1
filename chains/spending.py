"""The interface of the spending limit, which every call to a model with a price passes twice.

`check` comes first, and may ask the user, who takes the time that they need. `reserve` comes just
before the call is sent, and books the most that the call can cost, so that neither a call beside it
nor a kill loses what is spent. What the call really cost replaces it at the end:

```
limit.check(call, cancel)               # may ask; raises SpendingLimitReached
booked = limit.reserve(call)            # raises SpendingLimitReached
...                                     # the call
booked.settle(cost)                     # None keeps the most that it can cost
```
"""

from dataclasses import dataclass
from typing import Protocol

from chains.cancel import CancelToken

__all__ = ["NoSpendingLimit", "PricedCall", "Reservation", "SpendingPort"]


@dataclass(frozen=True)
class PricedCall:
    """A call that is about to be made, with the most that it can cost.

    Attributes:
        model: the name of the model.
        host: the host or the name of the service.
        most: the most that the call can cost in dollars, or None if no price is known.
    """

    model: str
    host: str
    most: float | None


class Reservation(Protocol):
    """The money that is booked for a call until its cost is known."""

    def settle(self, cost: float | None) -> None:
        """Book what a call cost. Errors are logged, not raised.

        Args:
            cost: the cost in dollars, or None to keep the most that the call can cost.
        """


class SpendingPort(Protocol):
    """The limit for the calls of one turn. Thread-safe."""

    def check(self, call: PricedCall, cancel: CancelToken) -> float:
        """Ask the user about a call that may pass a limit, and return how long that took.

        Raises:
            SpendingLimitReached: the call may pass a limit, and the user did not allow it.
            LedgerFailed: what was spent cannot be read.
            Cancelled: the token was cancelled meanwhile.
        """

    def reserve(self, call: PricedCall) -> Reservation:
        """Reserve the highest possible cost of a call, just before it is sent.

        Raises:
            SpendingLimitReached: the call may pass a limit, and the user did not allow it.
            LedgerFailed: the cost cannot be booked, so the call must not be made.
        """


class _Unbooked:
    def settle(self, cost: float | None) -> None:
        """Discard the cost of a call."""


class NoSpendingLimit:
    """A limit that allows every call, for using `chains` outside of the application."""

    def check(self, call: PricedCall, cancel: CancelToken) -> float:  # noqa: ARG002
        """Allow a call without asking."""
        return 0.0

    def reserve(self, call: PricedCall) -> Reservation:  # noqa: ARG002
        """Allow a call without booking its cost."""
        return _Unbooked()
