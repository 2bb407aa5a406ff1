"""The exceptions of this package.

    ContextError
    ├── MalformedMessage    a malformed message, part or tool definition
    ├── MalformedEntry      a malformed log entry
    ├── UnknownEntry        an entry id that is not in the log
    ├── MalformedEnvelope   a malformed envelope
    ├── ContextPatchError   a patch of an envelope that cannot be applied
    ├── ContextHookError    a context hook that failed, so that nothing was sent
    │   └── HookPatchError  … because its patch cannot be applied; a ContextPatchError as well
    ├── SummaryFailed       a summary of old messages that cannot be used
    │   └── SummaryRefused  … because of its text, so that the model is asked once more
    ├── BadPin              an item that cannot be pinned
    │   └── PinTargetMissing  … because there is no such item
    ├── BadPolicy           budget thresholds out of order
    ├── BadInputs           the inputs of a request contradict each other
    ├── UnguardedRequest    a request that did not pass the guard
    └── ContextOverflow     content that must be sent exceeds the budget

Each message is one sentence for the user. `app.errors` adds an error code and a hint.
"""

from collections.abc import Mapping

from context.fixes import Fix, Setting


class ContextError(Exception):
    """The base class of all errors in `context`."""


class MalformedMessage(ContextError, ValueError):
    """Raised when a message, a message part or a tool definition is malformed."""


class MalformedEntry(ContextError, ValueError):
    """Raised when an entry of a session log is malformed."""


class UnknownEntry(ContextError, LookupError):
    """Raised when no entry of the session log has the given id."""


class MalformedEnvelope(ContextError, ValueError):
    """Raised when the JSON of an envelope is malformed."""


class ContextPatchError(ContextError, ValueError):
    """Raised when a patch of an envelope cannot be applied."""


class ContextHookError(ContextError):
    """Raised when a context hook fails. The request is aborted and nothing is stored.

    Attributes:
        name: the name of the hook.
        reason: the phase in which the hook ran: `before_request`, `ephemeral` or `turn_end`.
    """

    def __init__(self, name: str, reason: str, detail: str = "") -> None:
        found = f": {detail.rstrip('.')}." if detail else "."
        super().__init__(f'The hook "{name}" failed at {reason}{found}')
        self.name = name
        self.reason = reason


class HookPatchError(ContextHookError, ContextPatchError):
    """Raised when a context hook returns a patch that cannot be applied."""


class SummaryFailed(ContextError):
    """Raised when a summary of old messages cannot be used.

    If a model wrote the summary, an outline made without a model is used instead.
    """


class SummaryRefused(SummaryFailed):
    """Raised when the text of a model's summary must not replace the messages."""


class BadPin(ContextError, ValueError):
    """Raised when an item cannot be pinned, because the pins would exceed their token limit."""


class PinTargetMissing(BadPin):
    """Raised when the item to pin does not exist."""


class BadPolicy(ContextError, ValueError):
    """Raised when budget thresholds do not have the order 0 < trim ≤ compact ≤ block ≤ 1."""


class BadInputs(ContextError, ValueError):
    """Raised when the inputs of a request contradict each other."""


class UnguardedRequest(ContextError, TypeError):
    """Raised when a request is built by code other than the budget guard, which checks its size."""


class ContextOverflow(ContextError):
    """Raised when the content that must be sent exceeds the token budget. Nothing is sent.

    Attributes:
        report: the context report as JSON, or None if the provider reported the overflow.
        ways_out: sentences that tell the user what to do, most useful first.
        limit: the context length in tokens from the provider's error message, or None.
    """

    def __init__(
        self,
        message: str,
        report: Mapping[str, object] | None = None,
        ways_out: tuple[Fix, ...] = (
            Fix("Raise {}.", Setting("autoCompactThreshold")),
            Fix("Attach what is long in it as a file."),
            Fix("Split it into several questions."),
        ),
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.report = report
        self.ways_out = ways_out
        self.limit = limit
