"""The port to a language model: its endpoint, the events of its answer, its protocol."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chains.cancel import CancelToken
from chains.events import Usage
from context.fit.guard import PreparedRequest

__all__ = [
    "Endpoint",
    "KeyFor",
    "ModelCalls",
    "ModelEnded",
    "ModelEvent",
    "ModelPort",
    "ModelReasoning",
    "ModelSent",
    "ModelText",
    "ModelWaiting",
    "RequestedCall",
]

# Returns the key of a provider or, for an address such as "https://HOST:8000", the key that was
# entered for that address; None where there is none.
KeyFor = Callable[[str], str | None]


@dataclass(frozen=True)
class Endpoint:
    """The address of a model, and its names there.

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
    """The request was sent; `body` is its JSON."""

    body: Mapping[str, Any]


@dataclass(frozen=True)
class ModelText:
    """The next words of the answer."""

    text: str


@dataclass(frozen=True)
class ModelReasoning:
    """The next words of the model's reasoning."""

    text: str


@dataclass(frozen=True)
class RequestedCall:
    """A tool call, as the model wrote it.

    Attributes:
        arguments: the text of a JSON object, unless the model made a mistake.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelCalls:
    """The complete tool calls of the answer; they come before `ModelEnded`."""

    calls: tuple[RequestedCall, ...]


@dataclass(frozen=True)
class ModelWaiting:
    """A try failed, and the next follows in `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True)
class ModelEnded:
    """The answer is over.

    Attributes:
        status: `interrupted` where it broke off after its first words.
        finish: the finish reason of the service, such as `stop` or `length`; may be empty.
        usage: the tokens that the service counted; None where it did not.
    """

    status: Literal["complete", "interrupted"]
    finish: str = ""
    usage: Usage | None = None
    reason: str = ""


ModelEvent = ModelSent | ModelText | ModelReasoning | ModelCalls | ModelWaiting | ModelEnded


class ModelPort(Protocol):
    """A language model that answers a request that passed the guard."""

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer as it comes; the last event is `ModelEnded`.

        Raises:
            ModelError: there is no answer.
            ContextOverflow: the service says that the request is too long.
            Cancelled: the token was cancelled.
        """
