"""Convert log entries to and from JSON, using a table of entry types.

An `EntryType` lists the fields of one entry class. The `Kind` of a field converts its values. JSON
keys are field names in camel case.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from context.errors import MalformedEntry, MalformedMessage
from context.layers import Segment
from context.messages import NO_FIELDS, FrozenMapping, Message, thaw, thaw_mapping

_PLACE_KEYS: Final = frozenset({"type", "id", "parentId", "timestamp"})
_REQUIRED: Final = object()

Json = Mapping[str, object]
Place = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """Converts the value of one field to and from JSON.

    Attributes:
        read: reads the value from an entry's JSON, or raises `MalformedEntry`.
        write: converts the value to JSON, or None if the value is already JSON.
        keys: the JSON keys of a value that is spread over several keys, otherwise empty. For such a
            value, `write` returns an object with these keys.
        is_omitted: returns whether to omit the field, given the entry and the value. If None, the
            field is always written.
        default: the value if the key is missing. Without a default, `read` is called anyway.
    """

    read: Callable[[Json, str], Any]
    write: Callable[[Any], object] | None = None
    keys: tuple[str, ...] = ()
    is_omitted: Callable[[Any, Any], bool] | None = None
    default: object = _REQUIRED


class EntryType:
    """A row in the table of entry types: an entry class and its fields."""

    def __init__(
        self,
        made: type[Any],
        *,
        on_path: bool = False,
        constants: Json = NO_FIELDS,
        **kinds: Kind,
    ) -> None:
        """Describe an entry type.

        Args:
            made: the entry class. Its `type` is the type's name in JSON.
            on_path: whether entries of this type are part of the session's tree of messages.
            constants: JSON fields that have the same value in every entry of this type.
            kinds: the converter of each field, in the order of the fields in the class and in JSON.
        """
        self.name: str = made.type
        self.on_path = on_path
        self._made = made
        self._constants = dict(constants)
        self.fields = [(name, _to_camel_case(name), kind) for name, kind in kinds.items()]
        self._readers = [(key, kind.read, kind.default) for _, key, kind in self.fields]
        own = (kind.keys or (key,) for _, key, kind in self.fields)
        self._keys = _PLACE_KEYS.union(constants, *own)

    def read(self, data: Json) -> Any:
        """Build an entry from a JSON object. Unknown keys are kept in `extra`.

        Raises:
            MalformedEntry: when a required field is missing or has the wrong type.
        """
        place = read_place(data)
        try:
            values = [
                read(data, key) if key in data or default is _REQUIRED else default
                for key, read, default in self._readers
            ]
        except MalformedMessage as error:
            raise MalformedEntry(f"A {self.name} entry is not readable: {error}") from error
        if self._keys.issuperset(data):
            return self._made(*place, *values)
        extra = {key: value for key, value in data.items() if key not in self._keys}
        return self._made(*place, *values, extra=FrozenMapping(extra))

    def write(self, entry: object, place: Json, extra: Json) -> dict[str, object]:
        """Return an entry as a JSON object.

        Args:
            place: its type, id, parent id and timestamp as JSON.
            extra: its JSON keys that the entry type does not define.
        """
        data = {**place, **thaw_mapping(extra)}
        data |= self._constants
        for name, key, kind in self.fields:
            value = getattr(entry, name)
            if kind.is_omitted is not None and kind.is_omitted(entry, value):
                continue
            written: Any = value if kind.write is None else kind.write(value)
            if kind.keys:
                data |= written
            else:
                data[key] = written
        return data


def read_place(data: Json) -> Place:
    """Read the id, parent id and timestamp from an entry's JSON.

    Raises:
        MalformedEntry: when the id is missing, or a value has the wrong type.
    """
    name, parent, time = data.get("id"), data.get("parentId"), data.get("timestamp", "")
    if not isinstance(name, str):
        raise _unfit("id", "text")
    if not (parent is None or isinstance(parent, str)):
        raise _unfit("parentId", "text")
    if not isinstance(time, str):
        raise _unfit("timestamp", "text")
    return name, parent, time


def read_text(data: Json, key: str, default: str | None = None) -> str:
    """Return the string at a key, or `default` if the key is missing.

    Raises:
        MalformedEntry: when the value is not a string, or the key is missing and has no default.
    """
    value = data.get(key, default)
    if not isinstance(value, str):
        raise _unfit(key, "text")
    return value


def read_text_or_none(data: Json, key: str) -> str | None:
    """Return the string at a key, or None if the key is missing.

    Raises:
        MalformedEntry: when the value is not a string.
    """
    value = data.get(key)
    if not (value is None or isinstance(value, str)):
        raise _unfit(key, "text")
    return value


def read_integer(data: Json, key: str, default: int | None = None) -> int:
    """Return the integer at a key, or `default` if the key is missing.

    Raises:
        MalformedEntry: when the value is not an integer, or the key is missing and has no default.
    """
    value = data.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unfit(key, "a whole number")
    return value


def optional(kind: Kind, default: object = None) -> Kind:
    """Return a field kind that also accepts a missing value.

    Args:
        kind: the kind of other values.
        default: the value of a missing field. This value is never written.
    """

    def read(data: Json, key: str) -> object:
        return default if data.get(key) is None else kind.read(data, key)

    def is_omitted(_: object, value: object) -> bool:
        return value == default

    return replace(kind, read=read, is_omitted=is_omitted, default=default)


def _read_number(data: Json, key: str) -> float:
    value = data.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _unfit(key, "a number")
    return float(value)


def _read_flag(data: Json, key: str) -> bool:
    value = data.get(key)
    if not isinstance(value, bool):
        raise _unfit(key, "true or false")
    return value


def _read_object(data: Json, key: str) -> FrozenMapping:
    value = data.get(key)
    if not isinstance(value, Mapping):
        raise _unfit(key, "a JSON object")
    return FrozenMapping(value)


def _read_objects(data: Json, key: str) -> tuple[Json, ...]:
    value = data.get(key)
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise _unfit(key, "a list of JSON objects")
    return tuple(value)


def _read_texts(data: Json, key: str) -> tuple[str, ...]:
    value = data.get(key)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise _unfit(key, "a list of texts")
    return tuple(value)


def _read_each(read: Callable[[Json], object], data: Json, key: str) -> tuple[object, ...]:
    return tuple(read(item) for item in _read_objects(data, key))


def _write_each(values: tuple[Any, ...]) -> list[object]:
    return [value.to_dict() for value in values]


def _write_message(message: Message) -> dict[str, object]:
    data = message.to_dict()
    return {"role": data["role"], "content": data["content"]}


def _read_content(data: Json, key: str) -> Message:
    return Message.from_dict({"role": "user", "content": data.get(key)})


def _unfit(key: str, wanted: str) -> MalformedEntry:
    return MalformedEntry(f"An entry's {key!r} is missing or is not {wanted}.")


def _to_camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


TEXT: Final = Kind(read_text)
TEXT_OR_EMPTY: Final = Kind(read_text, default="")
TEXT_OR_NONE: Final = Kind(read_text_or_none, default=None)
INTEGER: Final = Kind(read_integer)
NUMBER: Final = Kind(_read_number)
FLAG: Final = Kind(_read_flag)
JSON: Final = Kind(lambda data, key: data.get(key), thaw)
OBJECT: Final = Kind(_read_object, thaw_mapping)
OBJECT_OR_NONE: Final = Kind(optional(OBJECT).read, thaw, default=None)
OBJECTS: Final = Kind(_read_objects, lambda values: [thaw_mapping(value) for value in values])
TEXTS: Final = Kind(_read_texts, list)
SEGMENTS: Final = Kind(partial(_read_each, Segment.from_dict), _write_each)
MESSAGES: Final = Kind(partial(_read_each, Message.from_dict), _write_each)
# A message is written under its own keys; the role of a user message is omitted.
MESSAGE: Final = Kind(lambda data, _: Message.from_dict(data), _write_message, ("role", "content"))
USER_MESSAGE: Final = Kind(
    lambda data, _: _read_content(data, "content"),
    lambda message: {"content": message.to_dict()["content"]},
    ("content",),
)
