"""Messages and message parts, used by session logs, envelopes and requests."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, Self, TypeVar, cast, get_args

from context.errors import MalformedMessage
from context.layers import replace_surrogates

T = TypeVar("T")


class FrozenMapping(Mapping[str, object]):
    """An immutable, hashable JSON object with sorted keys.

    The keys are sorted, so that equal objects are encoded as equal bytes. Objects are compared by
    their JSON, so `1`, `1.0` and `true` differ.
    """

    def __init__(self, items: Mapping[str, object]) -> None:
        for key in items:
            if not isinstance(key, str):
                raise TypeError(f"A JSON object has text keys only, not {type(key).__name__}.")
        cleaned = {replace_surrogates(key): value for key, value in items.items()}
        self._items = {key: freeze(cleaned[key]) for key in sorted(cleaned)}

    @cached_property
    def json(self) -> str:
        """The object as compact JSON, with sorted keys and without spaces or ASCII escapes."""
        return compact_json(thaw(self))

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMapping):
            return self.json == other.json
        if isinstance(other, Mapping):
            return bool(thaw(self) == thaw(other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:
        return f"FrozenMapping({thaw(self)!r})"


NO_FIELDS: Final = FrozenMapping({})
_FROZEN: Final = (int, float, FrozenMapping)


def freeze(value: object) -> object:
    """Return an immutable copy of a JSON value, without lone surrogates.

    Raises:
        TypeError: when the value has a type that JSON does not support.
    """
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None or isinstance(value, _FROZEN):
        return value
    if isinstance(value, Mapping):
        return FrozenMapping(value)
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    raise TypeError(f"JSON cannot hold a value of type {type(value).__name__}.")


def thaw(value: object) -> object:
    """Convert a JSON value to new dictionaries and lists that can be modified."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def thaw_mapping(value: Mapping[str, object]) -> dict[str, object]:
    """Convert a JSON object to a new dictionary that can be modified."""
    return {key: thaw(item) for key, item in value.items()}


