"""What can go wrong while a request is put together.

    ContextError
    ├── MalformedMessage    a message, part or tool definition that is not one
    ├── MalformedEntry      a log entry that is not one
    ├── UnknownEntry        an entry id that is not in the log
    ├── MalformedEnvelope   an envelope that is not one
    ├── ContextPatchError   a patch of an envelope that cannot be applied
    ├── ContextHookError    a context hook that failed, so that nothing was sent
    │   └── HookPatchError  … because its patch cannot be applied; a ContextPatchError as well
    ├── SummaryFailed       no summary of old messages could be made by a model
    ├── BadPin              something cannot be pinned
    ├── BadPolicy           budget thresholds out of order
    ├── BadInputs           the inputs of a request contradict each other
    ├── UnguardedRequest    a request that did not come out of the guard
    └── ContextOverflow     what cannot be left out is larger than the budget

Each message is one sentence that a person can act on; `app.errors` turns it into a code and a hint.
"""

from typing import Protocol


class LayerReport(Protocol):
    """The part of a context report that an overflow is explained with."""

    @property
    def budget(self) -> int:
        """What the request may hold."""

    @property
    def used(self) -> int:
        """What the request would hold at the least."""

    def to_dict(self) -> dict[str, object]:
        """Return the report with every field that the outside relies on."""

    def to_markdown(self) -> str:
        """Return the report as text for a person."""


class ContextError(Exception):
    """The root of everything that `context` raises."""


class MalformedMessage(ContextError, ValueError):
    """A message, one of its parts or a tool definition does not have the agreed shape."""


class MalformedEntry(ContextError, ValueError):
    """An entry of a session log does not have the agreed shape."""


class UnknownEntry(ContextError, LookupError):
    """An entry id is not in the log."""


class MalformedEnvelope(ContextError, ValueError):
    """An envelope does not have the agreed shape."""


class ContextPatchError(ContextError, ValueError):
    """A patch of an envelope cannot be applied."""


class ContextHookError(ContextError):
    """A context hook failed; the request was given up and nothing was stored.

    Attributes:
        name: of the hook.
        reason: the boundary it ran at, `before_request`, `ephemeral` or `turn_end`.
    """

    def __init__(self, name: str, reason: str, detail: str = "") -> None:
        found = f": {detail.rstrip('.')}." if detail else "."
        super().__init__(f'The hook "{name}" failed at {reason}{found}')
        self.name = name
        self.reason = reason


class HookPatchError(ContextHookError, ContextPatchError):
    """A context hook returned a patch that cannot be applied."""


class SummaryFailed(ContextError):
    """A model made no summary that can be used; an outline takes its place."""


class BadPin(ContextError, ValueError):
    """There is nothing to pin, or pins would take more of the budget than they may."""


class BadPolicy(ContextError, ValueError):
    """The thresholds of a budget policy are not 0 < trim ≤ compact ≤ block ≤ 1."""


class BadInputs(ContextError, ValueError):
    """The inputs of a request contradict each other."""


class UnguardedRequest(ContextError, TypeError):
    """Somebody other than the guard tried to make a request that can be sent."""


class ContextOverflow(ContextError):
    """What has to be sent is larger than the budget, so nothing was sent.

    Attributes:
        report: the layer table, where the overflow was found before sending; `None` where only the
            provider reported it.
        ways_out: what the user can do, most helpful first.
        limit: the context length that the provider's error names; None where it names none.
    """

    def __init__(
        self,
        message: str,
        report: LayerReport | None = None,
        ways_out: tuple[str, ...] = (
            "Raise autoCompactThreshold.",
            "Attach what is long in it as a file.",
            "Split it into several questions.",
        ),
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.report = report
        self.ways_out = ways_out
        self.limit = limit
