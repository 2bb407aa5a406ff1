"""What a chain asks a model through: where it is, what it answers, and how that ends."""

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
    """Where a model is, and how it is called there.

    Attributes:
        wire_name: its name with the provider's prefix.
        provider: as litellm names it.
        service: the provider's name, or the host of a server of one's own, for the user.
        needs_key: whether a call without a key cannot work.
        key_owner: whose key may be sent: a provider, or the address of a server of one's own.
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
    """The request is on its way; `body` is the JSON that was handed to the network."""

    body: Mapping[str, Any]


@dataclass(frozen=True)
class ModelText:
    """The next words of the answer."""

    text: str


@dataclass(frozen=True)
class ModelReasoning:
    """The next words of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True)
class RequestedCall:
    """A call of a tool, as the model wrote it.

    Attributes:
        arguments: the text of a JSON object, unless the model got it wrong.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelCalls:
    """The model asks for tools; they are whole, and come before `ModelEnded`."""

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
        finish: the reason the service gave, such as `stop` or `length`; empty where it gave none.
        usage: what the service counted; None where it did not.
    """

    status: Literal["complete", "interrupted"]
    finish: str = ""
    usage: Usage | None = None
    reason: str = ""


ModelEvent = ModelSent | ModelText | ModelReasoning | ModelCalls | ModelWaiting | ModelEnded


class ModelPort(Protocol):
    """Answers a request that passed the guard."""

    def stream(self, request: PreparedRequest, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the answer as it comes; the last event is `ModelEnded`.

        Raises:
            ModelError: there is no answer.
            ContextOverflow: the service says that the request is too long.
            Cancelled: the token was cancelled.
        """
