"""The port to a language model: endpoint, events of an answer, and protocol."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chains.cancel import CancelToken
from chains.events import Usage
from context.fit.guard import PreparedRequest

__all__ = [
    "Endpoint",
    "KeyFor",
    "LimitsPort",
    "ModelCalls",
    "ModelEnded",
    "ModelEvent",
    "ModelLoading",
    "ModelPort",
    "ModelReasoning",
    "ModelSent",
    "ModelText",
    "ModelWaiting",
    "RequestedCall",
]

# Returns the key for a provider, or for an address such as "https://HOST:8000". Returns None if the
# user has entered no key for it.
KeyFor = Callable[[str], str | None]


@dataclass(frozen=True)
class Endpoint:
    """The address of a model, and the names of the model and its service.

    Attributes:
        wire_name: the model's name with its provider's prefix.
        provider: the provider's name in litellm.
        service: the provider's name, or the host of the user's own server, for messages.
        needs_key: whether a call fails without a key.
        key_owner: the owner of the key to send: a provider, or the address of the user's server.
    """

    wire_name: str
    provider: str
    api_base: str
    host: str
    service: str
    is_local: bool
    needs_key: bool
    key_owner: str = ""


@dataclass(frozen=True)
class ModelSent:
    """The request was sent. `body` is its JSON."""

    body: Mapping[str, Any]


@dataclass(frozen=True)
class ModelText:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True)
class ModelReasoning:
    """The next piece of the model's reasoning.

    Attributes:
        signature: the signature of the reasoning since the previous signature, or an empty string
            if this piece does not end it.
    """

    text: str
    signature: str = ""


@dataclass(frozen=True)
class RequestedCall:
    """A tool call as received from the model.

    Attributes:
        arguments: the arguments as JSON text, which may be invalid.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelCalls:
    """The complete tool calls of the answer. This event precedes `ModelEnded`."""

    calls: tuple[RequestedCall, ...]


@dataclass(frozen=True)
class ModelWaiting:
    """An attempt failed, and the next one follows in `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True)
class ModelLoading:
    """A model file is being loaded, which happens before its first answer.

    Attributes:
        name: the name of the model.
        done: the loaded share, from 0 to 1.
        needed_bytes: the memory that the model needs.
    """

    name: str
    done: float
    needed_bytes: int


@dataclass(frozen=True)
class ModelEnded:
    """The answer has ended.

    Attributes:
        status: `interrupted` if the answer broke off.
        finish: the finish reason of the service, such as `stop` or `length`, or an empty string if
            it sent none.
        usage: the token counts of the service, or None if it reported none.
        reason: the reason of an interruption, or an empty string if there was none.
    """

    status: Literal["complete", "interrupted"]
    finish: str = ""
    usage: Usage | None = None
    reason: str = ""


ModelEvent = (
    ModelLoading | ModelSent | ModelText | ModelReasoning | ModelCalls | ModelWaiting | ModelEnded
)


class ModelPort(Protocol):
    """A language model that answers requests that passed the budget guard."""

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the events of the answer as they arrive. The last one is `ModelEnded`.

        Raises:
            ModelError: there is no answer.
            ContextOverflow: the service rejects the request as too long.
            Cancelled: the token was cancelled.
        """


class LimitsPort(Protocol):
    """The context lengths that services named when they refused a request as too long."""

    def find(self, owner: str, reported: int | None) -> int | None:
        """Return the remembered limit, or None.

        Args:
            owner: the model with its address, as in `ModelInfo.limit_owner`.
            reported: the limit that the table, the server or the settings report now. A limit that
                was learned while another one was reported is outdated.
        """

    def learn(self, owner: str, limit: int, reported: int | None) -> None:
        """Remember a limit. A failure to store it is logged, and not raised."""
