"""What can go wrong in a chain, each as one sentence with a way out.

```
ChainError
├── Cancelled            the user stopped it
├── BadPrompt            a prompt that is not one
├── CannotRead           an attachment that cannot be read whole
├── ToolFailed           a tool could not do what was asked
└── ModelError           the model gave no answer
    ├── MissingKey       the service has no key, or refuses the one it has
    ├── RateLimited      the service asks to wait
    ├── ModelUnavailable nobody answers at that place, or the answer broke off empty
    ├── BadRequest       the service does not accept the request
    └── Offline          the call would leave this computer, which is switched off
```

A request that is too long for the model is `context.fit.guard.ContextOverflow`, whoever notices it.
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
    """A tool could not do what was asked; the message is for the model and says what else to do."""


class BadPrompt(ChainError):
    """A text is not a prompt; the message says why, worded to follow the name of its file."""


class CannotRead(ChainError):
    """An attachment cannot be read whole; what else can be done is in the message."""


class Cancelled(ChainError):
    """The work was stopped by whoever asked for it."""

    def __init__(self) -> None:
        super().__init__("Stopped. What had arrived is kept.")


class ModelError(ChainError):
    """The model gave no answer.

    Attributes:
        service: who was asked: a provider's name, or the host of a server of one's own.
        reason: what the service or the network said, in one line; may be empty.
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
    """Nobody answers there, or what came broke off before the first word."""

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
    """Return a time to wait as a person would say it, rounded up."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{math.ceil(seconds / length):,} {unit}s"
    return f"{math.ceil(seconds)} s"
