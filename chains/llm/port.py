"""The interface of a language model: endpoint, events and protocol."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chains.cancel import CancelToken
from chains.citations.sections import ShownSection
from chains.events import Usage
from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.turn_answer import AnswerKind
from context.assemble.request import Request
from context.errors import UnguardedRequest

__all__ = [
    "Endpoint",
    "KeyFor",
    "LearnedPort",
    "ModelCalling",
    "ModelCalls",
    "ModelEnded",
    "ModelEvent",
    "ModelLoading",
    "ModelPort",
    "ModelReasoning",
    "ModelReshaped",
    "ModelRetracted",
    "ModelSent",
    "ModelText",
    "ModelWaiting",
    "RequestedCall",
    "ShapeMemory",
    "require_sealed",
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
        service: the name to show to the user: the provider's name, or the host of the user's own
            server.
        needs_key: whether calls fail without a key.
        key_owner: the provider or server address whose key is sent.
        query: the query that belongs to each request, such as `api-version=1`, or an empty string.
    """

    wire_name: str
    provider: str
    api_base: str
    host: str
    service: str
    is_local: bool
    needs_key: bool
    key_owner: str = ""
    query: str = ""


@dataclass(frozen=True)
class ModelSent:
    """The request was sent.

    Attributes:
        body: the JSON that was sent.
        max_output_tokens: the most tokens that the answer was allowed.
    """

    body: Mapping[str, Any]
    max_output_tokens: int


@dataclass(frozen=True)
class ModelText:
    """A piece of the answer's text, as it arrives."""

    text: str


@dataclass(frozen=True)
class ModelRetracted:
    """All text of the answer so far was reasoning, as a mark behind it has shown."""


@dataclass(frozen=True)
class ModelReasoning:
    """A piece of the model's reasoning, as it arrives.

    Attributes:
        signature: the provider's signature, which ends a section of reasoning, or an empty string.
    """

    text: str
    signature: str = ""


@dataclass(frozen=True)
class ModelCalling:
    """A piece of a tool call has arrived."""


@dataclass(frozen=True)
class RequestedCall:
    """A tool call requested by the model.

    Attributes:
        arguments: the arguments as JSON text, which may be invalid.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelCalls:
    """All tool calls that the model requests in an answer. `ModelEnded` follows."""

    calls: tuple[RequestedCall, ...]


@dataclass(frozen=True)
class ModelWaiting:
    """An attempt to call the model failed. The next one follows after `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True)
class ModelReshaped:
    """The server refused the usual request, and accepted it in another shape.

    Attributes:
        service: the name of the service.
        change: what was changed, such as "no temperature".
    """

    service: str
    change: str

    @property
    def text(self) -> str:
        """The warning for the user."""
        return (
            f"{self.service} refused the usual request, and accepted it with {self.change}. Later "
            "requests to this model are sent like this for 30 days."
        )


@dataclass(frozen=True)
class ModelLoading:
    """The progress of loading a model file, before its first answer.

    Attributes:
        name: the name of the model.
        done: the fraction loaded so far, from 0 to 1.
        needed_bytes: the memory that the model needs.
    """

    name: str
    done: float
    needed_bytes: int


@dataclass(frozen=True)
class ModelQuoted:
    """The kind of an answer of quotations, and the sections of notes that it shows, best first."""

    kind: AnswerKind = "answer"
    sections: tuple[ShownSection, ...] = ()


@dataclass(frozen=True)
class ModelEnded:
    """The end of an answer.

    Attributes:
        status: `interrupted` if the answer is incomplete.
        finish: the finish reason reported by the service, such as `stop` or `length`, or an empty
            string.
        usage: the reported token counts, or None.
        reason: why the answer was interrupted, or an empty string.
    """

    status: Literal["complete", "interrupted"]
    finish: str = ""
    usage: Usage | None = None
    reason: str = ""


ModelEvent = (
    ModelLoading
    | ModelSent
    | ModelReshaped
    | ModelText
    | ModelRetracted
    | ModelReasoning
    | ModelCalling
    | ModelCalls
    | ModelWaiting
    | ModelQuoted
    | ModelEnded
)


class ModelPort(Protocol):
    """A language model. It accepts only requests that were checked against the token budget."""

    def stream(self, request: Request, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Yield the events of an answer as they arrive, ending with `ModelEnded`.

        Raises:
            ModelError: there is no answer.
            ContextOverflow: the service rejects the request as too long.
            Cancelled: the token was cancelled.
            UnguardedRequest: the request did not pass the budget guard.
        """


def require_sealed(request: object) -> None:
    """Raise `UnguardedRequest` unless a request passed the budget guard."""
    if not (isinstance(request, Request) and request.is_sealed):
        raise UnguardedRequest("Only a request that passed the budget guard can be sent.")


class LearnedPort(Protocol):
    """Remembers what services said when they refused a request."""

    def find_limit(self, owner: str, reported: int | None) -> int | None:
        """Return the context length remembered for a model, or None if none is remembered.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            reported: the context length that the model table, the server or the settings state now.
                If it differs from the value that was passed to `learn_limit`, the remembered one
                is ignored.
        """

    def learn_limit(self, owner: str, limit: int, reported: int | None) -> None:
        """Remember the context length of a model. Errors are logged, not raised.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            limit: the context length in tokens.
            reported: the context length that the model table, the server or the settings state now.
        """

    def find_shape(self, owner: str) -> RequestShape:
        """Return the shape of the requests that a model takes, which is the usual one at first.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
        """

    def learn_shape(self, owner: str, shape: RequestShape) -> None:
        """Remember the shape of a model's requests for a month. Errors are logged, not raised.

        Args:
            owner: the model with its address, as in `ModelInfo.learned_owner`.
            shape: the shape of a request that the model has answered.
        """


@dataclass(frozen=True)
class ShapeMemory:
    """What is remembered about the requests that one model takes.

    Attributes:
        learned: the store, or None to remember nothing.
        owner: the model with its address, as in `ModelInfo.learned_owner`.
    """

    learned: LearnedPort | None = None
    owner: str = ""

    def find_shape(self) -> RequestShape:
        """Return the shape of the model's requests. It is the usual one at first."""
        return USUAL_SHAPE if self.learned is None else self.learned.find_shape(self.owner)

    def learn_shape(self, shape: RequestShape) -> None:
        """Remember the shape of a request that the model has answered."""
        if self.learned is not None:
            self.learned.learn_shape(self.owner, shape)
