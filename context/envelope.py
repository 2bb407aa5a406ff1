"""The envelope: a complete request before it is rendered. Hooks read and change envelopes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

from context.errors import MalformedEnvelope
from context.layers import replace_surrogates
from context.messages import FrozenMapping, Message, ToolDefinition, thaw_mapping

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SystemPart:
    """A part of the system message, with a name. It contains no lone surrogates."""

    name: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", replace_surrogates(self.name))
        object.__setattr__(self, "text", replace_surrogates(self.text))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build a system part from its JSON object.

        Raises:
            MalformedEnvelope: when the name or the text is missing or is not text.
        """
        name, text = data.get("name"), data.get("text")
        if not isinstance(name, str) or not isinstance(text, str):
            raise MalformedEnvelope("A system part has a name and a text.")
        return cls(name, text)

    def to_dict(self) -> dict[str, object]:
        """Return the system part as a JSON object."""
        return {"name": self.name, "text": self.text}


@dataclass(frozen=True, slots=True)
class System:
    """The system message, as a sequence of parts."""

    parts: tuple[SystemPart, ...] = ()

    @property
    def compiled(self) -> str:
        """The texts of all parts, joined without separators."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of a request.

    Attributes:
        cached: all messages of the active path. The current user message is included, but not the
            context sent with it.
        uncached: messages that are sent last and are not stored.
    """

    cached: tuple[Message, ...] = ()
    uncached: tuple[Message, ...] = ()


class CancelPort(Protocol):
    """The interface of a cancel token: it says whether the user has cancelled an operation."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the operation has been cancelled."""

    def raise_if_cancelled(self) -> None:
        """Raise an exception if the operation has been cancelled."""


@dataclass(frozen=True, slots=True)
class RequestMeta:
    """Read-only information about a request for hooks. It is not part of the envelope's JSON.

    Attributes:
        model: the name of the model.
        budget: the token budget of the request.
        turn: the id of the turn.
        request: the number of the request within the turn, counted from 1.
        cancel: the cancel token for long hooks, or None if the request cannot be cancelled.
    """

    model: str = ""
    budget: int = 0
    turn: str = ""
    request: int = 1
    cancel: CancelPort | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ContextEnvelope:
    """A complete request before it is rendered: system parts, tools, messages and options."""

    system: System = System()
    tools: tuple[ToolDefinition, ...] = ()
    messages: Messages = Messages()
    options: Mapping[str, object] = field(default_factory=lambda: FrozenMapping({}))
    meta: RequestMeta = RequestMeta()

    def __post_init__(self) -> None:
        if not isinstance(self.options, FrozenMapping):
            object.__setattr__(self, "options", FrozenMapping(self.options))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Build an envelope from its JSON object.

        The joined text of the system parts (`compiled`) is not read, but computed from the parts.

        Raises:
            MalformedEnvelope: when a field has the wrong type or a required one is missing.
            MalformedMessage: when a message or a tool definition is malformed.
        """
        system, messages = _object(data, "system"), _object(data, "messages")
        return cls(
            system=System(_each(system, "parts", SystemPart.from_dict)),
            tools=_each(data, "tools", ToolDefinition.from_dict),
            messages=Messages(
                _each(messages, "cached", Message.from_dict),
                _each(messages, "uncached", Message.from_dict),
            ),
            options=FrozenMapping(_object(data, "options")),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the envelope as a new JSON object. This is the inverse of `from_dict`."""
        parts = [part.to_dict() for part in self.system.parts]
        return {
            "system": {"parts": parts, "compiled": self.system.compiled},
            "tools": [tool.to_dict() for tool in self.tools],
            "messages": {
                "cached": _dicts(self.messages.cached),
                "uncached": _dicts(self.messages.uncached),
            },
            "options": thaw_mapping(self.options),
        }


class EncodedJson(Mapping[str, Any]):
    """A JSON object that is stored as text, and decoded when it is first read."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _items(self) -> Mapping[str, Any]:
        items: Mapping[str, Any] = json.loads(self.text)
        return items

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"EncodedJson({self.text!r})"


def _dicts(messages: Iterable[Message]) -> list[dict[str, object]]:
    return [message.to_dict() for message in messages]


def _object(data: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = data.get(key, {})
    if not isinstance(value, Mapping):
        raise MalformedEnvelope(f"An envelope's {key!r} is a JSON object.")
    return value


def _each(
    data: Mapping[str, object], key: str, read: Callable[[Mapping[str, object]], Item]
) -> tuple[Item, ...]:
    value = data.get(key, ())
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise MalformedEnvelope(f"An envelope's {key!r} is a list of JSON objects.")
    return tuple(read(item) for item in value)
