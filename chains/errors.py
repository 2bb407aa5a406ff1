"""The errors of chains, each with one sentence that offers a way out.

```
ChainError
├── Cancelled            the user stopped it
├── BadPrompt            a file is not a valid prompt
├── CannotRead           an attachment cannot be read whole
├── ToolFailed           a tool failed
└── ModelError           the model gave no answer
    ├── MissingKey       the service has no key, or refuses the one it has
    ├── RateLimited      the service asks to wait (429)
    ├── ModelUnavailable no server answers, or the answer broke off empty
    ├── BadRequest       the service does not accept the request
    └── Offline          the call would leave this computer, which is switched off
```

A provider's status and text become one of these in `chains.llm.failures`. A request that is too
long for the model is `context.errors.ContextOverflow`.
"""

import math

__all__ = [
    "BadPrompt",
    "BadRequest",
    "Cancelled",
    "CannotRead",
    "ChainError",
    "MissingKey",
    "ModelError",
    "ModelUnavailable",
    "Offline",
    "RateLimited",
]


class ChainError(Exception):
    """A chain could not finish."""


class ToolFailed(ChainError):
    """A tool failed; the message tells the model what to do instead."""


class BadPrompt(ChainError):
    """A file is not a valid prompt; the message follows the name of the file."""


class CannotRead(ChainError):
    """An attachment cannot be read whole; the message offers a way out."""


class Cancelled(ChainError):
    """The work was cancelled."""

    def __init__(self) -> None:
        super().__init__("Stopped. What had arrived is kept.")


class ModelError(ChainError):
    """The model gave no answer.

    Attributes:
        service: the provider's name, or the host of the user's own server.
        reason: the text of the service or the network, in one line; may be empty.
    """

    is_retryable = False

    def __init__(self, message: str, *, service: str, reason: str = "") -> None:
        super().__init__(message)
        self.service = service
        self.reason = reason


class MissingKey(ModelError):
    """The service has no key, or refuses the one it has."""

    def __init__(self, service: str, *, is_refused: bool = False, reason: str = "") -> None:
        said = "refused the key" if is_refused else "needs a key"
        way_out = (
            "Check it, or choose another model."
            if is_refused
            else ("Enter one in the settings, or choose another model.")
        )
        super().__init__(f"{service} {said}. {way_out}", service=service, reason=reason)
        self.is_refused = is_refused


class RateLimited(ModelError):
    """The service asks to wait longer than a turn should."""

    is_retryable = True

    def __init__(self, service: str, *, retry_after_s: float | None, reason: str = "") -> None:
        wait = "" if retry_after_s is None else f" {_told(retry_after_s)}"
        super().__init__(
            f"{service} asks to wait{wait}. Your message is kept: try again then.",
            service=service,
            reason=reason,
        )
        self.retry_after_s = retry_after_s


class ModelUnavailable(ModelError):
    """No server answers, or the answer broke off before its first word."""

    is_retryable = True

    def __init__(self, service: str, *, reason: str = "") -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(
            f"The model at {service} does not answer{because}. Your message is kept: "
            "start it and try again, or choose another model.",
            service=service,
            reason=reason,
        )


class BadRequest(ModelError):
    """The service does not accept the request as it is."""

    def __init__(self, service: str, *, reason: str) -> None:
        super().__init__(
            f"{service} did not accept the request: {reason}", service=service, reason=reason
        )


class Offline(ModelError):
    """The call would leave this computer while `privacy.offline` is on."""

    def __init__(self, service: str) -> None:
        super().__init__(
            f"Offline is on, so {service} was not called. "
            "Choose a model on this computer, or switch privacy.offline off.",
            service=service,
        )


def _told(seconds: float) -> str:
    """Return a time to wait in words, rounded up."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{math.ceil(seconds / length):,} {unit}s"
    return f"{math.ceil(seconds)} s"
