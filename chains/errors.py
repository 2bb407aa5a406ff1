"""The exceptions of this package, and the sentences of errors that a person reads.

```
ChainError
├── Cancelled            the user stopped the work
├── BadPrompt            a file is not a valid prompt
├── CannotRead           an attachment cannot be read in full
├── CannotSee            an image is attached, and the model does not accept images
├── ToolFailed           a tool failed
├── FetchFailed          a web page cannot be fetched
├── McpFailed            an MCP server cannot be used, or its tool failed
├── LedgerFailed         a call could not be recorded, so it was not made
└── ModelError           the model returned no answer
    ├── MissingKey       no key is set for the service, or the service refused it
    ├── RateLimited      the service asks to wait (429)
    ├── ModelUnavailable no server responds, or the connection broke before any text
    ├── BadRequest       the service rejects the request
    ├── QuotaUsedUp      the account at the service has no quota or credit left
    ├── WrongAddress     the address leads to a web page
    ├── SpendingLimitReached  the call may cost more than the user's limit leaves
    │   └── UnpricedCallHeld  the model has no known price, and such calls are held back
    ├── LocalModelFailed a model file cannot be opened, or its process ended
    ├── ClientNotLoaded  the library that calls services cannot be imported
    └── Offline          the call would leave this computer while privacy.offline is on
```

`chains.llm.failures` maps the status and text of a provider to one of these errors. A request that
is too long for the model raises `context.errors.ContextOverflow`.
"""

import math
from collections.abc import Sequence
from typing import ClassVar, Final, Literal

__all__ = [
    "MODEL_ERRORS",
    "BadPrompt",
    "BadRequest",
    "Cancelled",
    "CannotRead",
    "CannotSee",
    "ChainError",
    "ClientNotLoaded",
    "FetchFailed",
    "LedgerFailed",
    "LocalModelFailed",
    "McpFailed",
    "MissingKey",
    "ModelError",
    "ModelUnavailable",
    "Offline",
    "ProposalOutdated",
    "QuotaUsedUp",
    "RateLimited",
    "SpendingLimitReached",
    "ToolFailed",
    "UnpricedCallHeld",
    "WrongAddress",
    "format_dollars",
]

SpendingPeriod = Literal["day", "month"]


class ChainError(Exception):
    """Base class of the exceptions in this package."""


class ToolFailed(ChainError):
    """A tool call failed. The message tells the model what to do instead."""


class FetchFailed(ChainError):
    """A web page cannot be fetched or read. The message says why."""