def compact_json(value: object) -> str:
    """Encode a value as JSON without extra spaces or ASCII escapes. The key order is kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def show_json(value: object) -> str:
    """Return text unchanged, and any other JSON value as compact JSON, to show it to a person."""
    return value if isinstance(value, str) else compact_json(thaw(value))


Role = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[str, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A message part with plain text."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", replace_surrogates(self.text))

    def to_dict(self) -> dict[str, object]:
        """Return the message part as a dict that can be written as JSON."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A model's reasoning before its answer.

    Attributes:
        signature: the provider's signature of the text, or an empty string for most providers. Text
            and signature must be sent back to the provider unchanged. If the text is empty, the
            signature is the encrypted reasoning.
    """

    text: str
    signature: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", replace_surrogates(self.text))
        object.__setattr__(self, "signature", replace_surrogates(self.signature))

    def to_dict(self) -> dict[str, object]:
        """Return the message part as a dict that can be written as JSON."""
        signed = {"signature": self.signature} if self.signature else {}
        return {"type": "reasoning", "text": self.text, **signed}


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A message part with a base64 image."""

    media_type: str
    data: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "media_type", replace_surrogates(self.media_type))
        object.__setattr__(self, "data", replace_surrogates(self.data))

    def to_dict(self) -> dict[str, object]:
        """Return the message part as a dict that can be written as JSON."""
        return {"type": "image", "media_type": self.media_type, "data": self.data}


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A model's request to run a tool."""

    id: str
    name: str
    arguments: Mapping[str, object]

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", replace_surrogates(self.id))
        object.__setattr__(self, "name", replace_surrogates(self.name))
        object.__setattr__(self, "arguments", _freeze_object(self.arguments, "arguments"))

    def to_dict(self) -> dict[str, object]:
        """Return the message part as a dict that can be written as JSON."""
        arguments = thaw_mapping(self.arguments)
        return {"type": "tool_call", "id": self.id, "name": self.name, "arguments": arguments}

    @property
    def arguments_json(self) -> str:
        """The arguments as compact JSON with sorted keys."""
        return cast(FrozenMapping, self.arguments).json


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of a tool call."""

    tool_call_id: str
    content: str
    is_error: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_call_id", replace_surrogates(self.tool_call_id))
        object.__setattr__(self, "content", replace_surrogates(self.content))

    def to_dict(self) -> dict[str, object]:
        """Return the message part as a dict that can be written as JSON."""
        return {
            "type": "tool_result",
            "tool_call_id": self.tool_call_id,
            "content": self.content,
            "is_error": self.is_error,
        }


Part = TextPart | ReasoningPart | ImagePart | ToolCallPart | ToolResultPart


@dataclass(frozen=True)
class Message:
    """One message of a conversation. It is deeply immutable and contains no lone surrogates.

    Attributes:
        content: plain text or typed parts.
        id: the id of the message's log entry, or None.
    """

    role: Role
    content: str | tuple[Part, ...]
    id: str | None = None

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise MalformedMessage(f"A message's role is one of {', '.join(ROLES)}.")
        if isinstance(self.content, str):
            object.__setattr__(self, "content", replace_surrogates(self.content))
        else:
            object.__setattr__(self, "content", tuple(self.content))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build a message from its JSON object. Unknown keys are ignored.

        Raises:
            MalformedMessage: when a required field is missing or has the wrong type.
        """
        role = _read_text(data, "role")
        content = data.get("content")
        message_id = data.get("id")
        if message_id is not None and not isinstance(message_id, str):
            raise MalformedMessage("A message's id is text.")
        if isinstance(content, str):
            return cls(cast(Role, role), content, message_id)
        if not isinstance(content, list | tuple):
            raise MalformedMessage("A message's content is text or a list of parts.")
        return cls(cast(Role, role), tuple(_read_part(item) for item in content), message_id)

    def to_dict(self) -> dict[str, object]:
        """Return the message as a JSON object. This is the inverse of `from_dict`."""
        content: object = self.content
        if not isinstance(self.content, str):
            content = [part.to_dict() for part in self.content]
        data: dict[str, object] = {"role": self.role, "content": content}
        return data if self.id is None else {**data, "id": self.id}

    @cached_property
    def token_counts(self) -> dict[Hashable, int]:
        """Cached token counts of the message, by token counter. See `context.tokens`."""
        return {}

    @cached_property
    def shorter(self) -> "dict[Hashable, Message]":
        """Cached shortened versions of the message, by token counter.

        See `context.history.boundaries`.
        """
        return {}

    def compute_once(self, form: Hashable, read: "Callable[[Message], T]") -> T:
        """Compute a value from the message, and cache it.

        Args:
            form: the cache key. Each `read` function needs its own key.
            read: computes the value.
        """
        if form not in self._derived:
            self._derived[form] = read(self)
        value: T = self._derived[form]
        return value

    @cached_property
    def _derived(self) -> dict[Hashable, Any]:
        return {}

    def encode_once(self, form: Hashable, encode: "Callable[[Message], str]") -> str:
        """Encode the message as text, and cache the result.

        The text of a message with images is not cached, because it is large.

        Args:
            form: a name for the encoding, used as the key of the cache.
            encode: returns the text of a message.
        """
        text = self._encoded.get(form)
        if text is None:
            text = encode(self)
            is_text = isinstance(self.content, str)
            if is_text or not any(isinstance(part, ImagePart) for part in self.content):
                self._encoded[form] = text
        return text

    @cached_property
    def _encoded(self) -> dict[Hashable, str]:
        return {}

    @cached_property
    def digest(self) -> bytes:
        """A hash of the message's role and content."""
        content = self.content if isinstance(self.content, str) else self.to_dict()["content"]
        text = compact_json([self.role, content])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    @cached_property
    def text(self) -> str:
        """The text of the message, joined from its text parts."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """The definition of a tool that a model can call. `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, object]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", replace_surrogates(self.name))
        object.__setattr__(self, "description", replace_surrogates(self.description))
        object.__setattr__(self, "parameters", _freeze_object(self.parameters, "parameters"))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build a tool definition from its JSON object. Unknown keys are ignored.

        Raises:
            MalformedMessage: when a field is missing or has the wrong type.
        """
        parameters = data.get("parameters", {})
        if not isinstance(parameters, Mapping):
            raise MalformedMessage("A tool's parameters are a JSON object.")
        return cls(
            _read_text(data, "name"), _read_text(data, "description", default=""), parameters
        )

    def to_dict(self) -> dict[str, object]:
        """Return the definition as a JSON object. This is the inverse of `from_dict`."""
        parameters = thaw_mapping(self.parameters)
        return {"name": self.name, "description": self.description, "parameters": parameters}

    @property
    def parameters_json(self) -> str:
        """The parameter schema as compact JSON with sorted keys."""
        return cast(FrozenMapping, self.parameters).json


def _freeze_object(value: object, name: str) -> FrozenMapping:
    if isinstance(value, FrozenMapping):
        return value
    if not isinstance(value, Mapping):
        raise MalformedMessage(f"A tool's {name} are a JSON object.")
    try:
        return FrozenMapping(value)
    except TypeError as error:
        raise MalformedMessage(f"A tool's {name} are not JSON: {error}") from error


def _read_text(data: Mapping[str, object], key: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise MalformedMessage(f"{key!r} is missing or is not text.")
    return value


def _read_tool_call(data: Mapping[str, object]) -> ToolCallPart:
    arguments = data.get("arguments")
    if not isinstance(arguments, Mapping):
        raise MalformedMessage("A tool call's arguments are a JSON object.")
    return ToolCallPart(_read_text(data, "id"), _read_text(data, "name"), arguments)


def _read_tool_result(data: Mapping[str, object]) -> ToolResultPart:
    is_error = data.get("is_error", False)
    if not isinstance(is_error, bool):
        raise MalformedMessage("A tool result's is_error is true or false.")
    return ToolResultPart(_read_text(data, "tool_call_id"), _read_text(data, "content"), is_error)


_PART_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], Part]]] = {
    "text": lambda data: TextPart(_read_text(data, "text")),
    "reasoning": lambda data: ReasoningPart(
        _read_text(data, "text"), _read_text(data, "signature", default="")
    ),
    "image": lambda data: ImagePart(_read_text(data, "media_type"), _read_text(data, "data")),
    "tool_call": _read_tool_call,
    "tool_result": _read_tool_result,
}


def _read_part(data: object) -> Part:
    kind = data.get("type") if isinstance(data, Mapping) else None
    reader = _PART_READERS.get(kind) if isinstance(kind, str) else None
    if reader is None or not isinstance(data, Mapping):
        raise MalformedMessage(f"A part's type is one of {', '.join(_PART_READERS)}.")
    return reader(data)


def list_message_texts(message: Message) -> Iterator[str]:
    """Yield the texts of a message: prose, reasoning, arguments of calls, results."""
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if isinstance(part, TextPart | ReasoningPart):
            yield part.text
        elif isinstance(part, ToolCallPart):
            yield part.arguments_json
        elif isinstance(part, ToolResultPart):
            yield part.content


def list_tool_calls(message: Message) -> tuple[ToolCallPart, ...]:
    """Return the tool calls of a message."""
    if isinstance(message.content, str):
        return ()
    return tuple(part for part in message.content if isinstance(part, ToolCallPart))


def is_merged(before: str, after: str) -> bool:
    """Return whether neighbouring messages of these roles are sent as one message.

    Many services require alternating roles, so neighbours of one role are merged. Each tool result
    stays a message of its own, because it belongs to one call. Counting and sending both ask here.
    """
    return before == after != "tool"
