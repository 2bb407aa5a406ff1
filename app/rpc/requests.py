"""The requests of the RPC: parse and check one JSON object a line."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import AppError, InvalidRequest
from chains.events import Mode
from context.messages import clean_json

LONGEST_LINE: Final = 16_000_000  # bytes; a question of 200,000 characters has at most 1,200,000


class Request(BaseModel):
    """What every request has.

    Attributes:
        id: whatever the caller will know the response by.
        session: the chat it is about; None for the one that was opened last.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: Any = None
    type: str
    session: str | None = None


class PromptRequest(Request):
    """Ask a question; answered at once, and over with `turn_end`.

    Attributes:
        read_whole: have the model read what is attached and too large to be sent; what that takes
            is told by `get_context`.
    """

    text: str
    mode: Mode | None = None
    attach: list[str] = []
    parent: str | None = None
    read_whole: bool = False


class Edit(Request):
    """Ask again, in other words, what a user message asked."""

    entry: str
    text: str


class Regenerate(Request):
    """Answer again what an answer answered."""

    entry: str


class SelectLeaf(Request):
    """Go on from another branch."""

    entry: str


class Abort(Request):
    """Stop the turn that runs."""


class Compact(Request):
    """Sum up all but the last turn of a chat."""

    custom_instructions: str = Field("", alias="customInstructions")


class SetAutoCompaction(Request):
    """Sum old turns up without being asked, or not, from now on."""

    enabled: bool


class GetContext(Request):
    """Get what the model saw, or would see next.

    Attributes:
        text: a question that is not asked yet, with what is to be attached to it.
    """

    when: Literal["last", "next"] | None = None
    text: str = ""
    attach: list[str] = []
    format: Literal["summary", "full"] = "summary"
    include_ephemeral: bool = Field(True, alias="includeEphemeral")


class GetEntries(Request):
    """Get the lines of a chat."""

    path_only: bool = False


class GetState(Request):
    """Get the state of the server."""


class Pin(Request):
    """Pin or unpin a message or a segment."""

    target: str
    on: bool


class SendMessage(Request):
    """Put a message of a program into a chat; no model is called.

    Attributes:
        custom_type: what the program calls messages of this kind.
        content: text, or a list of parts, as in a message of the user.
        display: whether the transcript shows it.
    """

    custom_type: str
    content: str | list[dict[str, Any]]
    display: bool = True


class Label(Request):
    """Give an entry a name; an empty one takes it off."""

    target: str
    label: str


class NewSession(Request):
    """Begin a chat."""


class OpenSession(Request):
    """Go on with a chat."""

    session: str


class SetMode(Request):
    """Ask in this mode from now on."""

    mode: Mode


class SetModel(Request):
    """Ask this model from now on."""

    model: str


class SetSetting(Request):
    """Change a setting for good."""

    key: str
    value: Any


class Search(Request):
    """Find passages."""

    query: str
    k: int | None = Field(None, ge=1, le=1_000)


class Index(Request):
    """Bring the index up to date."""


class Shutdown(Request):
    """Stop what runs, and end."""


_TYPES: Final[Mapping[str, type[Request]]] = {
    "abort": Abort,
    "compact": Compact,
    "edit": Edit,
    "get_context": GetContext,
    "get_entries": GetEntries,
    "get_state": GetState,
    "index": Index,
    "label": Label,
    "new_session": NewSession,
    "open_session": OpenSession,
    "pin": Pin,
    "prompt": PromptRequest,
    "regenerate": Regenerate,
    "search": Search,
    "select_leaf": SelectLeaf,
    "send_message": SendMessage,
    "set_auto_compaction": SetAutoCompaction,
    "set_mode": SetMode,
    "set_model": SetModel,
    "set_setting": SetSetting,
    "shutdown": Shutdown,
}


class UnreadableRequest(Exception):
    """A line that nothing can be done with.

    Attributes:
        id: that of the request, as far as one was found.
        command: its type, as far as one was found.
        error: what is wrong with it.
    """

    def __init__(self, error: AppError, id: Any = None, command: str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = id
        self.command = command


def parse(line: bytes) -> Request:
    """Return the request of a line.

    Raises:
        UnreadableRequest: it is not JSON, of no type that is known, or lacks what its type needs.
    """
    found = _object(line)
    id, command = found.get("id"), found.get("type")
    if not isinstance(command, str):
        error = InvalidRequest("A request needs a type.", hint=f"There are: {', '.join(_TYPES)}.")
        raise UnreadableRequest(error, id)
    if command not in _TYPES:
        unknown = InvalidRequest(f"Unknown command: {command}")
        raise UnreadableRequest(unknown, id, command)
    try:
        return _TYPES[command].model_validate(found)
    except ValidationError as error:
        raise UnreadableRequest(InvalidRequest(_sentence(command, error)), id, command) from error


def _object(line: bytes) -> dict[str, Any]:
    if len(line) >= LONGEST_LINE:
        too_long = f"The line is longer than {LONGEST_LINE:,} bytes."
        raise UnreadableRequest(InvalidRequest(too_long))
    try:
        found = json.loads(line, parse_constant=_refuse_number, parse_float=_read_number)
    except (ValueError, RecursionError) as error:
        raise UnreadableRequest(InvalidRequest(f"The line is not JSON: {error}.")) from error
    if not isinstance(found, dict):
        raise UnreadableRequest(InvalidRequest("The line is not a JSON object."))
    # The id comes back as it was sent, whatever it is.
    kept = {"id": found["id"]} if "id" in found else {}
    return {**clean_json(found), **kept}


def _sentence(command: str, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"])
    return f"{command}: {place}: {said[0].lower()}{said[1:]}."


def _read_number(text: str) -> float:
    """Return a number of a request; one that no answer could repeat as JSON is refused."""
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON has")
