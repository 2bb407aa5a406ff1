"""Parse and validate the lines of RPC clients, and find the function that serves each of them.

The class of a request, the function that serves it and its row in `handlers` stand together in the
module of its concept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import AppError, InvalidRequest, NotFound
from app.rpc.wire import Json
from chains.cancel import CancelToken
from chains.tools.schema import clean_json, parse_json

LONGEST_LINE: Final = (
    16_000_000  # bytes; a question of 200,000 characters has at most 1,200,000 bytes
)


class RpcRequest(BaseModel):
    """The fields of every request.

    Attributes:
        id: any value chosen by the client, which the response repeats.
        type: the request type, such as `prompt`.
        session: the chat, or None for the one opened last.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: Any = None
    type: str
    session: str | None = None


_Fields = TypeVar("_Fields", bound=RpcRequest)


@dataclass(frozen=True)
class Quick(Generic[_Fields]):
    """How a request is served that is answered before the next one is read.

    Attributes:
        fields: the class of the request.
        serve: returns the data of the response, or None if it responds by itself, later.
    """

    fields: type[_Fields]
    serve: Callable[[_Fields], Json | None]


@dataclass(frozen=True)
class Slow(Generic[_Fields]):
    """How a request is served that may take long: in a thread, until `abort` is requested.

    Attributes:
        fields: the class of the request.
        serve: returns the data of the response.
        changes_chat: whether the chat must not be busy, and is busy meanwhile. A function says so
            of a request.
    """

    fields: type[_Fields]
    serve: Callable[[_Fields, CancelToken], Json]
    changes_chat: bool | Callable[[_Fields], bool] = False

    def is_change(self, request: _Fields) -> bool:
        """Return whether a request changes its chat."""
        return self.changes_chat(request) if callable(self.changes_chat) else self.changes_chat


Handlers = Mapping[str, Quick[Any] | Slow[Any]]


def require_chat(request: RpcRequest) -> str:
    """Return the chat of a request, or raise `NotFound` if no chat is open."""
    if request.session is None:
        raise NotFound("No chat is open.", hint="Send prompt, new_session or open_session.")
    return request.session


class UnreadableRequest(Exception):
    """Raised when a line is not a valid request.

    Attributes:
        id: the request id, or None if it cannot be read.
        command: the request type, or None if it cannot be read.
        error: the error to respond with.
    """

    def __init__(self, error: AppError, id: Any = None, command: str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = id
        self.command = command


def parse(line: bytes, types: Mapping[str, type[RpcRequest]]) -> RpcRequest:
    """Parse and validate a request.

    Args:
        line: the request.
        types: the class of each type of request.

    Raises:
        UnreadableRequest: the line is too long, is not JSON, has an unknown type, or has missing or
            invalid fields.
    """
    found = _object(line)
    id, command = found.get("id"), found.get("type")
    if not isinstance(command, str):
        error = InvalidRequest(
            "A request needs a type.", hint=f"There are: {', '.join(sorted(types))}."
        )
        raise UnreadableRequest(error, id)
    if command not in types:
        unknown = InvalidRequest(f"Unknown command: {command}")
        raise UnreadableRequest(unknown, id, command)
    try:
        return types[command].model_validate(found)
    except ValidationError as error:
        raise UnreadableRequest(InvalidRequest(_sentence(command, error)), id, command) from error


def _object(line: bytes) -> dict[str, Any]:
    if len(line) >= LONGEST_LINE:
        too_long = f"The line is longer than {LONGEST_LINE:,} bytes."
        raise UnreadableRequest(InvalidRequest(too_long))
    try:
        found = parse_json(line)
    except ValueError as error:
        raise UnreadableRequest(InvalidRequest(f"The line is not JSON: {error}.")) from error
    if not isinstance(found, dict):
        raise UnreadableRequest(InvalidRequest("The line is not a JSON object."))
    # The response repeats the id unchanged, whatever its type.
    kept = {"id": found["id"]} if "id" in found else {}
    return {**clean_json(found), **kept}


def _sentence(command: str, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = str(first["msg"])
    return f"{command}: {place}: {message[0].lower()}{message[1:]}."