class LedgerFailed(ChainError):
    """An outgoing call could not be recorded in the ledger, so it was not made."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(
            f"The call to {host} could not be recorded, so it was not made: {reason} "
            "Every call that leaves Strata is listed in the ledger."
        )
        self.host = host


class ProposalOutdated(ChainError):
    """The content that a proposal would change has changed since the proposal was shown."""


class McpFailed(ChainError):
    """An MCP server or one of its tools failed. The message says why."""


class BadPrompt(ChainError):
    """A file is not a valid prompt. The message says why, and is shown after the file name."""


class CannotRead(ChainError):
    """An attachment cannot be read in full. The message suggests what to do."""


class CannotSee(ChainError):
    """Images are attached, but the model does not accept images.

    Args:
        reason: why images cannot be sent.
        images: the names of the images.
        model: the model, or an empty string if none is set.
    """

    def __init__(self, reason: str, images: Sequence[str], model: str = "") -> None:
        verb = "is" if len(images) == 1 else "are"
        super().__init__(f"{reason} {', '.join(images)} {verb} not sent.")
        self.model = model


class Cancelled(ChainError):
    """The user or the caller cancelled the work, so it has no result."""

    def __init__(self) -> None:
        super().__init__("Stopped. What had arrived is kept.")


class ModelError(ChainError):
    """The model returned no answer.

    Attributes:
        service: the provider's name, or the host of a server that the user set up.
        reason: the error text of the service or the network in one line. It may be empty.
        code: the stable name of the kind of error.
        refusal: all that the service says about a request that it refused, or an empty string. See
            `chains.llm.request_shape`.
        retry_after_s: how many seconds the service asks to wait, or None if it does not say.
    """

    code: ClassVar[str] = "internal"
    is_retryable = False
    retry_after_s: float | None = None

    def __init__(self, message: str, *, service: str, reason: str = "") -> None:
        super().__init__(message)
        self.service = service
        self.reason = reason
        self.refusal = ""


class MissingKey(ModelError):
    """No API key is set for the service, or the service refused the key.

    With `is_forbidden`, the message gives the reason, because the key may not be the cause.

    Attributes:
        is_refused: whether the service refused the key that was sent.
        key_owner: the provider or address that the key belongs to, or an empty string if unknown.
    """

    code = "missing_key"

    def __init__(
        self,
        service: str,
        *,
        is_refused: bool = False,
        is_forbidden: bool = False,
        reason: str = "",
        key_owner: str = "",
    ) -> None:
        problem = "refused the key" if is_refused else "needs a key"
        way_out = (
            "Check it, or choose another model."
            if is_refused
            else ("Enter one in the settings, or choose another model.")
        )
        if is_forbidden:
            problem = f"refused the call: {reason.rstrip('.')}"
            way_out = (
                f"{'Check the key' if is_refused else 'Enter a key'}, or choose another model."
            )
        super().__init__(f"{service} {problem}. {way_out}", service=service, reason=reason)
        self.is_refused = is_refused
        self.key_owner = key_owner


class RateLimited(ModelError):
    """The service limits the rate of requests and asks the client to wait."""

    code = "rate_limited"

    is_retryable = True

    def __init__(self, service: str, *, retry_after_s: float | None, reason: str = "") -> None:
        wait = "" if retry_after_s is None else f" {_format_wait(retry_after_s)}"
        super().__init__(
            f"{service} asks to wait{wait}. Your message is kept: try again then.",
            service=service,
            reason=reason,
        )
        self.retry_after_s = retry_after_s


class ModelUnavailable(ModelError):
    """No server responds, or the connection broke before any text arrived."""

    code = "model_unavailable"

    is_retryable = True

    def __init__(
        self,
        service: str,
        *,
        reason: str = "",
        has_responded: bool = False,
        is_permanent: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        because = f" ({reason})" if reason else ""
        is_address = service == "localhost" or any(sign in service for sign in ".:")
        first = "start it" if is_address else "check the network"
        problem = f"does not answer{because}. Your message is kept: {first} and try again"
        if has_responded and reason:
            problem = f"reported an error: {reason.rstrip('.')}. Your message is kept: try again"
        super().__init__(
            f"The server at {service} {problem}, or choose another model.",
            service=service,
            reason=reason,
        )
        self.is_retryable = not is_permanent
        self.retry_after_s = retry_after_s


class BadRequest(ModelError):
    """The service rejects the request as invalid, for example because the model does not exist."""

    code = "bad_request"

    def __init__(self, service: str, *, reason: str) -> None:
        super().__init__(
            f"{service} did not accept the request: {reason}", service=service, reason=reason
        )


class QuotaUsedUp(ModelError):
    """The account at the service has no quota or credit left, so asking again is of no use."""

    code = "rate_limited"

    def __init__(self, service: str, *, reason: str) -> None:
        super().__init__(
            f"{service} answers no more for this account: {reason.rstrip('.')}. Your message is "
            "kept: check the account's plan, or choose another model.",
            service=service,
            reason=reason,
        )


class WrongAddress(ModelError):
    """The address of a model server leads to a web page, or to a path that the server lacks.

    Args:
        server_message: what the server says about the path, or an empty string for a web page.
    """

    code = "bad_request"

    def __init__(self, address: str, server_message: str = "") -> None:
        place = address.rstrip("/")
        way_out = "Check it"
        if not place.endswith("/v1"):
            way_out = f"A model server's address mostly ends with /v1: try {place}/v1"
        problem = (
            f"does not lead to a model ({server_message.rstrip('.')})"
            if server_message
            else "leads to a web page"
        )
        end = "" if server_message else ", not to a model"
        super().__init__(
            f"The address {place} {problem}{end}. {way_out} (chat.apiBase).",
            service=place,
            reason=f"its address {problem}",
        )


class LocalModelFailed(ModelError):
    """A model file cannot be opened, or the process that runs it ended."""

    code = "model_unavailable"


class ClientNotLoaded(ModelError):
    """The library that calls model services cannot be imported, such as without free memory."""

    code = "model_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Strata could not load its client for model services ({reason.rstrip('.')}). Your "
            "message is kept: try again, and start Strata anew if that does not help.",
            service="Strata",
            reason=reason,
        )


class Offline(ModelError):
    """The call needs another computer, but the setting `privacy.offline` is on."""

    code = "offline"

    def __init__(self, service: str) -> None:
        super().__init__(
            f"Offline is on, so {service} was not called. "
            "Choose a model on this computer, or switch privacy.offline off.",
            service=service,
        )


class SpendingLimitReached(ModelError):
    """A call may cost more than the user's spending limit leaves, so it was not made.

    Attributes:
        period: the period of the limit.
        most: the most that the call can cost, in dollars.
        spent: what was spent in the period so far, in dollars.
        limit: the limit of the period, in dollars.
        calls: the number of calls that cost so much together, or None for that of a message.
    """

    code = "spending_limit"

    def __init__(
        self,
        service: str,
        *,
        period: SpendingPeriod,
        most: float,
        spent: float,
        limit: float,
        calls: int | None = None,
    ) -> None:
        word = {"day": "today", "month": "this month"}[period]
        several = calls is not None and calls > 1
        what = f"Up to {calls} calls may cost" if several else "This call may cost"
        end = f"{'They were' if several else 'It was'} not sent{_end_limit(calls)}"
        super().__init__(
            f"{what} {format_dollars(most)}, and {format_dollars(spent)} of "
            f"{format_dollars(limit)} were spent {word}. {end}",
            service=service,
            reason=f"it may pass the spending limit of {format_dollars(limit)} {word}",
        )
        self.period: SpendingPeriod = period
        self.most, self.spent, self.limit, self.calls = most, spent, limit, calls


def _end_limit(calls: int | None) -> str:
    """Return the end of the sentence that says that nothing was sent."""
    return ", and your message is kept." if calls is None else "."


class UnpricedCallHeld(SpendingLimitReached):
    """A call to a model whose price is not known was held back, as the user wants it.

    `most` is 0, since the cost is not known.
    """

    def __init__(
        self,
        service: str,
        *,
        period: SpendingPeriod,
        spent: float,
        limit: float,
        model: str,
        calls: int | None = None,
    ) -> None:
        super().__init__(service, period=period, most=0.0, spent=spent, limit=limit, calls=calls)
        self.args = (
            f"The price of {model} is not known, so no spending limit can hold the call. It was "
            f"not sent{_end_limit(calls)}",
        )
        self.reason = "its price is not known"
        self.model = model


def format_dollars(amount: float) -> str:
    """Format an amount of money, such as `$12.50`, or `$0.0012` with two digits that say it."""
    if amount >= 0.095 or amount <= 0:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "less than $0.0001"


def _format_wait(seconds: float) -> str:
    """Format a waiting time, such as `3 minutes`, rounded up."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{math.ceil(seconds / length):,} {unit}s"
    return f"{math.ceil(seconds)} s"


MODEL_ERRORS: Final = (
    MissingKey,
    RateLimited,
    ModelUnavailable,
    LocalModelFailed,
    ClientNotLoaded,
    BadRequest,
    QuotaUsedUp,
    WrongAddress,
    SpendingLimitReached,
    UnpricedCallHeld,
    Offline,
)
