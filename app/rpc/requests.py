"""The requests of the RPC; each is one JSON object on a line, parsed and checked here."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import AppError, InvalidRequest
from chains.events import Mode
from context.messages import clean_json

LONGEST_LINE: Final = (
    16_000_000  # bytes; a question of 200,000 characters has at most 1,200,000 bytes
)


class Request(BaseModel):
    """The fields that every request has.

    Attributes:
        id: any value; the response repeats it.
        session: the chat; None means the chat that was opened last.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: Any = None
    type: str
    session: str | None = None


class PromptRequest(Request):
    """Ask a question; the response comes when it is stored, and `turn_end` is the last event.

    Attributes:
        read_whole: whether a model reads the attachments that are too large to be sent.
            `get_context` returns the cost.
    """

    text: str
    mode: Mode | None = None
    attach: list[str] = []
    parent: str | None = None
    read_whole: bool = False


class Edit(Request):
    """Ask an edited user message as a new version of it."""

    entry: str
    text: str


class Regenerate(Request):
    """Generate another version of an answer."""

    entry: str


class SelectLeaf(Request):
    """Make another branch the active one."""

    entry: str


class Abort(Request):
    """Cancel the running turn or compaction of a chat."""


class Approve(Request):
    """Decide about a tool call that waits in an `approval_request` event."""

    approval_id: str
    decision: Literal["allow", "deny", "allow_session"]


class Compact(Request):
    """Summarise all but the last turn of a chat."""

    custom_instructions: str = Field("", alias="customInstructions")


class SetAutoCompaction(Request):
    """Switch automatic compaction on or off."""

    enabled: bool


class GetContext(Request):
    """Get the content of the last or the next request.

    Attributes:
        text: a question that is not sent yet; its attachments are in `attach`.
    """

    when: Literal["last", "next"] | None = None
    text: str = ""
    attach: list[str] = []
    format: Literal["summary", "full"] = "summary"
    include_ephemeral: bool = Field(True, alias="includeEphemeral")


class GetEntries(Request):
    """Get the log entries of a chat."""

    path_only: bool = False


class GetState(Request):
    """Get the state of the server."""


class Pin(Request):
    """Pin or unpin a message or a segment."""

    target: str
    on: bool


class SendMessage(Request):
    """Add a message of a program to a chat; no model is called.

    Attributes:
        custom_type: the program's name for messages of this type.
        content: a text, or a list of parts as in a user message.
        display: whether the transcript shows the message.
    """

    custom_type: str
    content: str | list[dict[str, Any]]
    display: bool = True


class Label(Request):
    """Label an entry; an empty label removes it."""

    target: str
    label: str


class NewSession(Request):
    """Create a chat.

    Attributes:
        project: the folder of its project; its questions are then asked in the mode project.
    """

    project: str | None = None


class OpenSession(Request):
    """Continue a chat."""

    session: str


class SetMode(Request):
    """Set the mode of later questions."""

    mode: Mode


class SetModel(Request):
    """Set the model of later questions."""

    model: str


class SetSetting(Request):
    """Change a setting and save it."""

    key: str
    value: Any


class Undo(Request):
    """Undo the edits of notes of a run.

    Attributes:
        run: the run; None means the last run of the chat.
        edit: one edit instead of a run.
    """

    run: str | None = None
    edit: str | None = None


class Search(Request):
    """Search the notes for passages."""

    query: str
    k: int | None = Field(None, ge=1, le=1_000)


class Index(Request):
    """Bring the index up to date."""


class Shutdown(Request):
    """Cancel all work and end the server."""


_TYPES: Final[Mapping[str, type[Request]]] = {
    "abort": Abort,
    "approve": Approve,
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
    "undo": Undo,
}


class UnreadableRequest(Exception):
    """Raised for a line that is not a valid request.

    Attributes:
        id: the id of the request; None if none was found.
        command: the type of the request; None if none was found.
        error: the error to respond with.
    """

    def __init__(self, error: AppError, id: Any = None, command: str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = id
        self.command = command


def parse(line: bytes) -> Request:
    """Parse a line as a request.

    Raises:
        UnreadableRequest: the line is not JSON, has an unknown type, or lacks a required field.
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
    # The response repeats the id unchanged, whatever its type.
    kept = {"id": found["id"]} if "id" in found else {}
    return {**clean_json(found), **kept}


def _sentence(command: str, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"])
    return f"{command}: {place}: {said[0].lower()}{said[1:]}."


def _read_number(text: str) -> float:
    """Parse a number of a request; infinite ones are refused, as JSON cannot represent them."""
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON has")
